/** One run from lock to publication. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { version as duckdbVersion } from "@duckdb/node-api";
import { type Accounting, accountingChecks } from "../audit/checks.ts";
import type { Clock } from "../clock.ts";
import { asWarehouseError, WarehouseError } from "../errors.ts";
import type { HttpClient } from "../extract/client.ts";
import { DECODE_LIMITS } from "../extract/decode.ts";
import { type CustomFieldLookup, createLookups, type DestinationLookup } from "../extract/lookups.ts";
import { finishPublication, publishRun } from "../load/publish.ts";
import { prune } from "../load/retention.ts";
import type { Log } from "../log.ts";
import type { Pipeline } from "../pipeline.ts";
import { type SharedRows, sharedRows } from "../transform/definitions.ts";
import { isObject } from "../transform/views.ts";
import { VERSION } from "../version.ts";
import {
  checkRows,
  driftRows,
  lineageRows,
  rejectRows,
  requestRows,
  runRows,
  type SweepRecord,
  sweepRecord,
  sweepRows,
  tableRows,
} from "./account.ts";
import { type Assembled, assemble, assertPassed } from "./assemble.ts";
import {
  assertComparable,
  assertSameInstance,
  assertSameKey,
  type Baseline,
  readBaseline,
} from "./baseline.ts";
import { Catalogue, Holdings } from "./catalogue.ts";
import { type Config, configFingerprint, keyId, type PersonalData } from "./config.ts";
import {
  createStaging,
  databaseOf,
  discardLeftovers,
  discardUnused,
  nextRun,
  type OutputFolder,
  prepareOutput,
  removeStaging,
  type StagingFolder,
} from "./directory.ts";
import { assertRoom, type FreeBytes } from "./disk.ts";
import { type Extraction, extract } from "./extraction.ts";
import { Journal, observedAtOf, recordOf } from "./journal.ts";
import { type Judged, judgeAnswers, judgeDrift, judgeTables, rowCounts } from "./judgement.ts";
import { acquireLock } from "./lock.ts";
import type { Statement } from "./manifest.ts";
import {
  accountingOf,
  answerChecks,
  type Lookups,
  type RunSummary,
  summaryOf,
  warningsOf,
} from "./outcome.ts";
import { loadPipeline } from "./pipelines.ts";
import type { OnProgress } from "./progress.ts";
import { type OpenSource, openClient, openSource, originOf } from "./source.ts";
import { columnsOf, itemColumnsOf } from "./wanted-columns.ts";
import { Workers } from "./workers.ts";

export interface RunOptions {
  readonly config: Config;
  /** Module of the pipeline. */
  readonly pipelineUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
  /** Threads that read documents; DuckDB has as many. */
  readonly threads: number;
  readonly nodeVersion: string;
  readonly freeBytes: FreeBytes;
}

/** DuckDB's buffers while the result is built. */
const MEMORY_LIMIT_MB = 224;

/**
 * Runs a pipeline and publishes its result. Errors are WarehouseErrors; then nothing was published, and a folder that
 * was no warehouse before is none afterwards.
 */
export async function runExport(options: RunOptions): Promise<RunSummary> {
  const pipeline = await loadPipeline(options.pipelineUrl);
  const folder = await prepareOutput(options.config.out);
  await using _lock = await acquireLock(folder);
  try {
    await finishPublication(folder);
    await discardLeftovers(folder, 0);
    const baseline = await readBaseline(folder);
    assertSameInstance(baseline, { id: null, origin: originOf(options.config) }, folder.root);
    assertSameKey(baseline, treatmentOf(options.config.personalData), folder.root);
    assertComparable(baseline, options.config.acceptShrink);
    await assertRoom(folder.root, baseline, options.freeBytes);
    await using source = await openSource(options.config);
    return await new Run(options, pipeline, { folder, source, baseline }).execute();
  } catch (thrown) {
    // A failure to tidy up does not hide why the run failed.
    await discardUnused(folder).catch((untidy: unknown) => {
      options.log.warn(asWarehouseError(untidy).message);
    });
    throw thrown;
  }
}

/** Where a run reads and writes. */
interface Place {
  readonly folder: OutputFolder;
  readonly source: OpenSource;
  readonly baseline: Baseline;
}

/** What the requests of a run brought. */
interface Found extends Lookups {
  readonly extraction: Extraction;
}

/** A result that can be published, with what it states about itself. */
interface Result {
  readonly assembled: Assembled;
  readonly statement: Statement;
  readonly sweeps: readonly SweepRecord[];
  readonly accounting: Accounting;
  readonly warnings: readonly string[];
}

class Run {
  readonly #options: RunOptions;
  readonly #pipeline: Pipeline;
  readonly #folder: OutputFolder;
  readonly #source: OpenSource;
  readonly #baseline: Baseline;
  readonly #journal = new Journal();
  readonly #catalogue = new Catalogue();
  readonly #startedMs: number;
  readonly #startedElapsed: number;

  constructor(options: RunOptions, pipeline: Pipeline, { folder, source, baseline }: Place) {
    this.#options = options;
    this.#pipeline = pipeline;
    this.#folder = folder;
    this.#source = source;
    this.#baseline = baseline;
    this.#startedMs = options.clock.now();
    this.#startedElapsed = options.clock.elapsedMs();
  }

  async execute(): Promise<RunSummary> {
    const name = await nextRun(this.#folder, new Date(this.#startedMs));
    try {
      return await this.#export(await createStaging(this.#folder, name));
    } finally {
      await this.#clearAway(name);
    }
  }

  /** A failure to clear away does not hide how the run ended: the next run clears away what is left. */
  async #clearAway(run: string): Promise<void> {
    try {
      await removeStaging(this.#folder, run);
    } catch (thrown) {
      const { message } = asWarehouseError(thrown);
      this.#options.log.warn(`The staged files could not be removed: ${message}`, { run });
    }
  }

  async #export(staging: StagingFolder): Promise<RunSummary> {
    const { signal, clock } = this.#options;
    let result: Result;
    try {
      result = await this.#build(staging, await this.#find(staging));
      signal.throwIfAborted();
    } catch (thrown) {
      // What was ended by the signal fails in many ways; the reason is the signal's.
      throw signal.aborted ? signal.reason : thrown;
    }
    this.#progress("publish", 0, 1);
    const manifest = await publishRun(this.#folder, staging, result.statement);
    this.#progress("publish", 1, 1);
    const { sweeps, accounting } = result;
    const { tables } = result.assembled;
    const retired = await this.#retire();
    const warnings = [...result.warnings, ...retired.warnings];
    const { removed } = retired;
    const milliseconds = clock.elapsedMs() - this.#startedElapsed;
    return summaryOf(
      { folder: this.#folder, manifest, tables, sweeps, accounting, removed, warnings, milliseconds },
      this.#journal,
    );
  }

  /** Removes old runs. A failure to do so is told, and takes nothing from the run that was published. */
  async #retire(): Promise<{ readonly removed: readonly string[]; readonly warnings: readonly string[] }> {
    try {
      const removed = await prune(this.#folder, this.#options.config.keepRuns);
      return { removed: removed.map(({ run }) => run), warnings: [] };
    } catch (thrown) {
      const { message } = asWarehouseError(thrown);
      return { removed: [], warnings: [`Old runs could not be removed: ${message}`] };
    }
  }

  /** All requests of the run: lookups, listings, single items. */
  async #find(staging: StagingFolder): Promise<Found> {
    const { config, signal } = this.#options;
    const client = openClient(this.#source, this.#options);
    try {
      const lookups = createLookups(client, config.lookupMethod);
      const destinations = await lookups.destinations(this.#source.destinations, signal);
      this.#recordLookups(destinations);
      this.#progress("lookups", 1, 2);
      const extraction = await this.#extract(client, staging);
      judgeAnswers(extraction, this.#journal);
      const fields = await lookups.customFields(this.#fieldNames(), signal);
      this.#recordLookups(fields);
      this.#progress("lookups", 2, 2);
      return { destinations, fields, extraction };
    } finally {
      await client.close();
    }
  }

  #progress(stage: "lookups" | "load" | "publish", done: number, total: number): void {
    this.#options.onProgress({ stage, done, total, items: this.#catalogue.size, bytes: 0 });
  }

  #recordLookups({ answered }: DestinationLookup | CustomFieldLookup): void {
    for (const { request, response } of answered) {
      const observedAt = observedAtOf(response, this.#options.clock);
      const bytes = response.body.byteLength;
      this.#journal.requests.push(recordOf(response, { mode: request.mode, observedAt, bytes }));
    }
  }

  async #extract(client: HttpClient, staging: StagingFolder): Promise<Extraction> {
    const { config, clock, signal, onProgress, threads, pipelineUrl } = this.#options;
    await using workers = new Workers(threads, pipelineUrl, {
      directory: staging.root,
      policy: config.personalData.policy,
      hashKey: hashKeyOf(config.personalData),
      aliases: config.aliases,
      limits: DECODE_LIMITS,
    });
    await mkdir(staging.temporary, { recursive: true, mode: 0o700 });
    const settings = {
      perPage: config.perPage,
      columns: columnsOf(config),
      itemColumns: itemColumnsOf(config),
      concurrency: config.concurrency,
    };
    const journal = this.#journal;
    const catalogue = this.#catalogue;
    const holdings = new Holdings(catalogue);
    const anyEnd = AbortSignal.any([signal, workers.failure]);
    return await extract(
      { client, workers, journal, catalogue, holdings, clock, signal: anyEnd, settings, onProgress },
      {
        details: config.details,
        directory: staging.root,
        raw: config.raw ? join("result", "raw") : "raw",
        temporaryDirectory: staging.temporary,
        sequence: staging.sequence,
      },
    );
  }

  /** Names of the custom fields that the items carry, and those that the configuration names. */
  #fieldNames(): Set<string> {
    const names = new Set(this.#options.config.customFields);
    for (const { attributes } of this.#journal.store.of("custom_fields")) {
      if (typeof attributes.name === "string") names.add(attributes.name);
    }
    return names;
  }

  #sharedRows({ destinations, fields }: Lookups): SharedRows {
    const { personalData } = this.#options.config;
    return sharedRows({
      store: this.#journal.store,
      destinations: destinations.destinations.filter(isObject),
      lookedUp: new Map(fields.definitions.map((definition) => [definition.id, definition])),
      personal: { policy: personalData.policy, hashKey: hashKeyOf(personalData) },
      drift: this.#journal.drift,
    });
  }

  async #build(staging: StagingFolder, found: Found): Promise<Result> {
    const { config, clock, threads, nodeVersion, signal } = this.#options;
    const { extraction } = found;
    const sweeps = extraction.sweeps.map((sweep) => sweepRecord(sweep, extraction.ids));
    const facts = {
      run: staging.run,
      sequence: staging.sequence,
      pipeline: this.#pipeline.name,
      verdict: extraction.disagreements.length === 0 ? "complete" : "unsettled",
      reasons: extraction.disagreements,
      versions: { package: VERSION, duckdb: duckdbVersion(), node: nodeVersion },
    } as const;
    const personalData = treatmentOf(config.personalData);
    const instance = { id: this.#instanceId(), origin: originOf(config) };
    assertSameInstance(this.#baseline, instance, this.#folder.root);
    const startedMs = this.#startedMs;
    const { load, tables } = this.#pipeline;
    const journal = this.#journal;
    const baseline = this.#baseline;
    const sharedRows = this.#sharedRows(found);
    judgeDrift(config, journal);
    let account: { readonly accounting: Accounting; readonly judged: Judged } | undefined;
    const assembled = await assemble({
      tables,
      parts: journal.parts,
      sharedRows,
      bounds: extraction.bounds,
      superseded: extraction.superseded,
      passthrough: this.#pipeline.passthrough,
      sequence: staging.sequence,
      directory: staging.root,
      temporaryDirectory: staging.temporary,
      database: databaseOf(staging, load),
      finalDirectory: load.includes("parquet") ? staging.result : staging.root,
      memoryLimitMb: MEMORY_LIMIT_MB,
      threads,
      drift: journal.drift.sorted(),
      signal,
      onTable: (done, total) => this.#progress("load", done, total),
      account: (loaded) => {
        const accounting = accountingOf(extraction, loaded);
        const judged = judgeTables({ config, baseline, tables, loaded, extraction, journal });
        account = { accounting, judged };
        const checks = [
          ...loaded.checks,
          ...accountingChecks(accounting),
          ...answerChecks(found, extraction),
          ...judged.checks,
        ];
        assertPassed(checks);
        return [
          runRows({
            ...facts,
            instanceUrl: instance.origin,
            startedMs,
            endedMs: clock.now(),
            accounting,
            personalData: personalData.policy,
          }),
          sweepRows(sweeps),
          requestRows(journal.requests),
          rejectRows(journal.rejects),
          driftRows(journal.drift.sorted()),
          checkRows(checks),
          tableRows(loaded, load.includes("parquet")),
          lineageRows(tables),
        ];
      },
    });
    if (account === undefined) throw new WarehouseError("internal", "The run has no account of itself.");
    const statement: Statement = {
      ...facts,
      loaders: [...load],
      reasons: [...extraction.disagreements],
      instance,
      startedAt: new Date(startedMs).toISOString(),
      endedAt: new Date(clock.now()).toISOString(),
      sweeps: sweeps.map((sweep) => ({ ...sweep })),
      rows: { ...rowCounts(assembled.tables) },
      emptyColumns: [...assembled.emptyColumns],
      configuration: configFingerprint(config),
      personalData,
      previousRun: this.#baseline.kind === "none" ? null : this.#baseline.run,
    };
    const warnings = [...warningsOf(found), ...account.judged.warnings];
    return { assembled, statement, sweeps, accounting: account.accounting, warnings };
  }

  /** The instance that the items name, if they name one alone. */
  #instanceId(): string | null {
    const [first, second] = this.#journal.store.of("instances");
    return first !== undefined && second === undefined ? first.id : null;
  }
}

function treatmentOf({ policy, key }: PersonalData): Statement["personalData"] {
  return { policy, keyId: key === null ? null : keyId(key) };
}

function hashKeyOf({ key }: PersonalData): Uint8Array | undefined {
  return key === null ? undefined : Buffer.from(key.reveal());
}
