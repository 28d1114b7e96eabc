/** The report of a run, from its tables and what the kept runs before it say: the same runs give the same bytes. */
import { readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { together } from "../../storage/parallel.ts";
import type { Fullness } from "../checks/mass-change.ts";
import { missingTables, type OpenedRun, openViews, viewed } from "../open-run.ts";
import { coverageOf } from "../questions/coverage.ts";
import { driftOf } from "../questions/drift.ts";
import { readAccount } from "./account.ts";
import { readChanges } from "./changes.ts";
import { pageOf } from "./document.ts";
import type { EarlierRuns } from "./earlier-runs.ts";
import { ITEM_LIMITS, type ItemLimits, readItems } from "./items.ts";

/** Name of the report in the folder of a run. */
export const REPORT_FILE = "report.html";

/** A run whose tables are open, and those of the run before beside them, where there is one to compare with. */
export interface ReportedRun extends Pick<OpenedRun, "connection" | "connect"> {
  readonly manifest: Fullness;
  /** Undefined: nothing may be told of other runs. */
  readonly earlier: EarlierRuns | undefined;
}

/** The page, as HTML. Its two long parts are read beside each other: each makes tables on a connection of its own. */
export async function reportOf(run: ReportedRun, limits: ItemLimits = ITEM_LIMITS): Promise<string> {
  const { connection, manifest, earlier } = run;
  const account = await readAccount(connection);
  const changes = await readChanges(connection, manifest.rows);
  const drift = await driftOf({ connection, now: manifest, before: earlier?.before?.manifest });
  const other = await run.connect();
  const [coverage, items] = await together(coverageOf(connection, {}), readItems(other, limits));
  return pageOf({ account, coverage, changes, items, drift, earlier });
}

/** Of the database, while a run makes its report, for two statements at a time: as much as the load before it takes. */
const MEMORY_LIMIT_MB = 200;

interface ReportRequest extends Fullness, Pick<ReportedRun, "earlier"> {
  /** Folder that becomes that of the run; gets the report. */
  readonly result: string;
  /** Closed database with all tables of the run; undefined: their Parquet files in the result are read. */
  readonly database: string | undefined;
  /** For spilled blocks; exists. */
  readonly temporaryDirectory: string;
}

/**
 * Writes the report of a run that is about to be published. A run whose pipeline leaves the mapped values out has
 * none: false.
 */
export async function writeReport(request: ReportRequest): Promise<boolean> {
  const { result, rows, emptyColumns, database, temporaryDirectory } = request;
  const file = join(result, REPORT_FILE);
  // A run that was killed may have left a part of one.
  await rm(file, { force: true });
  if (missingTables(rows).length > 0) return false;
  const parquet = (table: string) => {
    const folder = join(result, "parquet", table);
    const names = readdirSync(folder).sort();
    return names.map((name) => join(folder, name));
  };
  const own = {
    tables: Object.keys(rows),
    source: { directory: result, database, filesOf: parquet },
    temporaryDirectory,
    memoryLimitMb: MEMORY_LIMIT_MB,
  };
  const { before } = request.earlier ?? {};
  // A run before that cannot be opened leaves the report without a comparison, and the page says so.
  const both = before && (await openViews({ ...own, beside: viewed(before) }).catch(() => undefined));
  const earlier =
    both === undefined && request.earlier ? { ...request.earlier, before: undefined } : request.earlier;
  await using tables = both ?? (await openViews(own));
  const { connection } = tables;
  const manifest = { rows, emptyColumns };
  const page = await reportOf({ connection, connect: () => tables.connect(), manifest, earlier });
  try {
    await writeFile(file, page, { mode: 0o600 });
  } catch (thrown) {
    // All that is in the folder is published, so an incomplete page must not stay.
    await rm(file, { force: true });
    throw thrown;
  }
  return true;
}
