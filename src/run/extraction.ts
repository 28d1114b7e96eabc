/**
 * From requests to staged parts: the dynamic listing, single items, the full listing with its items paired and
 * transformed on the way; where passes differ, single items and basic passes; then what could not be paired on the way.
 */
import type { Bounds } from "../load/buckets.ts";
import { bucketBounds } from "./bucket-bounds.ts";
import type { Holdings } from "./catalogue.ts";
import { type CertifyPorts, certify, type SweepMode } from "./certify.ts";
import { type Checkpoint, type Stage, SWEEP_OF } from "./checkpoint.ts";
import type { ListedGroup, SingleGroup } from "./checkpoint-form.ts";
import { type Details, readDetails, Wanted } from "./details.ts";
import type { Kept } from "./kept.ts";
import { RawFiles } from "./raw-files.ts";
import { regroup } from "./regroup.ts";
import { repair } from "./repair.ts";
import { type ReadGroup, runSweep, type Sweep, type SweepContext } from "./sweep.ts";
import type { GroupResult } from "./tasks.ts";

export interface ExtractionOptions {
  readonly details: Details;
  /** The run's staging folder. */
  readonly directory: string;
  /** Folder of the raw files, below `directory`. */
  readonly raw: string;
  readonly temporaryDirectory: string;
  readonly sequence: number;
  /** What was read before the run was taken up. */
  readonly kept: Kept;
  /** Where it is kept what is read. */
  readonly checkpoint: Checkpoint;
}

export interface Extraction {
  readonly sweeps: readonly Sweep[];
  /** All item IDs that any pass listed, ascending. */
  readonly ids: readonly string[];
  readonly bounds: Bounds;
  /** Items that were transformed more than once: their latest generation counts. */
  readonly superseded: ReadonlyMap<string, number>;
  /** Items that were asked for singly. */
  readonly detailsWanted: number;
  /** Of these, how many the service said are gone. */
  readonly detailsGone: number;
  /** And how many could not be had: each is a reject. */
  readonly detailsRejected: number;
  /** Items that were asked for singly in both shapes, because passes differed. */
  readonly repaired: number;
  /** Items that were listed and are gone, by the word of a single-item request. */
  readonly vanished: number;
  /** Why the run is unsettled; empty: it is complete. */
  readonly disagreements: readonly string[];
}

export async function extract(context: SweepContext, options: ExtractionOptions): Promise<Extraction> {
  const extractor = new Extractor(context, options);
  const { sweeps, disagreements } = await certify<Sweep>(extractor);
  return extractor.finish(sweeps, disagreements);
}

class Extractor implements CertifyPorts<Sweep> {
  readonly holdings: Holdings;
  readonly #context: SweepContext;
  readonly #options: ExtractionOptions;
  readonly #raw: RawFiles;
  readonly #wanted: Wanted;
  readonly #transformed = new Transformed();
  readonly #repaired = new Set<string>();
  #details = { gone: 0, rejected: 0 };
  #pagesPerGroup: number | undefined;
  /** The latest dynamic pass: the full one is paired with its documents. */
  #dynamicSweep = 0;

  constructor(context: SweepContext, options: ExtractionOptions) {
    this.#context = context;
    this.#options = options;
    this.#raw = new RawFiles({ ...options, folder: options.raw });
    this.#wanted = new Wanted(options.details);
    this.holdings = context.holdings;
  }

  async sweep(sweep: number, mode: SweepMode): Promise<Sweep> {
    switch (mode) {
      case "dynamic":
        return this.#dynamic(sweep);
      case "full":
        return this.#full(sweep);
      case "basic":
        return runSweep(this.#context, sweep, "basic", undefined);
    }
  }

  async repair(sweep: number, ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#repaired.add(id);
    await repair(this.#context, sweep, ids, async (group) => {
      await this.#write("item", sweep, group);
    });
  }

  /** Has a group written by its thread. */
  async #write(
    mode: Stage,
    sweep: number,
    group: number,
    pairWith?: readonly string[],
  ): Promise<GroupResult> {
    const { workers, journal } = this.#context;
    const rawFile = this.#raw.name(mode, sweep, group);
    const result = await workers.close({ kind: "close", sweep, group, rawFile, pairWith });
    journal.takeDrift(result.drift);
    this.#transformed.add(result.transformed);
    return result;
  }

  /** Takes over a group that was written before. */
  #reopen(stage: Stage, group: number, { drift }: ListedGroup | SingleGroup): string {
    this.#context.journal.takeDrift(drift);
    return this.#raw.name(stage, SWEEP_OF[stage], group);
  }

  async #dynamic(sweep: number): Promise<Sweep> {
    const kept = sweep === SWEEP_OF.dynamic ? this.#options.kept.dynamic : undefined;
    const pass = await runSweep(this.#context, sweep, "dynamic", {
      pagesPerGroup: undefined,
      kept,
      closeGroup: async (group, read) => {
        await this.#save("dynamic", sweep, group, read, await this.#write("dynamic", sweep, group));
      },
      reopenGroup: async (group, read) => {
        this.#reopen("dynamic", group, read);
      },
      onItem: (item) => {
        this.holdings.hold("dynamic", item.id, item.updatedAt);
        this.#wanted.note(item);
      },
    });
    this.#pagesPerGroup = pass.pagesPerGroup;
    this.#dynamicSweep = sweep;
    this.holdings.forget("dynamic", pass.sightings.repeated);
    await this.#end("dynamic", pass);
    await this.#readDetails(sweep);
    return pass;
  }

  async #readDetails(sweep: number): Promise<void> {
    const { kept, checkpoint } = this.#options;
    const first = sweep === SWEEP_OF.item;
    let groups = 0;
    this.#details = await readDetails(this.#context, sweep, this.#wanted, {
      kept: async (group) => (first ? kept.singles(group) : undefined),
      closeGroup: async (group, answers) => {
        const { file, drift } = await this.#write("item", sweep, group);
        groups += 1;
        if (first) await checkpoint.single(group, { file: file ?? null, drift, answers });
      },
      reopenGroup: (group, single) => {
        this.#reopen("item", group, single);
        groups += 1;
      },
    });
    if (first) await checkpoint.end("item", { groups, endedMs: this.#context.clock.now() });
  }

  async #full(sweep: number): Promise<Sweep> {
    const kept = sweep === SWEEP_OF.full ? this.#options.kept.full : undefined;
    const pass = await runSweep(this.#context, sweep, "full", {
      pagesPerGroup: this.#pagesPerGroup,
      kept,
      closeGroup: async (group, read) => {
        const result = await this.#write("full", sweep, group, this.#pairedWith(group));
        await this.#save("full", sweep, group, read, result);
      },
      reopenGroup: async (group, read) => {
        const rawFile = this.#reopen("full", group, read);
        if (read.file === null) return;
        const task = { kind: "pair", group, rawFile, pairWith: this.#pairedWith(group) } as const;
        this.#transformed.add((await this.#context.workers.pair(task)).transformed);
      },
      onItem: (item) => this.holdings.hold("full", item.id, item.updatedAt),
    });
    this.holdings.forget("full", pass.sightings.repeated);
    await this.#end("full", pass);
    return pass;
  }

  /** Where the other views of a group's items are likely to be. */
  #pairedWith(group: number): string[] {
    const raw = this.#raw;
    const sweep = this.#dynamicSweep;
    return raw.existing([raw.name("dynamic", sweep, group), raw.name("item", sweep, group)]);
  }

  async #save(
    stage: "dynamic" | "full",
    sweep: number,
    group: number,
    read: ReadGroup,
    { file, drift }: GroupResult,
  ): Promise<void> {
    if (sweep !== SWEEP_OF[stage]) return;
    await this.#options.checkpoint.listed(stage, group, { ...read, file: file ?? null, drift });
  }

  async #end(stage: "dynamic" | "full", { sweep, pages, pagesPerGroup, endedMs }: Sweep): Promise<void> {
    if (sweep !== SWEEP_OF[stage]) return;
    await this.#options.checkpoint.end(stage, { groups: Math.ceil(pages / pagesPerGroup), endedMs });
  }

  /** Transforms what is left, and what is to be done anew; takes over what the threads hold. */
  async finish(sweeps: readonly Sweep[], disagreements: readonly string[]): Promise<Extraction> {
    const { workers, catalogue, journal } = this.#context;
    const last = sweeps.at(-1);
    const gone = new Set(last === undefined ? [] : this.holdings.gone(last.sightings));
    const ids = catalogue.sorted();
    const again = this.#transformed.again([
      ...sweeps.flatMap((sweep) => [...sweep.sightings.repeated]),
      ...this.#repaired,
      ...gone,
    ]);
    await transformRest(this.#context, this.#options, {
      rawFiles: this.#raw.all(),
      left: this.#transformed.left(ids).filter((id) => !gone.has(id)),
      again: again.filter((id) => !gone.has(id)),
    });
    for (const result of await workers.flush()) journal.take(result);
    return {
      sweeps,
      ids,
      bounds: bucketBounds({
        ids,
        weightOf: (id) => catalogue.weightOf(id),
        widestTableBytes: journal.widestTableBytes(),
      }),
      superseded: new Map(again.map((id) => [id, AGAIN])),
      detailsWanted: this.#wanted.count,
      detailsGone: this.#details.gone,
      detailsRejected: this.#details.rejected,
      repaired: this.#repaired.size,
      vanished: gone.size,
      disagreements,
    };
  }
}

/** Items that have their rows. */
class Transformed {
  readonly #once = new Set<string>();
  readonly #twice = new Set<string>();

  add(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.#once.has(id)) this.#twice.add(id);
      this.#once.add(id);
    }
  }

  /** Those of `ids` that have none: no group had all their views. */
  left(ids: readonly string[]): string[] {
    return ids.filter((id) => !this.#once.has(id));
  }

  /** Those of `ids` that have some and are to be done anew, and those that have them twice. Ascending. */
  again(ids: readonly string[]): string[] {
    return [...new Set([...this.#twice, ...ids])].filter((id) => this.#once.has(id)).sort();
  }
}

/** Generation of the rows of items that are done anew. */
const AGAIN = 1;

interface Rest {
  readonly rawFiles: readonly string[];
  readonly left: readonly string[];
  readonly again: readonly string[];
}

/** Items that no group could pair, and those that must be done anew because several answers of one pass have them. */
async function transformRest(context: SweepContext, options: ExtractionOptions, rest: Rest): Promise<void> {
  const { workers, signal, onProgress } = context;
  const { directory, temporaryDirectory } = options;
  const total = rest.left.length + rest.again.length;
  let done = 0;
  for (const [generation, contentIds] of [rest.left, rest.again].entries()) {
    const request = { contentIds, rawFiles: rest.rawFiles, directory, temporaryDirectory };
    await regroup(request, async (file) => {
      signal.throwIfAborted();
      const { transformed } = await workers.transform({ kind: "transform", rawFiles: [file], generation });
      done += transformed.length;
      onProgress({ stage: "transform", done, total, items: done, bytes: 0 });
    });
  }
}
