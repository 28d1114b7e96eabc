import { postgres } from "../../docs/examples/postgres.ts";
import { definePipeline } from "../../src/define-pipeline.ts";
import { listing } from "../../src/extract/stages.ts";
import { duckdb } from "../../src/load/stages.ts";
import { contentTables } from "../../src/transform/stages.ts";

/** A loader after PostgreSQL's cannot stage the run. */
export default definePipeline({
  name: "failing",
  extract: [listing("dynamic")],
  transform: [contentTables({ only: ["content", "content_tags"] })],
  load: [
    duckdb(),
    postgres(),
    {
      name: "broken",
      async stage() {
        throw new Error("there is no room left");
      },
    },
  ],
});
