/** From transformed documents to checked tables, with what the run states about itself. */
import { version as duckdbVersion } from "@duckdb/node-api";
import { type Accounting, accountingChecks, assertPassed, type Judged } from "../audit/checks/checks.ts";
import { inspect, type Loaded } from "../audit/checks/inspect.ts";
import { judgeDrift, judgeEchoes, judgeTables, rowCounts } from "../audit/checks/publish-gates.ts";
import { assertTestsHold } from "../audit/checks/test-results.ts";
import { runTests } from "../audit/checks/tests.ts";
import { type JudgedMatching, judgeMatching } from "../audit/checks/unmatched.ts";
import { endMs } from "../common/clock.ts";
import type { Verdict } from "../common/verdict.ts";
import { VERSION } from "../common/version.ts";
import { type BuildRequest, WarehouseBuild } from "../load/build-warehouse.ts";
import type { LoadedTable } from "../load/load-table.ts";
import { memoryLimitMb } from "../load/range-bounds.ts";
import { documentsQuery, requestsQuery } from "../load/run-documents.ts";
import type { RunRows } from "../load/stage-rows.ts";
import type { StagedTable } from "../load/staged-ranges.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import { publishes } from "../pipeline.ts";
import { type CountedDrift, Drift, type DriftEntry, withItems } from "../raw/drift.ts";
import type { ExtractRecord } from "../raw/extract-record.ts";
import type { RawLookups } from "../raw/raw-file.ts";
import type { Query } from "../storage/duckdb.ts";
import { type Table, underPolicy } from "../tables/declare.ts";
import { documents, rejects, requests } from "../tables/run.ts";
import { entityRows } from "../transform/definitions.ts";
import { assertSameInstance, instanceOf } from "../warehouse/baseline.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { BuiltStatement } from "../warehouse/manifest.ts";
import { accountingOf, contradictionReasons, judgeSingles, limitReasons } from "./accounting.ts";
import type { Building } from "./building.ts";
import { historyChecks, historyOf, historyWarnings } from "./previous-history.ts";
import { checkRows, driftRows, lineageRows, passRows, runRows, tableRows } from "./run-tables.ts";
import { comparisonOf } from "./source.ts";
import type { RawTransformed } from "./transform-raw.ts";

export interface TablesBuilt extends Pick<RunSummary, "accounting" | "noMappedValues"> {
  readonly tables: readonly LoadedTable[];
  readonly statement: BuiltStatement;
  readonly checks: Judged["checks"];
  readonly warnings: Judged["warnings"];
}

/** Builds and checks the tables. Throws what forbids to publish, such as `verify.failed` and `guard.shrink`. */
export async function buildTables(building: Building, transformed: RawTransformed): Promise<TablesBuilt> {
  const { before, folder, pipeline, landed } = building;
  const { facts } = landed;
  const { tables } = pipeline;
  const instance = { id: instanceIdOf(transformed), origin: facts.origin };
  const comparison = comparisonOf({ acceptNewAddress: facts.accepted.newAddress });
  assertSameInstance(instanceOf(before), instance, folder.root, comparison);
  const tally = new Drift();
  for (const entry of [...facts.drift, ...transformed.drift]) tally.add(entry);
  const lookups = landed.lookups();
  const conclusion = concludedFrom(facts, tally.sorted());
  const request = buildRequest(building, { transformed, lookups, drift: tally, ...conclusion });
  judgeDrift(facts, tally);
  await using build = await WarehouseBuild.open(request);
  const data = await build.loadData();
  const misfits = await build.fieldTypeDrift();
  for (const { items: _items, ...entry } of misfits) tally.add(entry);
  const counts = [...transformed.driftItems, ...misfits];
  const drift = withItems(tally.sorted(), counts, facts.drift);
  const isLimited = facts.limit !== null;
  const inspected = { tables, loaded: data, directory: request.finalDirectory, drift, isLimited };
  const loaded = await inspect(build, inspected);
  const found = { transformed, lookups, loaded, drift, ...conclusion };
  const { ignoredDestinations, ...judged } = judge(building, found);
  const stated = statedOf(building, conclusion);
  const all = [...loaded.tables];
  const findings = { ...judged, ignoredDestinations, loaded, drift };
  for (const made of runTables(building, stated, findings)) {
    if ("query" in made) all.push(await build.loadQuery(made.table, made.query));
    else all.push(await ("parts" in made ? build.loadParts(made) : build.loadRows(made)));
  }
  await build.createViews();
  const tested = await testsOf(building, build);
  const told = {
    checks: [...judged.checks, ...tested.checks],
    warnings: [...judged.warnings, ...tested.warnings],
  };
  all.push(await build.loadRows(checkRows(told.checks)));
  await build.close();
  assertTestsHold(tested);
  const statement = {
    ...stated,
    ...statementOf(building, judged.accounting),
    instance,
    rows: rowCounts(all),
    emptyColumns: loaded.emptyColumns,
    columns: loaded.columns,
  };
  return { ...judged, ...told, tables: all, statement };
}

/** What the run says of itself: in its statement, its tables and the history that it carries on. */
interface Conclusion {
  readonly verdict: Verdict;
  /** Why the run is not complete. */
  readonly reasons: readonly string[];
}

/** Documents may contradict each other in a run whose passes agreed. `drift`: of all items. */
function concludedFrom(facts: ExtractRecord, drift: readonly DriftEntry[]): Conclusion {
  const reasons = [...facts.disagreements, ...limitReasons(facts), ...contradictionReasons(drift, facts)];
  const isContradicted = facts.verdict === "complete" && reasons.length > 0;
  return { verdict: isContradicted ? "unsettled" : facts.verdict, reasons };
}

const NOT_ASKED =
  "The tests of the pipeline were not asked: the first items alone say little of all; a full run asks them.";

/** What the tests of the pipeline find in all tables but that of the checks. */
async function testsOf(building: Building, build: WarehouseBuild): Promise<Judged> {
  const { pipeline, staging, before, landed, signal } = building;
  const { tests } = pipeline;
  if (tests.length === 0) return { checks: [], warnings: [] };
  if (landed.facts.limit !== null) return { checks: [], warnings: [NOT_ASKED] };
  const database = databaseOf(staging, publishes(pipeline, "duckdb"));
  const run = {
    tests,
    database,
    before,
    temporaryDirectory: staging.temporary,
    personalData: treatmentIn(landed.facts),
    signal,
  };
  return build.whileClosed(() => runTests(run));
}

interface Found extends Pick<Conclusion, "reasons"> {
  readonly transformed: RawTransformed;
  readonly lookups: RawLookups;
  readonly loaded: Loaded;
  readonly drift: readonly CountedDrift[];
}

type Judgement = Omit<TablesBuilt, "tables" | "statement" | keyof Judged> &
  Pick<JudgedMatching, "ignoredDestinations"> &
  Judged;

/** The checks and what is said of them. Throws what forbids to publish. */
function judge(
  { before, pipeline, history, landed }: Building,
  { transformed, lookups, loaded, drift, reasons }: Found,
): Judgement {
  const { facts } = landed;
  const accounting = accountingOf(facts, loaded, reasons);
  const tables = judgeTables({ before, loaded, facts });
  const matching = matchingOf(facts, lookups, transformed, loaded);
  const singles = judgeSingles(facts);
  const echoes = judgeEchoes(drift);
  const checks = [
    ...loaded.checks,
    ...accountingChecks(accounting, facts.limit !== null),
    ...matching.checks,
    ...singles.checks,
    ...echoes.checks,
    ...tables.checks,
    ...historyChecks(history, pipeline),
  ];
  assertPassed(checks);
  return {
    accounting,
    checks,
    warnings: [
      ...matching.warnings,
      ...echoes.warnings,
      ...singles.warnings,
      ...pageWarnings(facts),
      ...tables.warnings,
      ...historyWarnings(history),
    ],
    noMappedValues: matching.noMappedValues,
    ignoredDestinations: matching.ignoredDestinations,
  };
}

/** The ID of the instance that the items name, if they name one alone. */
function instanceIdOf({ store }: RawTransformed): string | null {
  const [first, second] = store.of("instances");
  return first !== undefined && second === undefined ? first.id : null;
}

interface Ingredients extends Pick<Conclusion, "verdict"> {
  readonly transformed: RawTransformed;
  readonly lookups: RawLookups;
  /** Notes what is found in the definitions. */
  readonly drift: Drift;
}

function buildRequest(
  { pipeline, staging, landed, history, signal, onProgress }: Building,
  { transformed, lookups, drift, verdict }: Ingredients,
): BuildRequest {
  const { parts, stagedBytes, bounds, fileBounds, boundsBefore, vectorBytes, store } = transformed;
  const { items, personalData } = landed.facts;
  return {
    tables: pipeline.tables.map((table) => underPolicy(table, personalData.policy)),
    parts,
    stagedBytes,
    entityRows: entityRows({ store, lookups, drift }),
    bounds,
    fileBounds,
    boundsBefore,
    passthrough: pipeline.passthrough,
    queries: pipeline.queries,
    sequence: staging.sequence,
    directory: staging.root,
    temporaryDirectory: staging.temporary,
    database: databaseOf(staging, publishes(pipeline, "duckdb")),
    finalDirectory: publishes(pipeline, "parquet") ? staging.result : staging.root,
    memoryLimitMb: memoryLimitMb(vectorBytes),
    signal,
    history: historyOf({ staging, pipeline, history, verdict }, landed.facts),
    onTable: (done, total) => onProgress({ stage: "load", done, total, items, bytes: 0 }),
  };
}

function pageWarnings({ asked, pageSizes, limit }: ExtractRecord): string[] {
  const used = Object.values(pageSizes);
  const perPage = Math.min(...used.filter((size) => size !== undefined));
  if (asked.perPage === "auto" || limit !== null || perPage >= asked.perPage) return [];
  return [
    `Pages of ${asked.perPage} items were too large to be read: set perPage to ${perPage}, which was used.`,
  ];
}

function matchingOf(
  { asked, unmatched }: ExtractRecord,
  lookups: RawLookups,
  { store }: RawTransformed,
  { tables }: Loaded,
): JudgedMatching {
  const named = [...store.of("custom_fields")].map(({ attributes }) => attributes.name);
  const fieldNames = named.filter((name) => typeof name === "string");
  return judgeMatching({ asked, unmatched, lookups, fieldNames, rows: rowCounts(tables) });
}

function statedOf({ staging, pipeline, nodeVersion, replayOf }: Building, { verdict, reasons }: Conclusion) {
  return {
    run: staging.run,
    sequence: staging.sequence,
    pipeline: pipeline.name,
    verdict,
    reasons: [...reasons],
    versions: { package: VERSION, duckdb: duckdbVersion(), node: nodeVersion },
    ...(replayOf !== null && { replayOf }),
  };
}

interface Findings extends Pick<TablesBuilt, "accounting">, Pick<JudgedMatching, "ignoredDestinations"> {
  readonly loaded: Loaded;
  readonly drift: readonly CountedDrift[];
}

/** Rows of the run's own tables, or where they landed, or the query that gives them; those of its checks come last. */
function runTables(
  { pipeline, landed, clock, replayOf }: Building,
  stated: ReturnType<typeof statedOf>,
  { loaded, accounting, drift, ignoredDestinations }: Findings,
): (RunRows | StagedTable | { readonly table: Table; readonly query: Query })[] {
  const { origin, startedAt, passes, throttled, personalData } = landed.facts;
  const startedMs = Date.parse(startedAt);
  const counting = documentsQuery(landed);
  return [
    runRows({
      ...stated,
      instanceUrl: origin,
      startedMs,
      endedMs: endMs(startedMs, clock),
      accounting,
      passthrough: pipeline.passthrough,
      ignoredDestinations,
      throttled,
      replayOf,
      personalData: personalData.policy,
    }),
    passRows(passes),
    { table: requests, query: requestsQuery(landed) },
    { table: rejects, parts: landed.rejects },
    driftRows(drift),
    tableRows(loaded, publishes(pipeline, "parquet")),
    lineageRows(pipeline.tables),
    counting === undefined ? { table: documents, rows: [] } : { table: documents, query: counting },
  ];
}

/** What the manifest states of personal data. */
function treatmentIn({ personalData, documentSettings }: ExtractRecord): BuiltStatement["personalData"] {
  const { policy, keyId, customFieldIds } = personalData;
  return {
    policy,
    keyId,
    ...(customFieldIds.length > 0 && { customFieldIds: [...customFieldIds] }),
    fields: documentSettings.personalFields,
  };
}

/** What the manifest states besides of how the run was made. */
function statementOf(
  { pipeline, before, landed }: Building,
  { listed, loaded, rejected, vanished, unread }: Accounting,
) {
  const { facts } = landed;
  const ratePerSecond = facts.throttled?.ratePerSecond ?? null;
  return {
    loaders: pipeline.loaders.flatMap(({ publishes: what }) => what ?? []),
    startedAt: facts.startedAt,
    requests: facts.requests,
    passes: facts.passes.map((pass) => ({ ...pass })),
    items: { listed, loaded, rejected, vanished, unread },
    configuration: facts.configuration,
    personalData: treatmentIn(facts),
    ...(facts.resumedAt.length > 0 && { resumedAt: [...facts.resumedAt] }),
    ...(facts.asked.perPage === "auto" && { pageSizes: facts.pageSizes }),
    ...(ratePerSecond !== null && { ratePerSecond }),
    ...(facts.outages !== null && { outages: facts.outages }),
    previousRun: before.kind === "none" ? null : before.run,
    ...(before.kind === "run" && { previousSha256: before.sha256 }),
  };
}
