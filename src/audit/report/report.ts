/** The report of a run, from its tables alone: the same run gives the same bytes. */
import { readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../../run/manifest.ts";
import { coverageOf } from "../coverage.ts";
import { type AskedRun, missingTables, openTables } from "../open-run.ts";
import { readAccount } from "./account.ts";
import { readChanges } from "./changes.ts";
import { pageOf } from "./document.ts";
import { ITEM_LIMITS, type ItemLimits, readItems } from "./items.ts";

/** Name of the report in the folder of a run. */
export const REPORT_FILE = "report.html";

const EVERYTHING = {
  destinationIds: undefined,
  fieldIds: undefined,
  contentTypeIds: undefined,
  status: undefined,
  value: undefined,
};

/** The page, as HTML. */
export async function reportOf(run: AskedRun, limits: ItemLimits = ITEM_LIMITS): Promise<string> {
  const { connection, manifest } = run;
  return pageOf({
    account: await readAccount(connection),
    coverage: await coverageOf(run, EVERYTHING),
    changes: await readChanges(connection, manifest.rows),
    items: await readItems(run, limits),
  });
}

/** Of the database, while a run makes its report: not more than the load before it takes. */
const MEMORY_LIMIT_MB = 160;

export interface ReportRequest {
  /** Folder that becomes that of the run; gets the report. */
  readonly result: string;
  /** Closed database with all tables of the run; undefined: their Parquet files in the result are read. */
  readonly database: string | undefined;
  /** For spilled blocks; exists. */
  readonly temporaryDirectory: string;
  /** Rows by table, all tables. */
  readonly rows: Manifest["rows"];
}

/**
 * Writes the report of a run that is about to be published. A run whose pipeline leaves the mapped values out has
 * none: false.
 */
export async function writeReport({
  result,
  database,
  temporaryDirectory,
  rows,
}: ReportRequest): Promise<boolean> {
  const file = join(result, REPORT_FILE);
  // A run that was killed may have left a part of one.
  await rm(file, { force: true });
  if (missingTables(rows).length > 0) return false;
  await using opened = await openTables({
    tables: Object.keys(rows),
    database,
    directory: result,
    filesOf: (table) => filesIn(join(result, "parquet", table)),
    temporaryDirectory,
    memoryLimitMb: MEMORY_LIMIT_MB,
  });
  const page = await reportOf({ connection: opened.connection, manifest: { rows } });
  try {
    await writeFile(file, page, { mode: 0o600 });
  } catch (thrown) {
    // A part of the page is no page, and what lies in the folder is published.
    await rm(file, { force: true });
    throw thrown;
  }
  return true;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}
