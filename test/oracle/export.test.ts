import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { createService } from "../../src/service/service.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";
import { generateContentSet } from "../generator/generate.ts";
import { temporaryFolder } from "../load/fixtures.ts";
import { long, many } from "../long.ts";
import { differences } from "./compare.ts";
import { readFolder } from "./content-set.ts";
import type { ExportOptions } from "./rows.ts";
import { Warehouse } from "./warehouse.ts";

/** Exports a content set as a user who sets little does, and opens what was published until the test ends. */
async function exported(t: TestContext, data: string, options: ExportOptions): Promise<Warehouse> {
  const folder = await temporaryFolder(t);
  const service = await createService({ data });
  t.after(() => service.close());
  const { destinations, personalData, token } = options;
  const config = join(folder, "config.json");
  await writeFile(config, JSON.stringify({ destinations, personalData }));
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: token };
  const summary = await runPipeline({ pipeline: "nightly", warehouse: folder, cwd: folder, env, config });
  assert.equal(summary.verdict, "complete", summary.reasons.join("; "));
  const warehouse = await Warehouse.open(join(summary.directory, "warehouse.duckdb"));
  t.after(() => warehouse[Symbol.asyncDispose]());
  assert.deepEqual(await warehouse.dataTables(), DATA_TABLES.map(({ name }) => name).sort());
  return warehouse;
}

/** Holds every data table against what a second, simpler program makes of the content set. */
async function assertRows(warehouse: Warehouse, folder: string, options: ExportOptions): Promise<void> {
  const found = await differences(warehouse, folder, options);
  assert.equal(found.length, 0, `\n${found.join("\n")}`);
}

/** The destinations of a set but its last, so that a mapping names one that is not looked up. */
function destinationsOf(folder: string): ExportOptions["destinations"] {
  const { destinations } = readFolder(folder);
  return destinations
    .slice(0, -1)
    .map(({ identification, platform }) => ({ name: identification, platform }));
}

const ITEMS = many(120, 5_000);

test(`the export of ${ITEMS.toLocaleString("en-US")} generated items has the rows that a second program works out of the content set`, async (t) => {
  const folder = join(await temporaryFolder(t), "set");
  await generateContentSet({ items: ITEMS, seed: 7, out: folder });
  const destinations = destinationsOf(folder);
  const options = { token: "sample-token", destinations, customFields: [], personalData: "keep" } as const;
  await assertRows(await exported(t, folder, options), folder, options);
});

long(
  "the sample's export has its rows too, without personal data, for a user who may do and see little",
  async (t) => {
    const folder = packagePath("data/sample");
    const destinations = destinationsOf(folder);
    const options = {
      token: "sample-viewer-token",
      destinations,
      customFields: [],
      personalData: "drop",
    } as const;
    await assertRows(await exported(t, folder, options), folder, options);
  },
);
