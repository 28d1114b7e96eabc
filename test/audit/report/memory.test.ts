import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { loadSql } from "../../../src/audit/load-sql.ts";
import { all, execute } from "../../../src/storage/duckdb.ts";
import { temporaryFolder } from "../../run/running.ts";

const ITEMS = 5000;
const VALUES = 30;

test("as many items as a page holds, each with many values, are read in little memory, in the order of the payload", async (t) => {
  const instance = await DuckDBInstance.create(":memory:", {
    memory_limit: "120MB",
    threads: "2",
    temp_directory: join(await temporaryFolder(t), "spilled"),
  });
  const connection = await instance.connect();
  // Shuffled, so that the order is the query's; a tenth of the values have no external name, and come last.
  await execute(
    connection,
    `CREATE TABLE report_ledger AS
       SELECT place, '' AS destination_id, 'f' || lpad(value::VARCHAR, 2, '0') AS custom_field_id, 1 AS ordinal,
         CASE WHEN value % 10 > 0 THEN 'n' || lpad((${VALUES} - value)::VARCHAR, 2, '0') END AS external_field_name,
         value AS answer, place % 3 AS version
       FROM range(1, ${ITEMS + 1}) items(place), range(${VALUES}) chosen(value)
       ORDER BY hash(place, value);
     CREATE TABLE report_chosen AS
       SELECT place, 'i' || place AS content_id, 0 AS without_external_value, 0 AS flagged FROM range(1, ${ITEMS + 1}) items(place);
     CREATE TABLE content AS
       SELECT content_id, NULL::VARCHAR AS title, NULL::VARCHAR AS content_type_id, NULL::TIMESTAMPTZ AS published_date
       FROM report_chosen;
     CREATE TABLE report_changed AS
       SELECT 'i' || place AS content_id, 'changed' AS change FROM range(1, ${ITEMS + 1}, 2) items(place);
     CREATE TABLE content_types (content_type_id VARCHAR, display_name VARCHAR, field_name VARCHAR)`,
  );
  const rows = await all(connection, loadSql("report_item_rows"), [100]);
  const values = Array.from({ length: VALUES }, (_, value) => value);
  const named = values.filter((value) => value % 10 > 0).toReversed();
  const expected = [...named, ...values.filter((value) => value % 10 === 0)].join(",");
  assert.deepEqual(new Set(rows.map((row) => row.answers)), new Set([expected]));
  assert.deepEqual(
    rows.map((row) => row.content_id),
    Array.from({ length: ITEMS }, (_, item) => `i${item + 1}`),
  );
});
