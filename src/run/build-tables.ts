/** From transformed documents to checked tables, with what the run states about itself. */
import { version as duckdbVersion } from "@duckdb/node-api";
import { type Accounting, accountingChecks, assertPassed, type Judged } from "../audit/checks/checks.ts";
import { fieldTypeChecks } from "../audit/checks/contract.ts";
import { inspect, judgeCustomTables, type Loaded } from "../audit/checks/inspect.ts";
import { judgeDrift, judgeEchoes, judgeTables, rowCounts } from "../audit/checks/publish-gates.ts";
import { assertTestsHold } from "../audit/checks/test-results.ts";
import { runTests } from "../audit/checks/tests.ts";
import { type JudgedMatching, judgeMatching } from "../audit/checks/unmatched.ts";
import { endMs } from "../common/clock.ts";
import type { Verdict } from "../common/verdict.ts";
import { VERSION } from "../common/version.ts";
import { type BuildRequest, WarehouseBuild } from "../load/build-warehouse.ts";
import { memoryLimitMb } from "../load/range-bounds.ts";
import { documentsQuery, requestsQuery } from "../load/run-documents.ts";
import type { MemoryRows, StagedTable } from "../load/staged-rows.ts";
import { publishes } from "../pipeline.ts";
import { type CountedDrift, Drift, type DriftEntry, withItems } from "../raw/drift.ts";
import type { ExtractRecord } from "../raw/extract-record.ts";
import type { RawLookups } from "../raw/raw-file.ts";
import type { SqlQuery } from "../storage/duckdb.ts";
import { addPolicyComments, type Table } from "../tables/declare.ts";
import { documents, rejects, requests } from "../tables/run.ts";
import { makeEntityRows } from "../transform/entity-rows.ts";
import { assertSameInstance, instanceOf } from "../warehouse/baseline.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { BuiltStatement } from "../warehouse/manifest.ts";
import { accountingOf, contradictionReasons, judgeSingles, limitReasons } from "./accounting.ts";
import type { Building } from "./context.ts";
import { historyChecks, historyOf, historyWarnings } from "./previous-history.ts";
import { checkRows, driftRows, lineageRows, passRows, runRows, tableRows } from "./run-tables.ts";
import { comparisonOf } from "./source.ts";
import type { RawTransformed } from "./transform-raw.ts";

/** Builds and checks the tables. Throws what forbids to publish, such as `verify.failed` and `guard.shrink`. */
export async function buildTables(building: Building, transformed: RawTransformed) {
  const { baseline, folder, pipeline, landed } = building;
  const { facts } = landed;
  const { tables } = pipeline;
  const instance = { id: instanceIdOf(transformed), origin: facts.origin };
  const comparison = comparisonOf({ acceptNewAddress: facts.accepted.newAddress });
  assertSameInstance(instanceOf(baseline), instance, folder.root, comparison);
  const tally = new Drift();
  for (const entry of [...facts.drift, ...transformed.drift]) tally.add(entry);
  const lookups = landed.lookups();
  const conclusion = concludedFrom(facts, tally.sorted());
  const { verdict } = conclusion;
  const request = buildRequest(building, { transformed, lookups, drift: tally, verdict });
  judgeDrift(facts, tally);
  await using build = await WarehouseBuild.open(request);
  const data = await build.loadData();
  const misfits = await build.fieldTypeDrift();
  for (const { items: _items, ...entry } of misfits) tally.add(entry);
  const counts = [...transformed.driftItems, ...misfits];
  const drift = withItems(tally.sorted(), counts, facts.drift);
  const isLimited = facts.limit !== null;
  const { personalData } = facts;
  const inspected = {
    tables,
    loaded: data,
    directory: request.finalDirectory,
    drift,
    isLimited,
    personalData,
  };
  const loaded = await inspect(build, inspected);
  const found = { transformed, lookups, loaded, drift, reasons: conclusion.reasons };
  const { ignoredDestinations, ...judged } = judge(building, found);
  const stated = { ...statementOf(building, conclusion, judged.accounting), instance };
  const all = [...loaded.tables];
  for (const made of runTables(building, { stated, ignoredDestinations, loaded, drift })) {
    if ("query" in made) all.push(await build.loadQuery(made.table, made.query));
    else all.push(await ("parts" in made ? build.loadParts(made) : build.loadRows(made)));
  }
  await build.createViews();
  const tested = await testsOf(building, build, loaded);
  const told = {
    checks: [...judged.checks, ...tested.checks],
    warnings: [...judged.warnings, ...tested.warnings],
  };
  all.push(await build.loadRows(checkRows(told.checks)));
  await build.close();
  assertTestsHold(tested);
  const statement = {
    ...stated,
    rows: rowCounts(all),
    emptyColumns: loaded.emptyColumns,
    columns: loaded.columns,
  };
  return { ...judged, ...told, tables: all, statement };
}

/** Verdict, and why the run is not complete: documents may contradict each other though the passes agreed. */
function concludedFrom(
  facts: ExtractRecord,
  drift: readonly DriftEntry[],
): Pick<BuiltStatement, "verdict" | "reasons"> {
  const reasons = [...facts.disagreements, ...limitReasons(facts), ...contradictionReasons(drift, facts)];
  const isContradicted = facts.verdict === "complete" && reasons.length > 0;
  return { verdict: isContradicted ? "unsettled" : facts.verdict, reasons };
}

const NOT_ASKED =
  "The tests of the pipeline were not asked, because a limited run says little about all items; a full run asks them.";

/** What the tests of the pipeline find in all tables but that of the checks. */
async function testsOf(building: Building, build: WarehouseBuild, filled: Loaded): Promise<Judged> {
  const { pipeline, staging, baseline: before, landed, options } = building;
  const { tests } = pipeline;
  if (tests.length === 0) return { checks: [], warnings: [] };
  if (landed.facts.limit !== null) return { checks: [], warnings: [NOT_ASKED] };
  const database = databaseOf(staging, publishes(pipeline, "duckdb"));
  const run = {
    tests,
    database,
    before,
    filled,
    temporaryDirectory: staging.temporary,
    personalData: treatmentIn(landed.facts),
    signal: options.signal,
  };
  return build.whileClosed(() => runTests(run));
}

/** The checks and what is said of them. Throws what forbids to publish. */
function judge(
  { baseline: before, pipeline, history, landed }: Building,
  found: {
    readonly transformed: RawTransformed;
    readonly lookups: RawLookups;
    readonly loaded: Loaded;
    readonly drift: readonly CountedDrift[];
    readonly reasons: readonly string[];
  },
) {
  const { transformed, lookups, loaded, drift, reasons } = found;
  const { facts } = landed;
  const accounting = accountingOf(facts, loaded, reasons);
  const tables = judgeTables({ before, loaded, facts });
  const matching = matchingOf(facts, lookups, transformed, loaded);
  const singles = judgeSingles(facts);
  const echoes = judgeEchoes(drift);
  const custom = judgeCustomTables(pipeline, loaded);
  const checks = [
    ...loaded.checks,
    ...accountingChecks(accounting, facts.limit !== null),
    ...matching.checks,
    ...singles.checks,
    ...echoes.checks,
    ...loaded.personal.checks,
    ...tables.checks,
    ...fieldTypeChecks(drift),
    ...custom.checks,
    ...historyChecks(history, pipeline),
  ];
  assertPassed(checks);
  return {
    accounting,
    checks,
    warnings: [
      ...matching.warnings,
      ...echoes.warnings,
      ...loaded.personal.warnings,
      ...singles.warnings,
      ...pageWarnings(facts),
      ...tables.warnings,
      ...custom.warnings,
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

/** Notes in the drift what is found in the definitions. */
function buildRequest(
  { pipeline, staging, landed, history, options }: Building,
  found: {
    readonly transformed: RawTransformed;
    readonly lookups: RawLookups;
    readonly drift: Drift;
    readonly verdict: Verdict;
  },
): BuildRequest {
  const { parts, stagedBytes, bounds, fileBounds, boundsBefore, vectorBytes, store } = found.transformed;
  const { items, personalData } = landed.facts;
  return {
    tables: pipeline.tables.map((table) => addPolicyComments(table, personalData.policy)),
    parts,
    stagedBytes,
    entityRows: makeEntityRows({ store, lookups: found.lookups, drift: found.drift }),
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
    signal: options.signal,
    history: historyOf({ staging, pipeline, history, verdict: found.verdict }, landed.facts),
    onTable: (done, total) => options.onProgress({ stage: "load", done, total, items, bytes: 0 }),
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

/** Rows of the run's own tables, or where they landed, or the query that gives them; those of its checks come last. */
function runTables(
  { pipeline, landed, clock }: Building,
  findings: Pick<JudgedMatching, "ignoredDestinations"> & {
    readonly stated: Parameters<typeof runRows>[0];
    readonly loaded: Loaded;
    readonly drift: readonly CountedDrift[];
  },
): (MemoryRows | StagedTable | { readonly table: Table; readonly query: SqlQuery })[] {
  const { stated, loaded, drift, ignoredDestinations } = findings;
  const { startedAt, passes, throttled } = landed.facts;
  const { passthrough } = pipeline;
  const endedMs = endMs(Date.parse(startedAt), clock);
  const counting = documentsQuery(landed);
  return [
    runRows(stated, { endedMs, passthrough, ignoredDestinations, throttled }),
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

/** What the manifest states of the run but for its instance and what its tables hold. */
function statementOf(
  { staging, pipeline, baseline: before, landed, options, replayOf }: Building,
  conclusion: ReturnType<typeof concludedFrom>,
  { listed, loaded, rejected, vanished, unread }: Accounting,
) {
  const { facts } = landed;
  const ratePerSecond = facts.throttled?.ratePerSecond ?? null;
  return {
    run: staging.run,
    sequence: staging.sequence,
    pipeline: pipeline.name,
    destinations: [...facts.asked.destinations],
    ...conclusion,
    versions: { package: VERSION, duckdb: duckdbVersion(), node: options.nodeVersion },
    ...(replayOf !== null && { replayOf }),
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
