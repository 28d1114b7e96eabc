import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openRun } from "../../../src/audit/open-run.ts";
import { readReportItems } from "../../../src/audit/questions/items.ts";
import { execute } from "../../../src/storage/duckdb.ts";
import { outputFolder } from "../../../src/warehouse/layout.ts";
import { sampleWarehouse } from "../sample.ts";
import { packedItems } from "./page-data.ts";

test("as many items as a page holds are read in little memory, in the order of the payload", async () => {
  const out = await sampleWarehouse();
  await using run = await openRun({
    folder: outputFolder(out),
    wanted: "current",
    temporaryDirectory: join(out, "..", "spilled"),
    limits: { memoryLimitMb: 120, threads: 2 },
  });
  const { connection } = run;
  // Ten copies of the sample, each under IDs of its own.
  for (const table of ["content", "content_mapped_values"])
    await execute(
      connection,
      `CREATE OR REPLACE TEMP TABLE ${table} AS
         SELECT * REPLACE (content_id || '-' || copy AS content_id)
         FROM (FROM ${table}), range(10) copies(copy) ORDER BY hash(content_id, copy)`,
    );
  const { shown, packed } = await readReportItems(connection, false);
  assert.equal(shown, 3000);
  const names: [string, string][] = packedItems(packed).flatMap(({ values }) =>
    values.slice(1).flatMap((value, place) => {
      const before = values[place];
      const isNext = before?.destination_id === value.destination_id;
      return isNext ? [[before?.external_field_name ?? "~", value.external_field_name ?? "~"]] : [];
    }),
  );
  assert.ok(names.length > 3000);
  for (const [before, after] of names)
    assert.ok(Buffer.compare(Buffer.from(before), Buffer.from(after)) <= 0);
});
