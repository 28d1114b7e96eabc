/** The report of a run, from its tables alone: the same run gives the same bytes. */
import { readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { together } from "../../storage/parallel.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { type ConnectedRun, missingTables, openTables } from "../open-run.ts";
import { coverageOf } from "../questions/coverage.ts";
import { readAccount } from "./account.ts";
import { readChanges } from "./changes.ts";
import { pageOf } from "./document.ts";
import { ITEM_LIMITS, type ItemLimits, readItems } from "./items.ts";

/** Name of the report in the folder of a run. */
export const REPORT_FILE = "report.html";

/** The page, as HTML. Its two long parts are read beside each other: each makes tables on a connection of its own. */
export async function reportOf(run: ConnectedRun, limits: ItemLimits = ITEM_LIMITS): Promise<string> {
  const { connection, manifest } = run;
  const account = await readAccount(connection);
  const changes = await readChanges(connection, manifest.rows);
  const beside = { connection: await run.connect(), manifest };
  const [coverage, items] = await together(coverageOf(run, {}), readItems(beside, limits));
  return pageOf({ account, coverage, changes, items });
}

/** Of the database, while a run makes its report, for two statements at a time: as much as the load before it takes. */
const MEMORY_LIMIT_MB = 200;

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
export async function writeReport(request: ReportRequest): Promise<boolean> {
  const { result, rows, ...opening } = request;
  const file = join(result, REPORT_FILE);
  // A run that was killed may have left a part of one.
  await rm(file, { force: true });
  if (missingTables(rows).length > 0) return false;
  await using opened = await openTables({
    ...opening,
    tables: Object.keys(rows),
    directory: result,
    filesOf: (table) => filesIn(join(result, "parquet", table)),
    memoryLimitMb: MEMORY_LIMIT_MB,
  });
  const { connection } = opened;
  const page = await reportOf({ connection, connect: () => opened.connect(), manifest: { rows } });
  try {
    await writeFile(file, page, { mode: 0o600 });
  } catch (thrown) {
    // All that is in the folder is published, so an incomplete page must not stay.
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
