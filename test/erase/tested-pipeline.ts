import { test } from "../../src/audit/stages.ts";
import { definePipeline } from "../../src/define-pipeline.ts";
import { listing } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import { contentTables } from "../../src/transform/stages.ts";

/** Tests that show people, as they are and as nobody would look for them. */
export default definePipeline({
  name: "tested",
  extract: [listing("dynamic"), listing("full")],
  transform: [contentTables({ only: ["content", "users"] })],
  load: [duckdb(), parquet()],
  audit: [
    test({ name: "people", sql: "FROM users", severity: "warning" }),
    test({ name: "mirrored", sql: "SELECT reverse(name) AS eman FROM users", severity: "warning" }),
    test({
      name: "gone",
      sql: "SELECT name, email FROM previous.users EXCEPT SELECT name, email FROM users",
      severity: "warning",
    }),
  ],
});
