/** Transforms all items of a run, on several threads if there are many. */
import { extname } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { OnProgress } from "../common/progress.ts";
import { ThreadPool } from "../common/threads/threads.ts";
import { WorkQueue } from "../common/threads/work-queue.ts";
import type { Pipeline } from "../pipeline.ts";
import { Drift } from "../raw/drift.ts";
import { type ItemGroup, planGroups, type RegroupRequest, regroup } from "../raw/groups.ts";
import type { StagedPart } from "../storage/parquet-file.ts";
import type { Table } from "../tables/declare.ts";
import { EntityStore } from "./entity-store.ts";
import { GroupTransformer, type TransformerConfig, type TransformOutput } from "./transform-group.ts";

const MODULE = new URL(`./transform-group.worker${extname(import.meta.url)}`, import.meta.url);

export interface TransformSetup extends TransformerConfig {
  readonly tables: readonly Table[];
  /** Module whose default export is the pipeline; `undefined` if no table has a function. */
  readonly pipelineUrl: string | undefined;
}

/** `flush` writes all rows in memory. */
export type TransformTask = (ItemGroup & { readonly kind: "group" }) | { readonly kind: "flush" };

interface TransformRequest extends Omit<RegroupRequest, "items"> {
  readonly pipeline: Pick<Pipeline, "tables" | "rows">;
  /** Module of the pipeline; `undefined` if functions of its tables run on this thread. */
  readonly pipelineUrl: string | undefined;
  readonly threads: number;
  /** Whether an item was removed, so that its documents do not count. */
  readonly isLeftOut: (item: number) => boolean;
  /** Folder of the staged parts. */
  readonly parts: string;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
}

/** Throws `config.invalid` for errors of custom tables, and errors of the disk. */
export async function transformItems(request: TransformRequest) {
  const { index, isLeftOut } = request;
  await using pool = transformers(request);
  const signal = AbortSignal.any([request.signal, pool.failure]);
  const total = index.items.size;
  let items = 0;
  const transform = async (group: ItemGroup): Promise<void> => {
    signal.throwIfAborted();
    items += await pool.transform(group);
    request.onProgress({ stage: "transform", done: items, total, items, bytes: 0 });
  };
  const queue = new WorkQueue(pool.size, signal);
  const plan = planGroups(index, isLeftOut);
  let step = plan.next();
  for (; step.done !== true; step = plan.next()) {
    const group = step.value;
    await queue.add(() => transform(group));
  }
  await queue.done();
  await regroup({ ...request, items: step.value }, transform);
  return together(await pool.flush());
}

/** Number of documents that take as long as the start of a thread, roughly. */
const DOCUMENTS_PER_THREAD = 2000;

/** Threads as the number of documents needs, or this thread if they are few or a function cannot be sent to a thread. */
function transformers(request: TransformRequest): TransformerPool {
  const { pipeline, pipelineUrl, index, parts: directory } = request;
  const { tables, rows } = pipeline;
  const hasFunctions = Object.keys(rows).length > 0;
  const threads = Math.min(request.threads, Math.ceil(index.size / DOCUMENTS_PER_THREAD));
  if (hasFunctions ? pipelineUrl === undefined : index.size <= DOCUMENTS_PER_THREAD)
    return onThisThread(new GroupTransformer(pipeline, { directory, thread: 0 }));
  return new TransformThreads({
    module: MODULE,
    threads,
    setup: (thread): TransformSetup => ({ tables, pipelineUrl, directory, thread }),
  });
}

/** `size`: number of groups that are transformed at a time. */
type TransformerPool = Pick<TransformThreads, "size" | "failure" | "transform" | "flush"> & AsyncDisposable;

class TransformThreads extends ThreadPool<TransformTask, { group: number; flush: TransformOutput }> {
  /** Returns the number of items. */
  async transform(group: ItemGroup): Promise<number> {
    return this.askAny({ ...group, kind: "group" }, [group.documents.buffer]);
  }

  async flush(): Promise<TransformOutput[]> {
    return this.askAll({ kind: "flush" });
  }
}

function onThisThread(transformer: GroupTransformer): TransformerPool {
  return {
    size: 1,
    failure: new AbortController().signal,
    transform: async (group) => {
      // Lets other work of this thread run between groups.
      await setImmediate();
      return transformer.group(group);
    },
    flush: async () => [transformer.flush()],
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Parts and their bytes, roughly, by table; entities; drift, and the number of items with each. */
function together(results: readonly TransformOutput[]) {
  const parts = new Map<string, StagedPart[]>();
  const stagedBytes = new Map<string, number>();
  const store = new EntityStore();
  const drift = new Drift();
  for (const result of results) {
    for (const { table, part, bytes } of result.parts) {
      stagedBytes.set(table, (stagedBytes.get(table) ?? 0) + bytes);
      parts.set(table, [...(parts.get(table) ?? []), part]);
    }
    for (const version of result.versions) store.add(version);
    for (const entry of result.drift) drift.add(entry);
  }
  const driftItems = results.flatMap((result) => result.driftItems);
  return { parts, stagedBytes, store, drift: drift.take(), driftItems };
}
