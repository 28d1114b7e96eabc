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
import { onlyId } from "../extract/pages/instance-ids.ts";
import { WarehouseBuild } from "../load/build-warehouse.ts";
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
import { nextAncestors } from "../warehouse/identity.ts";
import { databaseOf, parseRunName } from "../warehouse/layout.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import { compareMappedValues } from "./compare.ts";
import type { BuildSource, NewRun, Runtime } from "./inputs.ts";
import { concludeVerdict, judgeRun } from "./judge-run.ts";
import { rowsOf, runTables } from "./run-tables.ts";

/** Throws what forbids publication, such as `verify.failed` and `guard.shrink`. */
export async function buildTables(run: NewRun, source: BuildSource, peak: PeakUse, runtime: Runtime) {
  const { baseline, folder, pipeline, staging } = run;
  const { facts } = source.landed;
  const transformed = await transformRaw(run, source.landed, runtime);
  // The index is garbage now, and DuckDB needs its memory.
  collectGarbage();
  await peak.measure();
  const { asked, found } = facts;
  // The items may name no instance, or several.
  const ids = [...transformed.store.of("instances")].map(({ id }) => id);
  const instance = { id: onlyId(ids), origin: asked.origin };
  assertSameInstance(instanceOf(baseline), instance, folder.root, asked.accepted.newAddress);
  const tally = new Drift();
  for (const entry of [...facts.drift, ...transformed.drift]) tally.add(entry);
  const lookups = source.landed.lookups();
  const { ids: ignored } = resolveIgnored({ asked, lookups });
  const conclusion = concludeVerdict(facts, tally.sorted());
  // The definitions add to the drift.
  const entityRows = makeEntityRows({ store: transformed.store, lookups, ignored, drift: tally });
  assertContract(asked.gates.contract, tally.sorted());
  const plan = { ...transformed, ...buildPlan(run, facts, conclusion.verdict, runtime), entityRows };
  await using build = await WarehouseBuild.open({
    ...plan,
    database: {
      file: databaseOf(staging, publishes(pipeline, "duckdb")),
      staging: staging.root,
      temporaryDirectory: staging.temporary,
      memoryLimitMb: memoryLimitMb(transformed.vectorBytes),
    },
  });
  const { data, compared } = await build.loadData(() =>
    compareMappedValues(run, facts, (read) => build.whileClosed(read)),
  );
  const misfits = await build.fieldTypeDrift();
  for (const { items: _items, ...entry } of misfits) tally.add(entry);
  const drift = addItemCounts(tally.sorted(), [...transformed.driftItems, ...misfits], facts.drift);
  const loaded = await checkTables(build, {
    tables: pipeline.tables,
    loaded: data,
    directory: plan.finalDirectory,
    drift,
    isLimited: asked.limit !== null,
    personalData: asked.personalData,
  });
  const fields = [...transformed.store.of("custom_fields")].map(({ attributes }) => attributes.name);
  const fieldNames = fields.filter((name) => typeof name === "string");
  const judged = judgeRun(run, facts, { fieldNames, lookups, loaded, drift, ...conclusion });
  const stated = {
    run: staging.run,
    sequence: staging.sequence,
    asked,
    found,
    ...conclusion,
    instance,
    items: judged.accounting,
    mappedChanges: compared.mappedChanges,
    replayOf: source.replayOf,
    loaders: pipeline.loaders.flatMap(({ publishes: what }) => what ?? []),
    versions: { package: VERSION, duckdb: duckdbVersion(), node: runtime.nodeVersion },
    previousRun: baseline.kind === "none" ? null : baseline.run,
    ...(baseline.kind === "run" && { previousSha256: baseline.sha256 }),
    ancestors: baseline.kind === "run" ? nextAncestors(baseline.manifest) : [],
  };
  const all = [...loaded.tables];
  const ended = {
    endedMs: endMs(Date.parse(found.startedAt), runtime.clock),
    ignoredDestinations: judged.ignoredDestinations,
  };
  for (const made of runTables({ ...stated, ...ended }, pipeline, source.landed, { loaded, drift }))
    all.push(await build.load(made));
  await build.createViews();
  const tested = await testTables(run, facts, { build, loaded, signal: runtime.signal, ...compared });
  const checks = [...judged.checks, ...tested.checks];
  const ofChecks = rowsOf(tablesOfRun.checks, checks, ({ name, examples = null }) => ({
    checkName: name,
    examples,
  }));
  all.push(await build.load(ofChecks));
  await build.close();
  assertTestsPassed(tested);
  const { emptyColumns, columns } = loaded;
  return {
    checks,
    warnings: [...compared.warnings, ...judged.warnings, ...tested.warnings],
    noMappedValues: judged.noMappedValues,
    tables: all,
    statement: { ...stated, rows: rowCounts(all), emptyColumns, columns },
  };
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
  { asked }: ExtractRecord,
  tested: {
    readonly build: WarehouseBuild;
    readonly loaded: TableFacts;
    readonly signal: AbortSignal;
  } & Pick<Manifest, "mappedChanges">,
): Promise<CheckResults> {
  const { tests } = pipeline;
  const { build, loaded: filled, signal, mappedChanges } = tested;
  if (tests.length === 0) return { checks: [], warnings: [] };
  if (asked.limit !== null)
    return {
      checks: [],
      warnings: ["The tests of the pipeline were skipped, because this run is limited."],
    };
  const request = {
    tests,
    database: databaseOf(staging, publishes(pipeline, "duckdb")),
    before,
    filled,
    mappedChanges,
    temporaryDirectory: staging.temporary,
    asked,
    signal,
  };
  return build.whileClosed(() => runTests(request));
}

/** What the tables are built by, besides the staged parts. */
function buildPlan(
  { pipeline, staging, history: previous }: NewRun,
  { asked, found, items, unreadable, rejectedWithoutId }: ExtractRecord,
  verdict: Verdict,
  { signal, onProgress }: Runtime,
) {
  const { run, sequence } = staging;
  return {
    tables: pipeline.tables.map((table) => addPolicyComments(table, asked.personalData.policy)),
    passthrough: pipeline.passthrough,
    queries: pipeline.queries,
    sequence,
    finalDirectory: publishes(pipeline, "parquet") ? staging.result : staging.root,
    signal,
    history: {
      previous,
      run: {
        run,
        sequence,
        startedAt: parseRunName(run)?.startedAt ?? new Date(found.startedAt),
        extractedMs: Date.parse(found.extractedAt),
        pipeline: pipeline.name,
        verdict,
        packageVersion: VERSION,
      },
      absences: {
        confirmed: new Set([...items.removed, ...items.vanished]),
        unread: new Set(unreadable),
        listIsWhole: verdict === "complete" && !rejectedWithoutId,
      },
    },
    onTable: (done: number, total: number) =>
      onProgress({ stage: "load", done, total, items: items.count, bytes: 0 }),
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
