import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { historySql } from "../../src/load/load-sql.ts";
import { all, execute } from "../../src/storage/duckdb.ts";
import { temporaryFolder } from "../run/running.ts";

const ITEMS = 5000;
const NAMES = 20;

test("payloads of an instant with many names each are made in little memory, in the order of names and places", async (t) => {
  const instance = await DuckDBInstance.create(":memory:", {
    memory_limit: "200MB",
    threads: "2",
    temp_directory: join(await temporaryFolder(t), "spilled"),
  });
  const connection = await instance.connect();
  // Two fields for each name, shuffled, so that the order is the macro's.
  await execute(
    connection,
    `CREATE TABLE run_history AS
       SELECT 1 AS sequence, TIMESTAMPTZ '2026-01-01 00:00:00+00' AS started_at, true AS passthrough;
     CREATE TABLE mapped_value_intervals AS
       SELECT 'i' || item AS content_id, 'd' AS destination_id, true AS receives,
         'n' || lpad((field // 2)::VARCHAR, 2, '0') AS external_field_name, 'f' || lpad(field::VARCHAR, 2, '0') AS custom_field_id,
         1 AS ordinal, 'mapped' AS status, 'v' || field AS external_value, NULL::VARCHAR AS value,
         1 AS valid_from_sequence, NULL::INTEGER AS valid_to_sequence
       FROM range(${ITEMS}) items(item), range(${2 * NAMES}) fields(field) ORDER BY hash(item, field);
     ${historySql("macro_payloads_as_of")}`,
  );
  const rows = await all(
    connection,
    "SELECT payload::VARCHAR AS payload, count(DISTINCT content_id) AS items FROM payloads_as_of('2026-02-01') GROUP BY ALL",
  );
  const members = Array.from({ length: NAMES }, (_, name) => {
    const places = [`v${2 * name}`, `v${2 * name + 1}`];
    return [`n${String(name).padStart(2, "0")}`, places];
  });
  assert.deepEqual(
    rows.map(({ payload, items }) => [payload, Number(items)]),
    [[JSON.stringify(Object.fromEntries(members)), ITEMS]],
  );
});
