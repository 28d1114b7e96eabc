/** The transform of a run: the raw documents that count in, parts of every item table out. */
import { extname } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { OnProgress } from "../common/progress.ts";
import { ThreadPool } from "../common/threads/thread-pool.ts";
import { WorkQueue } from "../common/threads/work-queue.ts";
import type { Pipeline } from "../pipeline.ts";
import { Drift, type DriftEntry, type DriftItemCount } from "../raw/drift.ts";
import { type ItemGroup, planGroups } from "../raw/groups.ts";
import { type RegroupRequest, regroup } from "../raw/regroup.ts";
import type { StagedPart } from "../storage/parquet-file.ts";
import type { Table } from "../tables/declare.ts";
import { EntityStore } from "./entity-store.ts";
import { GroupTransformer, type TransformerConfig, type TransformOutput } from "./transform-group.ts";

const MODULE = new URL(`./transform-group.worker${extname(import.meta.url)}`, import.meta.url);

export interface TransformSetup extends TransformerConfig {
  readonly tables: readonly Table[];
  /** Module whose default export is the pipeline; undefined: no table has a function. */
  readonly pipelineUrl: string | undefined;
}

/** `flush` writes out the rows that are held. */
export type TransformTask = (ItemGroup & { readonly kind: "group" }) | { readonly kind: "flush" };

interface TransformRequest extends Omit<RegroupRequest, "items"> {
  readonly pipeline: Pick<Pipeline, "tables" | "rows">;
  /** Its module; undefined: functions of its tables run on this thread. */
  readonly pipelineUrl: string | undefined;
  readonly threads: number;
  /** Whether the documents of an item do not count, whatever they are: it is gone. */
  readonly isLeftOut: (item: number) => boolean;
  /** Folder of the staged parts. */
  readonly parts: string;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
}

export interface TransformResult {
  /** Staged parts by table. */
  readonly parts: ReadonlyMap<string, readonly StagedPart[]>;
  /** Bytes of its staged parts, roughly, by table. */
  readonly stagedBytes: ReadonlyMap<string, number>;
  readonly store: EntityStore;
  readonly drift: readonly DriftEntry[];
  /** Items in which it was found. */
  readonly driftItems: readonly DriftItemCount[];
}

/** Errors: those of a user's table (`config.invalid`), and of the disk. */
export async function transformItems(request: TransformRequest): Promise<TransformResult> {
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

/** A thread takes as long to start as so many documents take to transform, roughly. */
const DOCUMENTS_PER_THREAD = 2000;

/** As many threads as there is work for; this one where that is too little, or functions would have to cross. */
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

/** `size`: how many groups can be under way. */
type TransformerPool = Pick<TransformThreads, "size" | "failure" | "transform" | "flush"> & AsyncDisposable;

class TransformThreads extends ThreadPool<TransformTask, { group: number; flush: TransformOutput }> {
  /** Gives the number of items. */
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
      // Others have their turn between groups.
      await setImmediate();
      return transformer.group(group);
    },
    flush: async () => [transformer.flush()],
    [Symbol.asyncDispose]: async () => {},
  };
}

function together(results: readonly TransformOutput[]): TransformResult {
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
