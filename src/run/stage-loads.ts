/** Stages a run with the loaders that write elsewhere, and commits once it is published. */
import { join } from "node:path";
import { withGrace } from "../common/clock.ts";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { isObject } from "../common/json.ts";
import { clauseOf, printable } from "../common/printable.ts";
import type { TableFiles } from "../load/load-table.ts";
import { openLoaderTable, TableReadError } from "../load/loader-tables.ts";
import { type Loader, type LoadRun, type Pipeline, publishes, type StagedLoad } from "../pipeline.ts";
import { RUN_TABLES } from "../tables/all.ts";
import { locationOf } from "../transform/custom-tables.ts";
import type { StagingFolder } from "../warehouse/layout.ts";

/** What loaders have staged. */
export class StagedLoads implements AsyncDisposable {
  readonly #loaders: readonly Loader[];
  readonly #staged: { readonly name: string; readonly load: StagedLoad }[] = [];

  constructor(loaders: readonly Loader[]) {
    this.#loaders = loaders;
  }

  /**
   * Stages the run with each loader. Throws `load.failed` for any error of a loader, `disk.io` if a table cannot be
   * read, and the reason of the signal.
   */
  async stage(
    run: Pick<LoadRun, "signal"> & { readonly pipeline: Pipeline; readonly staging: StagingFolder },
    tables: readonly TableFiles[],
    verdict: LoadRun["verdict"],
  ): Promise<void> {
    const { pipeline, staging, signal } = run;
    const shared = {
      run: staging.run,
      sequence: staging.sequence,
      pipeline: pipeline.name,
      verdict,
      tables: tablesOf(pipeline, staging, tables),
      signal,
    };
    for (const loader of this.#loaders) {
      if (loader.stage === undefined) continue;
      signal.throwIfAborted();
      this.#staged.push({ name: loader.name, load: await stageWith(loader, shared) });
    }
  }

  /**
   * Commits in the order of the loaders, after publication. Returns the failure of the first that fails; the run
   * stays published.
   */
  async commit(): Promise<WarehouseError | null> {
    for (let next = this.#staged[0]; next !== undefined; next = this.#staged[0]) {
      const { name, load } = next;
      try {
        await load.commit();
      } catch (thrown) {
        // No error of a loader makes the run doubtful or resumable.
        const so = 'the run stays published in the warehouse folder: run "content-warehouse run" again';
        return loadError(name, "cannot make the run visible", reasonOf(thrown), so, thrown);
      }
      this.#staged.shift();
    }
    return null;
  }

  /** Aborts loads that were not committed. Errors are ignored, because they would hide another one. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { load } of this.#staged.splice(0)) await takeBack(load);
  }
}

/** Does not wait for a loader that ignores the signal. What it stages later is aborted. */
async function stageWith(loader: Loader, run: LoadRun): Promise<StagedLoad> {
  const work = (async () => loader.stage?.(run))();
  const failed = (why: string, cause?: unknown) =>
    loadError(loader.name, "cannot stage the run", why, "nothing was published", cause);
  let load: unknown;
  try {
    load = await withGrace(work, run.signal, 0);
  } catch (thrown) {
    work.then(takeBack, () => {});
    run.signal.throwIfAborted();
    throw thrown instanceof TableReadError ? thrown : failed(reasonOf(thrown), thrown);
  }
  if (isObject(load) && typeof load.commit === "function" && typeof load.abort === "function")
    return load as unknown as StagedLoad;
  await takeBack(load);
  throw failed("its stage() must return an object with commit and abort");
}

async function takeBack(load: unknown): Promise<void> {
  try {
    if (isObject(load) && typeof load.abort === "function") await load.abort();
  } catch {
    // No reader looks at what is left.
  }
}

/** The message of a loader's error, and its place in the user's files. */
function reasonOf(thrown: unknown): string {
  return clauseOf(thrown instanceof Error ? thrown : asWarehouseError(thrown)) + locationOf(thrown);
}

function loadError(name: string, what: string, why: string, so: string, cause?: unknown): WarehouseError {
  return new WarehouseError("load.failed", `The loader ${printable(name)} ${what}: ${why}; ${so}.`, {
    cause,
  });
}

function tablesOf(pipeline: Pipeline, staging: StagingFolder, tables: readonly TableFiles[]) {
  const folder = publishes(pipeline, "parquet") ? staging.result : staging.root;
  const declared = new Map([...pipeline.tables, ...RUN_TABLES].map((table) => [table.name, table]));
  return tables.flatMap(({ table: name, rows, files: paths }) => {
    const table = declared.get(name);
    const files = paths.map(({ path }) => join(folder, path));
    return table === undefined
      ? []
      : openLoaderTable({ table, rows, files, temporaryDirectory: staging.temporary });
  });
}
