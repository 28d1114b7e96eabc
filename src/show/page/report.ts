/** Makes the report of a run: one HTML page with the answers of several commands. The same runs give the same bytes. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { type RunCheck, readChecks } from "../../audit/checks/checks.ts";
import { contentDiffForReport } from "../../audit/diff/content-diff-answer.ts";
import type { RunPair } from "../../audit/diff/run-pair.ts";
import { diffForReport } from "../../audit/diff/value-diff-answer.ts";
import { mappedCounts } from "../../audit/mapping/value-counts.ts";
import { listFiles, missingTables, type OpenedRun, openViews, runTables } from "../../audit/open-run.ts";
import { type Coverage, coverageSections, readCoverage } from "../../audit/questions/coverage.ts";
import { type DriftReport, driftOf, driftSections, PERSONAL_SECTION } from "../../audit/questions/drift.ts";
import { type ReportLimits, readReportItems } from "../../audit/questions/items.ts";
import {
  isHistoryIn,
  type RunRow,
  readRunHistory,
  readRunRow,
  readRunShares,
} from "../../audit/questions/run-history.ts";
import { checksSection, readRejectsSection } from "../../audit/questions/run-sections.ts";
import { comparisonText, type EarlierRuns, earlierRunsSection } from "../../audit/questions/runs.ts";
import { col, type Section } from "../../common/answer.ts";
import { asWarehouseError } from "../../common/errors.ts";
import { count, minuteOf, pluralize } from "../../common/figures.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { sameRun } from "../../warehouse/identity.ts";
import { nameOf } from "../../warehouse/layout.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { causesPicture, coveragePicture, missesPicture, runsPicture } from "./answer-pictures.ts";
import { overviewOf, whyNothingMapped } from "./overview.ts";
import { foreign, html, type Markup, type PagePart, pageMarkup, ROWS_LIMIT } from "./page.ts";

const REPORT_FILE = "report.html";

/** A run with open tables. If `earlier` has a run before, its tables are open too, with the prefix `before_`. */
interface ReportRun extends Pick<OpenedRun, "connection" | "connect"> {
  readonly manifest: Pick<Manifest, "rows" | "emptyColumns" | "changes" | "mappedChanges" | "asked">;
  readonly earlier: EarlierRuns;
}

/** Returns the page as HTML. Its two long parts are read at the same time, each on a connection of its own. */
export async function reportOf(run: ReportRun, limits?: ReportLimits): Promise<string> {
  const { connection, manifest, earlier } = run;
  const row = await readRunRow(connection);
  const checks = await readChecks(connection);
  const checksBefore = earlier.before && (await readChecks(connection, "before_run_checks"));
  // The page outlives the run before, from which a person may be erased, so it shows no value of that run.
  const before = earlier.before?.manifest;
  const drift = await driftOf({ connection, now: manifest, before, showsBefore: false });
  const other = await run.connect();
  const readItems = async () => {
    const changes = await readChanges(other, row, run);
    return { changes, items: await readReportItems(other, isHistoryIn(manifest), limits) };
  };
  const readings = [readCoverage(connection, {}), readItems()] as const;
  // If one fails, the other must end too before its connection is closed.
  await Promise.allSettled(readings);
  const [coverage, { changes, items }] = await Promise.all(readings);
  const shares = isHistoryIn(manifest) ? await readRunShares(connection) : [];
  const { sequence, verdict, packageVersion, startedAt } = row;
  const instance = await instanceName(connection, row, Object.keys(manifest.rows));
  return pageMarkup({
    name: `${instance}, run ${sequence}: ${verdict} · content-warehouse`,
    generator: `content-warehouse ${packageVersion}`,
    heading: foreign(instance),
    // The script of the page adds how long ago the run was.
    subtitle: html`Run ${sequence}, <time datetime="${startedAt.toISOString()}">${minuteOf(startedAt)} UTC</time><span id="age"></span>`,
    overview: overviewOf({
      run: row,
      checks,
      checksBefore,
      coverage,
      drift,
      changes: manifest,
      valueChanges: changes.values,
      earlier,
      shares,
    }),
    parts: [
      coveragePart(coverage, sequence),
      changes.part,
      driftPart(drift, earlier, sequence),
      await readRunPart(connection, row, checks),
      {
        id: "runs",
        name: "Runs",
        command: "runs",
        picture: pictureOf(
          "Over the runs",
          runsPicture(shares, mappedCounts(coverage.destinations).destinations),
        ),
        sections: [earlierRunsSection(earlier)],
      },
      itemsPart(items),
    ],
    hasItems: items.shown > 0,
    items: items.packed,
    foot: foot(row),
  });
}

function pictureOf(title: string, markup: Markup | undefined) {
  return markup && { title, markup };
}

/** `instance_url` of a run of the sample. */
const SAMPLE_URL = "sample";

/** Name of the instance if all rows of `instances` agree, otherwise the host of the service. */
async function instanceName(
  connection: DuckDBConnection,
  { instanceUrl }: Pick<RunRow, "instanceUrl">,
  tables: Iterable<string>,
): Promise<string> {
  const names = new Set(tables).has("instances")
    ? await readRows(connection, { name: col.text() }, "SELECT DISTINCT name FROM instances WHERE name <> ''")
    : [];
  const [only, ...others] = names;
  if (only?.name != null && others.length === 0) return only.name;
  return instanceUrl === SAMPLE_URL ? "The sample" : new URL(instanceUrl).host;
}

function foot(row: RunRow): Markup {
  const { run, instanceUrl, pipeline, packageVersion, duckdbVersion, nodeVersion, personalData } = row;
  const service = instanceUrl === SAMPLE_URL ? "the sample" : foreign(instanceUrl);
  return html`Run <code>${run}</code> of ${service}, read by the pipeline ${foreign(pipeline)}. Made by content-warehouse ${packageVersion} from the tables of the run, and those of the kept runs before it (DuckDB ${duckdbVersion}, Node ${nodeVersion}). Personal data: ${personalData}; the report shows no personal columns. Times are UTC.`;
}

function coveragePart(coverage: Coverage, sequence: number): PagePart {
  const nothing = whyNothingMapped(coverage);
  const picture = coveragePicture(coverage);
  return {
    id: "coverage",
    name: "Coverage",
    command: `audit ${sequence}`,
    lead: nothing === undefined ? "" : `There is no value to look at: ${nothing}.`,
    picture: pictureOf("By destination and field", picture && html`${picture}${missesPicture(coverage)}`),
    sections: coverageSections(coverage),
  };
}

const WITHOUT_HISTORY =
  'The pipeline of this run has no history, so this page cannot show changes of mapped values; "content-warehouse diff" compares two kept runs.';
const FIRST_IN_HISTORY =
  "The history begins with this run; from the next run on, this section shows what changed and why.";

/**
 * What changed since the run before; `values` is undefined if nothing can be compared. Values of the run before come from
 * the history of this run only: the run before may show a person who was erased since.
 */
async function readChanges(connection: DuckDBConnection, run: RunRow, { manifest, earlier }: ReportRun) {
  const content = await contentSections(connection, run, manifest, earlier);
  const hasHistory = isHistoryIn(manifest);
  const pair = hasHistory ? await historyPair(connection, run) : undefined;
  const diff = pair && (await diffForReport(connection, pair, run.run));
  const before = pair?.before ?? earlier.before;
  const part: PagePart = {
    id: "changes",
    name: "Changes",
    command: before === undefined ? "diff" : `diff ${before.sequence} ${run.sequence}`,
    picture: pictureOf("By cause", diff && causesPicture(diff.totals.causes)),
    lead: diff?.lead ?? (hasHistory ? FIRST_IN_HISTORY : WITHOUT_HISTORY),
    sections: [...(diff?.sections ?? []), ...content],
  };
  return { part, values: diff };
}

/** The run and the one before it in the run's history; undefined if the history begins with the run. */
async function historyPair(connection: DuckDBConnection, run: RunRow): Promise<RunPair | undefined> {
  const known = await readRunHistory(connection);
  const after = known.find((each) => sameRun(each, run));
  const before = known.find(({ run }) => nameOf(run) === after?.previousRun);
  return after && before && { before, after };
}

/** Which columns of the content changed, without values. Empty in the first run. */
async function contentSections(
  connection: DuckDBConnection,
  run: RunRow,
  after: Pick<Manifest, "rows" | "asked">,
  earlier: EarlierRuns,
): Promise<Section[]> {
  const { before, previous } = earlier;
  if (before !== undefined) {
    const pair = { before: { ...before, verdict: before.manifest.verdict }, after: run };
    return contentDiffForReport(connection, { pair, before: before.manifest, after });
  }
  const none = comparisonText(earlier);
  return previous === null
    ? []
    : [{ key: "content", title: "Changes of content", none, columns: {}, rows: [] }];
}

/** Vanished fields can only be known beside a run before. */
function driftPart(drift: DriftReport, earlier: EarlierRuns, sequence: number): PagePart {
  const sections = driftSections(drift)
    .filter(({ key }) => earlier.before !== undefined || key !== "vanishedFields")
    .map((section) => {
      const name = section.key === "policy" ? PERSONAL_SECTION : "drift";
      return { ...section, all: `--section ${name} --format csv` };
    });
  const lead = `Where answers depart from the contract. ${comparisonText(earlier)}`;
  return { id: "drift", name: "Drift", command: `runs show ${sequence}`, lead, sections };
}

async function readRunPart(
  connection: DuckDBConnection,
  { sequence }: RunRow,
  checks: readonly RunCheck[],
): Promise<PagePart> {
  const rejects = await readRejectsSection(connection, ROWS_LIMIT);
  const next = rejects.rows.length === 0 ? [] : ["The next run requests the rejected items again."];
  const sections = [rejects, checksSection(checks, true)];
  return { id: "run", name: "Run", command: `runs show ${sequence}`, sections, next };
}

const NO_SCRIPT = html`<noscript><p class="note">The search of items needs the script of this page, which this browser does not run. All else is here, and <code>content-warehouse explain ITEM</code> answers for each item.</p></noscript>`;

/** The script of the page fills the table of items. */
function itemsPart({ total, shown }: Readonly<Record<"total" | "shown", number>>): PagePart {
  const rest = `The page has ${count(shown)} of ${pluralize(total, "item")}, those that need attention first; use \`content-warehouse explain ITEM\` for the other ${count(total - shown)}.`;
  return {
    id: "items",
    name: "Items",
    command: "explain",
    lead: total === 0 ? "The service listed no item." : shown < total ? rest : "",
    sections: [],
    ...(shown > 0 && {
      body: html`${NO_SCRIPT}
<p id="found" role="status" class="note" data-total="${total}"></p>
<div class="scroll" id="item-table" role="group" tabindex="0" aria-label="Items that were found" hidden><table>
<caption class="visually-hidden">Items</caption>
<thead><tr><th scope="col">title</th><th scope="col">type</th><th scope="col">published</th><th scope="col" class="number">values</th><th scope="col" class="number">missing</th></tr></thead>
<tbody id="item-rows"></tbody>
</table></div>
<p><button id="more" type="button" hidden>Show more</button></p>
<dialog id="item" aria-labelledby="item-title"></dialog>
`,
    }),
  };
}

/** Files of a table; none if the run is published as DuckDB only. */
const parquetFiles = (directory: string, table: string) => listFiles(join(directory, "parquet", table));

/**
 * Writes the report of a run that is about to be published, into `result`, the folder that becomes that of the run.
 * Returns its name; `null` if the run has no mapped values, and so no report. `database`: closed, with all tables of the run; if
 * undefined, their Parquet files are read. `temporaryDirectory`: where DuckDB spills blocks; it exists.
 */
export async function writeReport({
  result,
  database,
  temporaryDirectory,
  manifest,
  earlier,
}: Pick<ReportRun, "manifest" | "earlier"> & {
  readonly result: string;
  readonly database: string | undefined;
  readonly temporaryDirectory: string;
}): Promise<string | null> {
  const file = join(result, REPORT_FILE);
  // A killed run may have left a part of a report.
  await rm(file, { force: true });
  if (missingTables(manifest.rows).length > 0) return null;
  const own = {
    tables: Object.keys(manifest.rows),
    source: { directory: result, database, filesOf: (table: string) => parquetFiles(result, table) },
    temporaryDirectory,
    // As much as the load before it takes.
    memoryLimitMb: 200,
  };
  const { before } = earlier;
  const beside =
    before &&
    (await openViews({ ...own, beside: runTables(before) }).catch((thrown: unknown) => {
      // The page says that the run before cannot be read.
      if (asWarehouseError(thrown).code !== "verify.failed") throw thrown;
    }));
  await using tables = beside ?? (await openViews(own));
  const page = await reportOf({
    connection: tables.connection,
    connect: () => tables.connect(),
    manifest,
    earlier: beside === undefined ? { ...earlier, before: undefined } : earlier,
  });
  await writeFile(file, page, { mode: 0o600 }).catch(async (thrown: unknown) => {
    // All that is in the folder is published, so an incomplete page must not stay.
    await rm(file, { force: true });
    throw thrown;
  });
  return REPORT_FILE;
}
