/** One run from lock to publication. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { version as duckdbVersion } from "@duckdb/node-api";
import { type Accounting, accountingChecks } from "../audit/checks.ts";
import type { Clock } from "../clock.ts";
import { WarehouseError } from "../errors.ts";
import { CAPS, createHttpClient, type HttpClient, TIMEOUTS } from "../extract/client.ts";
import { DECODE_LIMITS } from "../extract/decode.ts";
import { type CustomFieldLookup, createLookups, type DestinationLookup } from "../extract/lookups.ts";
import { createRetry, RETRY_LIMITS } from "../extract/retry.ts";
import type { LoadedTable } from "../load/build.ts";
import { finishPublication, publishRun } from "../load/publish.ts";
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
import { assemble, assertPassed, type Loaded } from "./assemble.ts";
import { Catalogue } from "./catalogue.ts";
import { type Config, configFingerprint, keyId, type PersonalData } from "./config.ts";
import {
  createStaging,
  currentRun,
  databaseOf,
  discardLeftovers,
  nextRun,
  type OutputFolder,
  parseRunName,
  prepareOutput,
  removeStaging,
  type StagingFolder,
} from "./directory.ts";
import { type Extraction, extract } from "./extraction.ts";
import { Journal, observedAtOf, recordOf } from "./journal.ts";
import { acquireLock } from "./lock.ts";
import type { Manifest } from "./manifest.ts";
import { loadPipeline } from "./pipelines.ts";
import type { OnProgress } from "./progress.ts";
import { type OpenSource, openSource } from "./source.ts";
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
}

/** What a run did, for people and programs. */
export interface RunSummary {
  readonly run: string;
  readonly sequence: number;
  readonly pipeline: string;
  readonly verdict: "complete" | "unsettled";
  /** Why it is unsettled. */
  readonly reasons: readonly string[];
  /** Folder of the published run. */
  readonly directory: string;
  readonly accounting: Accounting;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  readonly sweeps: readonly SweepRecord[];
  readonly requests: number;
  /** Bytes of the answers as they came. */
  readonly bytesReceived: number;
  /** Bytes of the published files. */
  readonly bytesPublished: number;
  readonly drift: number;
  readonly warnings: readonly string[];
  readonly milliseconds: number;
}

/** DuckDB's buffers while the result is built. */
const MEMORY_LIMIT_MB = 512;
const KEEP_LEFTOVERS = 3;

/** Runs a pipeline and publishes its result. Errors are WarehouseErrors; then nothing was published. */
export async function runExport(options: RunOptions): Promise<RunSummary> {
  const pipeline = await loadPipeline(options.pipelineUrl);
  const folder = await prepareOutput(options.config.out);
  await using _lock = await acquireLock(folder);
  await finishPublication(folder);
  await discardLeftovers(folder, KEEP_LEFTOVERS);
  await using source = await openSource(options.config);
  return await new Run(options, pipeline, folder, source).execute();
}

class Run {
  readonly #options: RunOptions;
  readonly #pipeline: Pipeline;
  readonly #folder: OutputFolder;
  readonly #source: OpenSource;
  readonly #journal = new Journal();
  readonly #catalogue = new Catalogue();
  readonly #startedMs: number;
  readonly #startedElapsed: number;

  constructor(options: RunOptions, pipeline: Pipeline, folder: OutputFolder, source: OpenSource) {
    this.#options = options;
    this.#pipeline = pipeline;
    this.#folder = folder;
    this.#source = source;
    this.#startedMs = options.clock.now();
    this.#startedElapsed = options.clock.elapsedMs();
  }

  async execute(): Promise<RunSummary> {
    const previous = await currentRun(this.#folder);
    const name = await nextRun(this.#folder, new Date(this.#startedMs));
    const staging = await createStaging(this.#folder, name);
    try {
      const summary = await this.#export(staging, previous);
      return summary;
    } finally {
      await removeStaging(this.#folder, name);
    }
  }

  async #export(staging: StagingFolder, previous: string | undefined): Promise<RunSummary> {
    const client = this.#client();
    try {
      const lookups = createLookups(client, this.#options.config.lookupMethod);
      const destinations = await lookups.destinations(this.#source.destinations, this.#options.signal);
      this.#recordLookups(destinations);
      this.#progress("lookups", 1, 2);
      const extraction = await this.#extract(client, staging);
      const fields = await lookups.customFields(this.#fieldNames(), this.#options.signal);
      this.#recordLookups(fields);
      this.#progress("lookups", 2, 2);
      return await this.#finish(staging, previous, { destinations, fields, extraction });
    } finally {
      await client.close();
    }
  }

  /** The sample's port is another in every run, so it is not named. */
  #instanceUrl(): string {
    const { source } = this.#options.config;
    return source.kind === "sample" ? SAMPLE_ORIGIN : source.url.origin + source.url.prefix;
  }

  #client(): HttpClient {
    const { config, clock, log } = this.#options;
    return createHttpClient({
      url: this.#source.url,
      token: this.#source.token,
      connections: config.concurrency,
      timeouts: TIMEOUTS,
      caps: CAPS,
      clock,
      log,
      retry: createRetry({ clock, random: Math.random, limits: RETRY_LIMITS, deadlineMs: null, log }),
      lookup: null,
    });
  }

  #progress(stage: "lookups" | "load", done: number, total: number): void {
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
    return await extract(
      {
        client,
        workers,
        journal: this.#journal,
        catalogue: this.#catalogue,
        clock,
        signal,
        settings: {
          perPage: config.perPage,
          columns: config.columns,
          concurrency: config.concurrency,
          ratePerSecond: config.ratePerSecond ?? undefined,
        },
        onProgress,
      },
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

  #sharedRows({ destinations }: DestinationLookup, { definitions }: CustomFieldLookup): SharedRows {
    const { personalData } = this.#options.config;
    return sharedRows({
      store: this.#journal.store,
      destinations: destinations.filter(isObject),
      lookedUp: new Map(definitions.map((definition) => [definition.id, definition])),
      personal: { policy: personalData.policy, hashKey: hashKeyOf(personalData) },
      drift: this.#journal.drift,
    });
  }

  async #finish(
    staging: StagingFolder,
    previous: string | undefined,
    found: { destinations: DestinationLookup; fields: CustomFieldLookup; extraction: Extraction },
  ): Promise<RunSummary> {
    const { config, clock, threads, nodeVersion, signal } = this.#options;
    const { extraction } = found;
    const warnings = warningsOf(found.destinations, found.fields);
    const sweeps = extraction.sweeps.map((sweep) => sweepRecord(sweep, extraction.ids));
    const verdict = extraction.disagreements.length === 0 ? "complete" : "unsettled";
    const versions = { package: VERSION, duckdb: duckdbVersion(), node: nodeVersion };
    const shared = this.#sharedRows(found.destinations, found.fields);
    let accounting: Accounting | undefined;
    const assembled = await assemble({
      tables: this.#pipeline.tables,
      parts: this.#journal.parts,
      sharedRows: shared,
      bounds: extraction.bounds,
      superseded: extraction.superseded,
      passthrough: this.#pipeline.passthrough,
      sequence: staging.sequence,
      directory: staging.root,
      temporaryDirectory: staging.temporary,
      database: databaseOf(staging, this.#pipeline.load),
      finalDirectory: this.#pipeline.load.includes("parquet") ? staging.result : staging.root,
      memoryLimitMb: MEMORY_LIMIT_MB,
      threads,
      onTable: (done, total) => this.#progress("load", done, total),
      account: (loaded) => {
        const counted = this.#accounting(extraction, loaded, verdict === "complete");
        accounting = counted;
        const checks = [...loaded.checks, ...accountingChecks(counted)];
        assertPassed(checks);
        return [
          runRows({
            run: staging.run,
            sequence: staging.sequence,
            pipeline: this.#pipeline.name,
            instanceUrl: this.#instanceUrl(),
            startedMs: this.#startedMs,
            endedMs: clock.now(),
            verdict,
            reasons: extraction.disagreements,
            accounting: counted,
            personalData: config.personalData.policy,
            versions,
          }),
          sweepRows(sweeps),
          requestRows(this.#journal.requests),
          rejectRows(this.#journal.rejects),
          driftRows(this.#journal.drift.sorted()),
          checkRows(checks),
          tableRows(loaded),
          lineageRows(this.#pipeline.tables),
        ];
      },
    });
    if (accounting === undefined) throw new WarehouseError("internal", "The run has no account of itself.");
    signal.throwIfAborted();
    this.#options.onProgress({ stage: "publish", done: 0, total: 1, items: this.#catalogue.size, bytes: 0 });
    const manifest = await publishRun(this.#folder, staging, {
      run: staging.run,
      sequence: staging.sequence,
      pipeline: this.#pipeline.name,
      loaders: [...this.#pipeline.load],
      instance: { id: null, origin: this.#instanceUrl() },
      startedAt: new Date(this.#startedMs).toISOString(),
      endedAt: new Date(clock.now()).toISOString(),
      verdict,
      sweeps: sweeps.map((sweep) => ({ ...sweep })),
      rows: Object.fromEntries(assembled.tables.map(({ table, rows }) => [table, rows])),
      versions,
      configuration: configFingerprint(config),
      personalData: {
        policy: config.personalData.policy,
        keyId: config.personalData.key === null ? null : keyId(config.personalData.key),
      },
      previousRun: previous === undefined ? null : (parseRunName(previous)?.run ?? null),
    });
    return this.#summary(manifest, { tables: assembled.tables, sweeps, extraction, accounting, warnings });
  }

  #accounting(extraction: Extraction, loaded: Loaded, complete: boolean): Accounting {
    const listing = this.#journal.rejects.filter((reject) => reject.mode !== "item");
    const last = extraction.sweeps.at(-1);
    const rejected = listing.filter((reject) => reject.sweep === last?.sweep).length;
    const content = loaded.tables.find(({ table }) => table === "content");
    return {
      listed: extraction.ids.length + rejected,
      loaded: content?.rows ?? extraction.ids.length,
      rejected,
      vanished: 0,
      counted: last?.countAfter ?? 0,
      complete,
    };
  }

  #summary(
    manifest: Manifest,
    made: {
      tables: readonly LoadedTable[];
      sweeps: readonly SweepRecord[];
      extraction: Extraction;
      accounting: Accounting;
      warnings: readonly string[];
    },
  ): RunSummary {
    const { requests } = this.#journal;
    return {
      run: manifest.run,
      sequence: manifest.sequence,
      pipeline: manifest.pipeline,
      verdict: manifest.verdict,
      reasons: made.extraction.disagreements,
      directory: join(this.#folder.runs, manifest.run),
      accounting: made.accounting,
      tables: made.tables.map(({ table, rows }) => ({ name: table, rows })),
      sweeps: made.sweeps,
      requests: requests.length,
      bytesReceived: requests.reduce((sum, request) => sum + request.bytes, 0),
      bytesPublished: manifest.files.reduce((sum, file) => sum + file.bytes, 0),
      drift: this.#journal.drift.sorted().length,
      warnings: made.warnings,
      milliseconds: this.#options.clock.elapsedMs() - this.#startedElapsed,
    };
  }
}

function warningsOf(destinations: DestinationLookup, fields: CustomFieldLookup): string[] {
  return [
    ...destinations.unmatched.map(
      ({ name, platform }) =>
        `No destination "${name}" on platform "${platform}": its mapped values are missing.`,
    ),
    ...fields.unmatched.map((name) => `The service knows no custom field "${name}".`),
  ];
}

/** Stands for the embedded service with the sample content. */
const SAMPLE_ORIGIN = "sample";

function hashKeyOf({ key }: PersonalData): Uint8Array | undefined {
  return key === null ? undefined : Buffer.from(key.reveal());
}
