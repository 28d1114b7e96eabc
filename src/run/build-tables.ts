/** Builds and checks the tables of a run from its raw documents, and states what the manifest says of it. */
import { version as duckdbVersion } from "@duckdb/node-api";
import type { CheckResults } from "../audit/checks/checks.ts";
import { resolveIgnored } from "../audit/checks/configured-names.ts";
import { assertContract } from "../audit/checks/contract.ts";
import { assertTestsPassed, runTests } from "../audit/checks/pipeline-tests.ts";
import { rowCounts } from "../audit/checks/publish-gates.ts";
import { checkTables, type TableFacts } from "../audit/checks/table-checks.ts";
import { endMs } from "../common/clock.ts";
import { asWarehouseError } from "../common/errors.ts";
import { collectGarbage } from "../common/free-memory.ts";
import type { Log } from "../common/log.ts";
import type { Verdict } from "../common/verdict.ts";
import { VERSION } from "../common/version.ts";
import { type BuildRequest, WarehouseBuild } from "../load/build-warehouse.ts";
import { type BoundsByTable, cutItems, memoryLimitMb, readFileBounds } from "../load/range-bounds.ts";
import { publishes } from "../pipeline.ts";
import { type CountedDrift, Drift, type DriftEntry, type DriftItemCount } from "../raw/drift.ts";
import { type ExtractRecord, excludedItems } from "../raw/extract-record.ts";
import type { RawFolder } from "../raw/raw-folder.ts";
import { addPolicyComments } from "../tables/declare.ts";
import { tablesOfRun } from "../tables/run.ts";
import { makeEntityRows } from "../transform/entity-rows.ts";
import { transformItems } from "../transform/transform-items.ts";
import { assertSameInstance, instanceOf } from "../warehouse/baseline.ts";
import type { PeakUse } from "../warehouse/disk.ts";
import { databaseOf, parseRunName } from "../warehouse/layout.ts";
import type { BuiltStatement } from "../warehouse/manifest.ts";
import type { BuildSource, NewRun, Runtime } from "./inputs.ts";
import { concludeVerdict, judgeRun } from "./judge-run.ts";
import { rowsOf, runTables } from "./run-tables.ts";

/** Throws what forbids publication, such as `verify.failed` and `guard.shrink`. */
export async function buildTables(run: NewRun, source: BuildSource, peak: PeakUse, runtime: Runtime) {
  const { baseline, folder, pipeline } = run;
  const { facts } = source.landed;
  const transformed = await transformRaw(run, source.landed, runtime);
  // The index is garbage now, and DuckDB needs its memory.
  collectGarbage();
  await peak.measure();
  // The items may name no instance, or several.
  const [first, second] = transformed.store.of("instances");
  const instance = { id: first && second === undefined ? first.id : null, origin: facts.origin };
  assertSameInstance(instanceOf(baseline), instance, folder.root, facts.accepted.newAddress);
  const tally = new Drift();
  for (const entry of [...facts.drift, ...transformed.drift]) tally.add(entry);
  const lookups = source.landed.lookups();
  const { ids: ignored } = resolveIgnored({ asked: facts.asked, lookups });
  const conclusion = concludeVerdict(facts, tally.sorted());
  const request = buildRequest(run, facts, transformed, {
    // The definitions add to the drift.
    entityRows: makeEntityRows({ store: transformed.store, lookups, ignored, drift: tally }),
    verdict: conclusion.verdict,
    runtime,
  });
  assertContract(facts.gates.contract, tally.sorted());
  await using build = await WarehouseBuild.open(request);
  const data = await build.loadData();
  const misfits = await build.fieldTypeDrift();
  for (const { items: _items, ...entry } of misfits) tally.add(entry);
  const drift = addItemCounts(tally.sorted(), [...transformed.driftItems, ...misfits], facts.drift);
  const loaded = await checkTables(build, {
    tables: pipeline.tables,
    loaded: data,
    directory: request.finalDirectory,
    drift,
    isLimited: facts.limit !== null,
    personalData: facts.personalData,
  });
  const { reasons } = conclusion;
  const fields = [...transformed.store.of("custom_fields")].map(({ attributes }) => attributes.name);
  const fieldNames = fields.filter((name) => typeof name === "string");
  const { ignoredDestinations, ...judged } = judgeRun(run, facts, {
    fieldNames,
    lookups,
    loaded,
    drift,
    reasons,
  });
  const stated = { ...statementOf(run, source, judged.accounting, runtime), ...conclusion, instance };
  const all = [...loaded.tables];
  const endedMs = endMs(Date.parse(facts.startedAt), runtime.clock);
  const { passthrough } = pipeline;
  const more = { endedMs, passthrough, ignoredDestinations, throttled: facts.throttled };
  for (const made of runTables({ ...stated, ...more }, pipeline, source.landed, { loaded, drift }))
    all.push(await build.load(made));
  await build.createViews();
  const tested = await testTables(run, facts, { build, loaded, signal: runtime.signal });
  const checks = [...judged.checks, ...tested.checks];
  const ofChecks = rowsOf(tablesOfRun.checks, checks, ({ name, examples = null }) => ({
    checkName: name,
    examples,
  }));
  all.push(await build.load(ofChecks));
  await build.close();
  assertTestsPassed(tested);
  const { emptyColumns, columns } = loaded;
  const statement = { ...stated, rows: rowCounts(all), emptyColumns, columns };
  return { ...judged, checks, warnings: [...judged.warnings, ...tested.warnings], tables: all, statement };
}

/** Throws `config.invalid` if a function of the pipeline fails, and errors of the disk. */
async function transformRaw(run: NewRun, landed: RawFolder, { threads, signal, onProgress, log }: Runtime) {
  const { pipeline, pipelineUrl, staging } = run;
  const index = landed.takeIndex();
  const { items } = index;
  const excluded = new Set(excludedItems(landed.facts).flatMap((id) => items.find(id) ?? []));
  const transformed = await transformItems({
    pipeline,
    pipelineUrl,
    threads,
    index,
    isLeftOut: (item) => excluded.has(item),
    weightOf: (item) => items.weightAt(item),
    parts: staging.parts,
    directory: staging.root,
    temporaryDirectory: staging.temporary,
    signal,
    onProgress,
  });
  const sorted = items.sorted();
  const weighing = {
    weights: Float32Array.from(sorted, (number) => items.weightAt(number)),
    idAt: (place: number) => items.idOf(sorted[place] ?? 0),
    widestTableBytes: Math.max(0, ...transformed.stagedBytes.values()),
  };
  const before = await boundsBefore(run, log);
  return {
    ...transformed,
    ...cutItems(weighing, transformed.stagedBytes, before),
    /** Bounds of the files of the run before. */
    boundsBefore: before,
  };
}

/** Empty if the files of the run before cannot be read: ranges are then cut as in a first run. */
async function boundsBefore({ baseline, pipeline, staging }: NewRun, log: Log): Promise<BoundsByTable> {
  if (baseline.kind !== "run") return new Map();
  try {
    return await readFileBounds(baseline, pipeline.tables, staging.temporary);
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    log.warn(`All files are rewritten, because those of the run before cannot be read: ${message}`, {
      run: staging.run,
    });
    return new Map();
  }
}

/** Runs the pipeline's tests over all tables except `run_checks`. */
async function testTables(
  { pipeline, staging, baseline: before }: NewRun,
  facts: ExtractRecord,
  tested: { readonly build: WarehouseBuild; readonly loaded: TableFacts; readonly signal: AbortSignal },
): Promise<CheckResults> {
  const { tests } = pipeline;
  const { build, loaded: filled, signal } = tested;
  if (tests.length === 0) return { checks: [], warnings: [] };
  if (facts.limit !== null)
    return {
      checks: [],
      warnings: ["The tests of the pipeline were skipped, because this run is limited."],
    };
  const request = {
    tests,
    database: databaseOf(staging, publishes(pipeline, "duckdb")),
    before,
    filled,
    temporaryDirectory: staging.temporary,
    personalData: personalDataOf(facts),
    signal,
  };
  return build.whileClosed(() => runTests(request));
}

function buildRequest(
  { pipeline, staging, history: previous }: NewRun,
  facts: ExtractRecord,
  transformed: Awaited<ReturnType<typeof transformRaw>>,
  more: Pick<BuildRequest, "entityRows"> & { readonly verdict: Verdict; readonly runtime: Runtime },
): BuildRequest {
  const { entityRows, verdict, runtime } = more;
  const { items, personalData, removed, vanished, unreadable, rejectedWithoutId } = facts;
  const { run, sequence } = staging;
  return {
    ...transformed,
    tables: pipeline.tables.map((table) => addPolicyComments(table, personalData.policy)),
    entityRows,
    passthrough: pipeline.passthrough,
    queries: pipeline.queries,
    sequence,
    database: {
      file: databaseOf(staging, publishes(pipeline, "duckdb")),
      staging: staging.root,
      temporaryDirectory: staging.temporary,
      memoryLimitMb: memoryLimitMb(transformed.vectorBytes),
    },
    finalDirectory: publishes(pipeline, "parquet") ? staging.result : staging.root,
    signal: runtime.signal,
    history: {
      previous,
      run: {
        run,
        sequence,
        startedAt: parseRunName(run)?.startedAt ?? new Date(facts.startedAt),
        extractedMs: Date.parse(facts.extractedAt),
        pipeline: pipeline.name,
        verdict,
        packageVersion: VERSION,
      },
      absences: {
        confirmed: new Set([...removed, ...vanished]),
        unread: new Set(unreadable),
        listIsWhole: verdict === "complete" && !rejectedWithoutId,
      },
    },
    onTable: (done, total) => runtime.onProgress({ stage: "load", done, total, items, bytes: 0 }),
  };
}

function personalDataOf({ personalData, documentSettings }: ExtractRecord): BuiltStatement["personalData"] {
  const { policy, keyId, customFieldIds } = personalData;
  return {
    policy,
    keyId,
    ...(customFieldIds.length > 0 && { customFieldIds: [...customFieldIds] }),
    fields: documentSettings.personalFields,
  };
}

/** The manifest's statement, except verdict, instance and contents of tables. */
function statementOf(
  { staging, pipeline, baseline: before }: NewRun,
  { landed, replayOf }: BuildSource,
  { listed, loaded, rejected, vanished, unread }: ReturnType<typeof judgeRun>["accounting"],
  { nodeVersion }: Runtime,
) {
  const { facts } = landed;
  const ratePerSecond = facts.throttled?.ratePerSecond ?? null;
  return {
    run: staging.run,
    sequence: staging.sequence,
    pipeline: pipeline.name,
    destinations: [...facts.asked.destinations],
    versions: { package: VERSION, duckdb: duckdbVersion(), node: nodeVersion },
    ...(replayOf !== null && { replayOf }),
    loaders: pipeline.loaders.flatMap(({ publishes: what }) => what ?? []),
    startedAt: facts.startedAt,
    requests: facts.requests,
    passes: facts.passes.map((pass) => ({ ...pass })),
    items: { listed, loaded, rejected, vanished, unread },
    configuration: facts.configuration,
    personalData: personalDataOf(facts),
    ...(facts.resumedAt.length > 0 && { resumedAt: [...facts.resumedAt] }),
    ...(facts.asked.perPage === "auto" && { pageSizes: facts.pageSizes }),
    ...(ratePerSecond !== null && { ratePerSecond }),
    ...(facts.outages !== null && { outages: facts.outages }),
    previousRun: before.kind === "none" ? null : before.run,
    ...(before.kind === "run" && { previousSha256: before.sha256 }),
  };
}

/** Adds the number of items to each entry. `landed`: entries that counted documents when these landed. */
function addItemCounts(
  entries: readonly DriftEntry[],
  counts: readonly DriftItemCount[],
  landed: readonly DriftEntry[],
): CountedDrift[] {
  const keyOf = ({ path, kind }: Pick<DriftEntry, "path" | "kind">) => `${kind} ${path}`;
  const items = new Map<string, number>();
  for (const each of counts) items.set(keyOf(each), (items.get(keyOf(each)) ?? 0) + each.items);
  const unknown = new Set(landed.filter(({ kind }) => kind !== "unknown_field").map(keyOf));
  return entries.map((entry) => {
    const key = keyOf(entry);
    return { ...entry, items: unknown.has(key) ? null : (items.get(key) ?? null) };
  });
}
