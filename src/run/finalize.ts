/** From what was found to a result that can be published, with what it states about itself. */
import { version as duckdbVersion } from "@duckdb/node-api";
import { type Accounting, accountingChecks, assertPassed, type Judged } from "../audit/checks/checks.ts";
import { judgeEchoes } from "../audit/checks/echoes.ts";
import { inspect, type Loaded } from "../audit/checks/inspect.ts";
import { judgeDrift, judgeTables, rowCounts } from "../audit/checks/publish-gates.ts";
import { type JudgedMatching, judgeMatching, type Matching } from "../audit/checks/unmatched.ts";
import { endMs } from "../common/clock.ts";
import { VERSION } from "../common/version.ts";
import { configFingerprint, treatmentOf } from "../config/config.ts";
import type { PassRecord } from "../extract/passes/pass-record.ts";
import { type BuildRequest, type RunRows, WarehouseBuild } from "../load/build-warehouse.ts";
import type { LoadedTable } from "../load/load-table.ts";
import { publishes } from "../pipeline.ts";
import { assertSameInstance } from "../warehouse/baseline.ts";
import type { ManifestDraft } from "../warehouse/manifest.ts";
import { buildRequest } from "./build-request.ts";
import type { RunContext } from "./context.ts";
import { historyChecks, historyWarnings } from "./previous-history.ts";
import type { Extracted } from "./run-extraction.ts";
import {
  checkRows,
  driftRows,
  lineageRows,
  passRows,
  type RunFacts,
  rejectRows,
  requestRows,
  runRows,
  tableRows,
} from "./run-tables.ts";
import type { RunTransformed } from "./run-transform.ts";
import { originOf } from "./source.ts";
import { accountingOf, answerChecks, singlesWarnings } from "./summary.ts";

/** A result that can be published. */
export interface Result {
  readonly tables: readonly LoadedTable[];
  readonly statement: ManifestDraft;
  readonly passes: readonly PassRecord[];
  readonly accounting: Accounting;
  readonly warnings: readonly string[];
  /** Why the configured destinations have no mapped values; null: they have, or there are none. */
  readonly noMappedValues: string | null;
}

/**
 * Builds the tables and checks them. Throws what keeps a run from being published: `verify.failed`, `contract.drift`,
 * `guard.shrink`, and others.
 */
export async function buildResult(
  run: RunContext,
  extracted: Extracted,
  transformed: RunTransformed,
): Promise<Result> {
  return new Build(run, extracted, transformed).result();
}

interface Account {
  readonly accounting: Accounting;
  readonly judged: Judged;
  readonly matching: JudgedMatching;
  readonly echoes: Judged;
}

type Facts = Pick<RunFacts, "run" | "sequence" | "pipeline" | "verdict" | "reasons" | "versions">;

class Build {
  readonly #run: RunContext;
  readonly #extracted: Extracted;
  readonly #transformed: RunTransformed;
  readonly #facts: Facts;

  constructor(run: RunContext, extracted: Extracted, transformed: RunTransformed) {
    const { extraction } = extracted;
    this.#run = run;
    this.#extracted = extracted;
    this.#transformed = transformed;
    this.#facts = {
      run: run.staging.run,
      sequence: run.staging.sequence,
      pipeline: run.pipeline.name,
      verdict: extraction.disagreements.length === 0 ? "complete" : "unsettled",
      reasons: extraction.disagreements,
      versions: { package: VERSION, duckdb: duckdbVersion(), node: run.options.nodeVersion },
    };
  }

  async result(): Promise<Result> {
    const { baseline, folder, journal, options, pipeline } = this.#run;
    assertSameInstance(baseline, this.#instance(), folder.root);
    const request = this.#request();
    judgeDrift(options.config, journal);
    await using build = await WarehouseBuild.open(request);
    const loaded = await inspect(build, {
      tables: pipeline.tables,
      loaded: await build.loadData(),
      directory: request.finalDirectory,
      drift: journal.drift.sorted(),
    });
    const account = this.#account(loaded);
    const own: LoadedTable[] = [];
    for (const rows of this.#runRows(loaded, account)) own.push(await build.loadRows(rows));
    await build.finish();
    return this.#result([...loaded.tables, ...own], loaded, account);
  }

  #request(): BuildRequest {
    const { options, journal } = this.#run;
    const { record, rawLookups } = this.#extracted;
    return buildRequest({
      ...this.#run,
      transformed: this.#transformed,
      lookups: rawLookups(),
      record,
      drift: journal.drift,
      signal: options.signal,
      onTable: (done, total) =>
        options.onProgress({ stage: "load", done, total, items: journal.items, bytes: 0 }),
    });
  }

  #result(tables: readonly LoadedTable[], loaded: Loaded, account: Account): Result {
    const { history } = this.#run;
    const { accounting, judged, matching, echoes } = account;
    const { extraction } = this.#extracted;
    return {
      tables,
      statement: this.#statement(tables, loaded, accounting),
      passes: extraction.passes,
      accounting,
      warnings: [
        ...matching.warnings,
        ...echoes.warnings,
        ...singlesWarnings(extraction),
        ...this.#pageWarnings(),
        ...judged.warnings,
        ...historyWarnings(history),
      ],
      noMappedValues: matching.noMappedValues,
    };
  }

  #pageWarnings(): string[] {
    const { perPage: asked } = this.#run.options.config;
    const { dynamic = 1, full = dynamic, basic = full } = this.#extracted.extraction.pageSizes;
    const perPage = Math.min(dynamic, full, basic);
    if (asked === "auto" || perPage >= asked) return [];
    return [`Pages of ${asked} items were too large to be read: set perPage to ${perPage}, which was used.`];
  }

  #account(loaded: Loaded): Account {
    const { options, baseline, pipeline, journal } = this.#run;
    const { extraction } = this.#extracted;
    const { tables } = pipeline;
    const accounting = accountingOf(extraction, loaded);
    const judged = judgeTables({ config: options.config, baseline, tables, loaded, extraction });
    const matching = judgeMatching(this.#matching(loaded));
    return { accounting, judged, matching, echoes: judgeEchoes(journal.drift.sorted()) };
  }

  #matching(loaded: Loaded): Matching {
    const { options, source } = this.#run;
    const { destinations, fields } = this.#extracted;
    const named = [...this.#transformed.store.of("custom_fields")].map(({ attributes }) => attributes.name);
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
  #runRows(loaded: Loaded, { accounting, judged, matching, echoes }: Account): RunRows[] {
    const { options, pipeline, journal, beginning } = this.#run;
    const { extraction } = this.#extracted;
    const checks = [
      ...loaded.checks,
      ...accountingChecks(accounting),
      ...matching.checks,
      ...answerChecks(extraction),
      ...echoes.checks,
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
      passRows(extraction.passes),
      requestRows(journal.requests),
      rejectRows(journal.rejects),
      driftRows(journal.drift.sorted()),
      checkRows(checks),
      tableRows(loaded, publishes(pipeline, "parquet")),
      lineageRows(pipeline.tables),
    ];
  }

  #statement(
    tables: readonly LoadedTable[],
    loadedData: Loaded,
    { listed, loaded, rejected, vanished, unread }: Accounting,
  ): ManifestDraft {
    const { options, pipeline, baseline, beginning, throttle } = this.#run;
    const { config } = options;
    const ratePerSecond = throttle.learned?.ratePerSecond ?? null;
    const { resumedMs, startedMs } = beginning;
    return {
      ...this.#facts,
      loaders: pipeline.loaders.flatMap(({ publishes: what }) => what ?? []),
      reasons: [...this.#facts.reasons],
      instance: this.#instance(),
      startedAt: new Date(startedMs).toISOString(),
      passes: this.#extracted.extraction.passes.map((pass) => ({ ...pass })),
      items: { listed, loaded, rejected, vanished, unread },
      rows: { ...rowCounts(tables) },
      emptyColumns: [...loadedData.emptyColumns],
      configuration: configFingerprint(config),
      personalData: treatmentOf(config.personalData),
      ...(resumedMs.length > 0 ? { resumedAt: resumedMs.map((ms) => new Date(ms).toISOString()) } : {}),
      ...(config.perPage === "auto" ? { pageSizes: this.#extracted.extraction.pageSizes } : {}),
      ...(ratePerSecond === null ? {} : { ratePerSecond }),
      previousRun: baseline.kind === "none" ? null : baseline.run,
    };
  }

  /** The instance that the items name, if they name one alone. */
  #instance(): { readonly id: string | null; readonly origin: string } {
    const [first, second] = this.#transformed.store.of("instances");
    const id = first !== undefined && second === undefined ? first.id : null;
    return { id, origin: originOf(this.#run.options.config) };
  }
}
