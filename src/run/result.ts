/** From what was found to a result that can be published, with what it states about itself. */
import { relative } from "node:path";
import { version as duckdbVersion } from "@duckdb/node-api";
import { type Accounting, accountingChecks } from "../audit/checks/checks.ts";
import { endMs } from "../common/clock.ts";
import { WarehouseError } from "../common/errors.ts";
import { type SharedRows, sharedRows } from "../transform/definitions.ts";
import { isObject } from "../raw/document.ts";
import { VERSION } from "../common/version.ts";
import {
  checkRows,
  driftRows,
  lineageRows,
  type RunFacts,
  rejectRows,
  requestRows,
  runRows,
  type SweepRecord,
  sweepRows,
  tableRows,
} from "./run-tables.ts";
import type { Found } from "./answers.ts";
import { type Assembled, assemble, assertPassed, type Loaded, type RunRows } from "../load/build-warehouse.ts";
import { assertSameInstance } from "../warehouse/baseline.ts";
import { memoryLimitMb } from "../load/range-bounds.ts";
import { configFingerprint, treatmentOf } from "../config/config.ts";
import { hashKeyOf, type RunContext, tell } from "./context.ts";
import { databaseOf } from "../warehouse/layout.ts";
import { echoCheck, echoWarnings } from "../audit/checks/echoes.ts";
import { historyChecks, historyOf, historyWarnings } from "./previous-history.ts";
import { type Judged, judgeDrift, judgeTables, rowCounts } from "../audit/checks/publish-gates.ts";
import type { Unended } from "../warehouse/manifest.ts";
import { accountingOf, answerChecks, singlesWarnings } from "./summary.ts";
import { originOf } from "./source.ts";
import { type Lookups, type Matching, matchChecks, matchWarnings, noMappedValues } from "../audit/checks/unmatched.ts";

/** A result that can be published. */
export interface Result {
  readonly assembled: Assembled;
  readonly statement: Unended;
  readonly sweeps: readonly SweepRecord[];
  readonly accounting: Accounting;
  readonly warnings: readonly string[];
  /** Why the configured destinations have no mapped values; null: they have, or there are none. */
  readonly noMappedValues: string | null;
}

/** What can be done beside the building of a result. */
export interface Meanwhile {
  /** Called when the database is at work, and this thread has time. */
  readonly onLoading: () => void;
  /** Called with files that nobody writes any more, as paths below the result. */
  readonly onFinished: (paths: readonly string[]) => void;
}

/** Throws what keeps a run from being published: `verify.failed`, `contract.drift`, `guard.shrink`, and others. */
export async function buildResult(run: RunContext, found: Found, meanwhile: Meanwhile): Promise<Result> {
  return new Build(run, found).result(meanwhile);
}

interface Account {
  readonly matching: Matching;
  readonly accounting: Accounting;
  readonly judged: Judged;
}

type Facts = Pick<RunFacts, "run" | "sequence" | "pipeline" | "verdict" | "reasons" | "versions">;

class Build {
  readonly #run: RunContext;
  readonly #found: Found;
  readonly #facts: Facts;

  constructor(run: RunContext, found: Found) {
    const { extraction } = found;
    this.#run = run;
    this.#found = found;
    this.#facts = {
      run: run.staging.run,
      sequence: run.staging.sequence,
      pipeline: run.pipeline.name,
      verdict: extraction.disagreements.length === 0 ? "complete" : "unsettled",
      reasons: extraction.disagreements,
      versions: { package: VERSION, duckdb: duckdbVersion(), node: run.options.nodeVersion },
    };
  }

  async result({ onLoading, onFinished }: Meanwhile): Promise<Result> {
    const { options, baseline, folder, journal, pipeline, staging } = this.#run;
    const { extraction } = this.#found;
    assertSameInstance(baseline, this.#instance(), folder.root);
    const sharedRows = this.#sharedRows();
    judgeDrift(options.config, journal);
    let account: Account | undefined;
    const assembled = await assemble({
      tables: pipeline.tables,
      parts: journal.parts,
      stagedBytes: journal.stagedBytes,
      sharedRows,
      bounds: extraction.bounds,
      superseded: extraction.superseded,
      passthrough: pipeline.passthrough,
      sequence: staging.sequence,
      directory: staging.root,
      temporaryDirectory: staging.temporary,
      database: databaseOf(staging, pipeline.load),
      finalDirectory: pipeline.load.includes("parquet") ? staging.result : staging.root,
      memoryLimitMb: memoryLimitMb(extraction.vectorBytes),
      drift: journal.drift.sorted(),
      signal: options.signal,
      history: historyOf(this.#run, extraction),
      onTable: (done, total) => {
        tell(this.#run, "load", done, total);
        if (done === 0) onLoading();
      },
      account: (loaded) => {
        account = this.#account(loaded);
        onFinished(this.#finishedFiles(loaded));
        return this.#ownRows(loaded, account);
      },
    });
    if (account === undefined) throw new WarehouseError("internal", "The run has no account of itself.");
    const { accounting, judged, matching } = account;
    const warnings = [
      ...matchWarnings(matching),
      ...echoWarnings(this.#run.journal.drift.sorted()),
      ...singlesWarnings(extraction),
      ...this.#pageWarnings(),
      ...judged.warnings,
      ...historyWarnings(this.#run.history),
    ];
    return {
      assembled,
      statement: this.#statement(assembled, accounting),
      sweeps: extraction.sweeps,
      accounting,
      warnings,
      noMappedValues: noMappedValues(matching),
    };
  }

  #pageWarnings(): string[] {
    const { perPage: asked } = this.#run.options.config;
    const { dynamic = 1, full = dynamic, basic = full } = this.#found.extraction.pageSizes;
    const perPage = Math.min(dynamic, full, basic);
    if (asked === "auto" || perPage >= asked) return [];
    return [`Pages of ${asked} items were too large to be read: set perPage to ${perPage}, which was used.`];
  }

  /** Of the result: raw documents, and all tables but those of the run's own account. */
  #finishedFiles({ tables }: Loaded): string[] {
    const { options, pipeline, staging } = this.#run;
    const { rawFiles } = this.#found.extraction;
    return [
      ...(pipeline.load.includes("parquet")
        ? tables.flatMap(({ files }) => files.map(({ path }) => path))
        : []),
      ...(options.config.raw ? rawFiles.map((file) => relative(staging.result, file)) : []),
    ];
  }

  #sharedRows(): SharedRows {
    const { options, journal } = this.#run;
    const { destinations, fields }: Lookups = this.#found;
    const { personalData } = options.config;
    return sharedRows({
      store: journal.store,
      destinations: destinations.destinations.filter(isObject),
      lookedUp: new Map(fields.definitions.map((definition) => [definition.id, definition])),
      personal: { policy: personalData.policy, hashKey: hashKeyOf(personalData) },
      drift: journal.drift,
    });
  }

  #account(loaded: Loaded): Account {
    const { options, baseline, pipeline, journal } = this.#run;
    const { extraction } = this.#found;
    const { tables } = pipeline;
    const accounting = accountingOf(extraction, loaded);
    const judged = judgeTables({ config: options.config, baseline, tables, loaded, extraction, journal });
    return { accounting, judged, matching: this.#matching(loaded) };
  }

  #matching(loaded: Loaded): Matching {
    const { options, source, journal } = this.#run;
    const { destinations, fields } = this.#found;
    const named = [...journal.store.of("custom_fields")].map(({ attributes }) => attributes.name);
    return {
      config: options.config,
      wanted: source.destinations,
      destinations,
      fields,
      fieldNames: named.filter((name) => typeof name === "string"),
      rows: rowCounts(loaded.tables),
    };
  }

  /** Rows of the run's own tables. Throws where a check failed. */
  #ownRows(loaded: Loaded, { accounting, judged, matching }: Account): RunRows[] {
    const { options, pipeline, journal, beginning } = this.#run;
    const { extraction } = this.#found;
    const checks = [
      ...loaded.checks,
      ...accountingChecks(accounting),
      ...matchChecks(matching),
      ...answerChecks(extraction),
      echoCheck(journal.drift.sorted()),
      ...judged.checks,
      ...historyChecks(this.#run.history, pipeline),
    ];
    assertPassed(checks);
    return [
      runRows({
        ...this.#facts,
        instanceUrl: originOf(options.config),
        startedMs: beginning.startedMs,
        endedMs: endMs(beginning.startedMs, options.clock),
        accounting,
        personalData: options.config.personalData.policy,
      }),
      sweepRows(extraction.sweeps),
      requestRows(journal.requests),
      rejectRows(journal.rejects),
      driftRows(journal.drift.sorted()),
      checkRows(checks),
      tableRows(loaded, pipeline.load.includes("parquet")),
      lineageRows(pipeline.tables),
    ];
  }

  #statement(assembled: Assembled, { listed, loaded, rejected, vanished, unread }: Accounting): Unended {
    const { options, pipeline, baseline, beginning, throttle } = this.#run;
    const { config } = options;
    const ratePerSecond = throttle.learned?.ratePerSecond ?? null;
    const { resumedMs, startedMs } = beginning;
    return {
      ...this.#facts,
      loaders: [...pipeline.load],
      reasons: [...this.#facts.reasons],
      instance: this.#instance(),
      startedAt: new Date(startedMs).toISOString(),
      sweeps: this.#found.extraction.sweeps.map((sweep) => ({ ...sweep })),
      items: { listed, loaded, rejected, vanished, unread },
      rows: { ...rowCounts(assembled.tables) },
      emptyColumns: [...assembled.emptyColumns],
      configuration: configFingerprint(config),
      personalData: treatmentOf(config.personalData),
      ...(resumedMs.length > 0 ? { resumedAt: resumedMs.map((ms) => new Date(ms).toISOString()) } : {}),
      ...(config.perPage === "auto" ? { pageSizes: this.#found.extraction.pageSizes } : {}),
      ...(ratePerSecond === null ? {} : { ratePerSecond }),
      previousRun: baseline.kind === "none" ? null : baseline.run,
    };
  }

  /** The instance that the items name, if they name one alone. */
  #instance(): { readonly id: string | null; readonly origin: string } {
    const [first, second] = this.#run.journal.store.of("instances");
    const id = first !== undefined && second === undefined ? first.id : null;
    return { id, origin: originOf(this.#run.options.config) };
  }
}
