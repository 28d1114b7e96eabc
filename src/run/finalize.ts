/** From what was found to a result that can be published, with what it states about itself. */
import { version as duckdbVersion } from "@duckdb/node-api";
import { type Accounting, accountingChecks, assertPassed, type Check } from "../audit/checks/checks.ts";
import { inspect, type Loaded } from "../audit/checks/inspect.ts";
import { judgeDrift, judgeEchoes, judgeTables, rowCounts } from "../audit/checks/publish-gates.ts";
import { judgeMatching, type Matching } from "../audit/checks/unmatched.ts";
import { endMs } from "../common/clock.ts";
import { inStage } from "../common/run-events.ts";
import { VERSION } from "../common/version.ts";
import { type Config, configFingerprint, treatmentOf } from "../config/config.ts";
import type { Extraction } from "../extract/extract.ts";
import { type BuildRequest, type RunRows, WarehouseBuild } from "../load/build-warehouse.ts";
import type { LoadedTable } from "../load/load-table.ts";
import { memoryLimitMb } from "../load/range-bounds.ts";
import { publishes } from "../pipeline.ts";
import type { Drift, DriftEntry } from "../raw/drift.ts";
import type { ExtractRecord } from "../raw/extract-record.ts";
import type { RawLookups } from "../raw/raw-file.ts";
import { entityRows } from "../transform/definitions.ts";
import { assertSameInstance, instanceOf } from "../warehouse/baseline.ts";
import { databaseOf } from "../warehouse/layout.ts";
import type { ManifestDraft } from "../warehouse/manifest.ts";
import type { RunContext } from "./context.ts";
import { idsOf } from "./personal-fields.ts";
import { type HistoryPlace, historyChecks, historyOf, historyWarnings } from "./previous-history.ts";
import type { Extracted } from "./run-extraction.ts";
import {
  checkRows,
  driftRows,
  lineageRows,
  passRows,
  rejectRows,
  requestRows,
  runRows,
  tableRows,
} from "./run-tables.ts";
import type { RunTransformed } from "./run-transform.ts";
import { comparisonOf, originOf } from "./source.ts";
import {
  accountingOf,
  answerChecks,
  contradictionReasons,
  type RunSummary,
  singlesWarnings,
} from "./summary.ts";

export interface Result
  extends Pick<
    RunSummary,
    "passes" | "accounting" | "modesDiffer" | "warnings" | "noMappedValues" | "namelessDestinations"
  > {
  readonly tables: readonly LoadedTable[];
  readonly statement: ManifestDraft;
  readonly checks: readonly Check[];
}

/** Builds and checks the tables. Throws what forbids to publish, such as `verify.failed` and `guard.shrink`. */
export async function buildResult(
  run: RunContext,
  extracted: Extracted,
  transformed: RunTransformed,
): Promise<Result> {
  const { baseline, folder, journal, options, pipeline, history } = run;
  const { extraction } = extracted;
  const { tables } = pipeline;
  const instance = { id: instanceIdOf(transformed), origin: originOf(options.config) };
  assertSameInstance(instanceOf(baseline), instance, folder.root, comparisonOf(options.config));
  const request = buildRequest({
    ...run,
    transformed,
    lookups: extracted.rawLookups(),
    record: extracted.record,
    drift: journal.drift,
    signal: options.signal,
    onTable: (done, total) =>
      options.onProgress({ stage: "load", done, total, items: journal.items, bytes: 0 }),
  });
  judgeDrift(options.config, journal);
  await using build = await WarehouseBuild.open(request);
  const data = await inStage(run, { stage: "load" }, () => build.loadData());
  const drift = journal.drift.sorted();
  const inspected = { tables, loaded: data, directory: request.finalDirectory, drift };
  const loaded = await inStage(run, { stage: "audit" }, () => inspect(build, inspected));
  const items = loaded.tables.find(({ table }) => table === "content")?.rows ?? extraction.items;
  const reasons = [...extraction.disagreements, ...contradictionReasons(drift, items)];
  const accounting = accountingOf(extraction, loaded, reasons);
  const judged = judgeTables({ config: options.config, baseline, loaded, extraction });
  const matching = judgeMatching(matchingOf(run, extracted, transformed, loaded));
  const echoes = judgeEchoes(drift);
  const checks = [
    ...loaded.checks,
    ...accountingChecks(accounting),
    ...matching.checks,
    ...answerChecks(extraction),
    ...echoes.checks,
    ...judged.checks,
    ...historyChecks(history, pipeline),
  ];
  assertPassed(checks);
  const facts = factsOf(run, reasons);
  const all = [...loaded.tables];
  await inStage(run, { stage: "load" }, async () => {
    for (const rows of runTables(run, facts, extraction, { loaded, accounting, checks, drift })) {
      all.push(await build.loadRows(rows));
    }
    await build.finish();
  });
  return {
    tables: all,
    statement: {
      ...facts,
      ...statementOf(run, extraction, accounting),
      instance,
      rows: rowCounts(all),
      emptyColumns: [...loaded.emptyColumns],
    },
    passes: extraction.passes,
    modesDiffer: extraction.modesDiffer,
    accounting,
    checks,
    warnings: [
      ...matching.warnings,
      ...echoes.warnings,
      ...singlesWarnings(extraction),
      ...pageWarnings(options.config, extraction),
      ...judged.warnings,
      ...historyWarnings(history),
    ],
    noMappedValues: matching.noMappedValues,
    namelessDestinations: matching.namelessDestinations,
  };
}

/** The ID of the instance that the items name, if they name one alone. */
function instanceIdOf({ store }: RunTransformed): string | null {
  const [first, second] = store.of("instances");
  return first !== undefined && second === undefined ? first.id : null;
}

interface Building extends HistoryPlace, Pick<BuildRequest, "signal" | "onTable"> {
  readonly transformed: RunTransformed;
  readonly lookups: RawLookups;
  readonly record: ExtractRecord;
  /** Notes what is found in the definitions. */
  readonly drift: Drift;
}

/** What the tables of a run are built from, whether its documents have just landed or are read again. */
export function buildRequest(building: Building): BuildRequest {
  const { pipeline, staging, transformed, lookups, record, drift, signal, onTable } = building;
  const { parts, stagedBytes, bounds, vectorBytes, store } = transformed;
  return {
    tables: pipeline.tables,
    parts,
    stagedBytes,
    entityRows: entityRows({ store, lookups, drift }),
    bounds,
    passthrough: pipeline.passthrough,
    queries: pipeline.queries,
    sequence: staging.sequence,
    directory: staging.root,
    temporaryDirectory: staging.temporary,
    database: databaseOf(staging, publishes(pipeline, "duckdb")),
    finalDirectory: publishes(pipeline, "parquet") ? staging.result : staging.root,
    memoryLimitMb: memoryLimitMb(vectorBytes),
    signal,
    history: historyOf(building, record),
    onTable,
  };
}

function pageWarnings({ perPage: asked }: Config, { pageSizes }: Extraction): string[] {
  const used = Object.values(pageSizes);
  const perPage = Math.min(...used.filter((size) => size !== undefined));
  if (asked === "auto" || perPage >= asked) return [];
  return [`Pages of ${asked} items were too large to be read: set perPage to ${perPage}, which was used.`];
}

function matchingOf(
  { options, source }: RunContext,
  { destinations, fields }: Extracted,
  { store }: RunTransformed,
  { tables }: Loaded,
): Matching {
  const named = [...store.of("custom_fields")].map(({ attributes }) => attributes.name);
  return {
    config: options.config,
    wanted: source.destinations,
    wantsAll: options.config.source.kind === "sample" && options.config.destinations.length === 0,
    destinations,
    fields,
    fieldNames: named.filter((name) => typeof name === "string"),
    rows: rowCounts(tables),
  };
}

function factsOf({ staging, pipeline, options }: RunContext, reasons: readonly string[]) {
  return {
    run: staging.run,
    sequence: staging.sequence,
    pipeline: pipeline.name,
    verdict: reasons.length === 0 ? ("complete" as const) : ("unsettled" as const),
    reasons: [...reasons],
    versions: { package: VERSION, duckdb: duckdbVersion(), node: options.nodeVersion },
  };
}

interface Judged extends Pick<Result, "accounting" | "checks"> {
  readonly loaded: Loaded;
  readonly drift: readonly DriftEntry[];
}

/** Rows of the run's own tables. */
function runTables(
  { options, pipeline, journal, beginning, throttle }: RunContext,
  facts: ReturnType<typeof factsOf>,
  { passes }: Extraction,
  { loaded, accounting, checks, drift }: Judged,
): RunRows[] {
  return [
    runRows({
      ...facts,
      instanceUrl: originOf(options.config),
      startedMs: beginning.startedMs,
      endedMs: endMs(beginning.startedMs, options.clock),
      accounting,
      passthrough: pipeline.passthrough,
      throttled: throttle.learned,
      personalData: options.config.personalData.policy,
    }),
    passRows(passes),
    requestRows(journal.requests),
    rejectRows(journal.rejects),
    driftRows(drift),
    checkRows(checks),
    tableRows(loaded, publishes(pipeline, "parquet")),
    lineageRows(pipeline.tables),
  ];
}

/** What the manifest states besides of how the run was made. */
function statementOf(
  { options: { config }, pipeline, baseline, beginning, throttle, outage, personalFields }: RunContext,
  { passes, pageSizes }: Extraction,
  { listed, loaded, rejected, vanished, unread }: Accounting,
) {
  const ratePerSecond = throttle.learned?.ratePerSecond ?? null;
  const { resumedMs, startedMs } = beginning;
  const customFieldIds = idsOf(personalFields);
  return {
    loaders: pipeline.loaders.flatMap(({ publishes: what }) => what ?? []),
    startedAt: new Date(startedMs).toISOString(),
    passes: passes.map((pass) => ({ ...pass })),
    items: { listed, loaded, rejected, vanished, unread },
    configuration: configFingerprint(config),
    personalData: {
      ...treatmentOf(config.personalData),
      ...(customFieldIds.length > 0 && { customFieldIds }),
    },
    ...(resumedMs.length > 0 && { resumedAt: resumedMs.map((ms) => new Date(ms).toISOString()) }),
    ...(config.perPage === "auto" && { pageSizes }),
    ...(ratePerSecond !== null && { ratePerSecond }),
    ...(outage.totals !== null && { outages: outage.totals }),
    previousRun: baseline.kind === "none" ? null : baseline.run,
    ...(baseline.kind === "run" && { previousSha256: baseline.sha256 }),
  };
}
