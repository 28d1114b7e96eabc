/**
 * From requests to staged parts: the dynamic listing, single items, the full listing with its items paired and
 * transformed on the way, then what could not be paired on the way.
 */
import type { Bounds } from "../load/buckets.ts";
import { type Details, readDetails, Wanted } from "./details.ts";
import { RawFiles } from "./raw-files.ts";
import { regroup } from "./regroup.ts";
import { runSweep, type Sweep, type SweepContext } from "./sweep.ts";
import { disagreements } from "./verdict.ts";

export interface ExtractionOptions {
  readonly details: Details;
  /** The run's staging folder. */
  readonly directory: string;
  /** Folder of the raw files, below `directory`. */
  readonly raw: string;
  readonly temporaryDirectory: string;
  readonly sequence: number;
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
  /** Why the passes do not agree; empty: they do. */
  readonly disagreements: readonly string[];
}

/** Items in a range that is loaded at a time. */
const ITEMS_PER_BUCKET = 10_000;

export async function extract(context: SweepContext, options: ExtractionOptions): Promise<Extraction> {
  const { workers, catalogue, journal } = context;
  const raw = new RawFiles({ ...options, folder: options.raw });
  const wanted = new Wanted(options.details);
  const close = (mode: "dynamic" | "item") => async (group: number) => {
    const rawFile = raw.name(mode, 1, group);
    await workers.close({ kind: "close", sweep: 1, group, rawFile, pairWith: undefined });
  };
  const dynamic = await runSweep(context, 1, "dynamic", {
    pagesPerGroup: undefined,
    closeGroup: close("dynamic"),
    onItem: (item) => wanted.note(item),
  });
  const detailsGone = await readDetails(context, wanted, close("item"));
  const transformed = new Transformed();
  const full = await runSweep(context, 2, "full", {
    pagesPerGroup: dynamic.pagesPerGroup,
    closeGroup: async (group) => {
      const pairWith = raw.existing([raw.name("dynamic", 1, group), raw.name("item", 1, group)]);
      const rawFile = raw.name("full", 2, group);
      transformed.add(
        (await workers.close({ kind: "close", sweep: 2, group, rawFile, pairWith })).transformed,
      );
    },
    onItem: () => {},
  });
  const again = transformed.again([dynamic, full]);
  await transformRest(context, options, {
    rawFiles: raw.all(),
    left: transformed.left(catalogue.sorted()),
    again,
  });
  for (const result of await workers.flush()) journal.take(result);
  const ids = catalogue.sorted();
  return {
    sweeps: [dynamic, full],
    ids,
    bounds: boundsOf(ids),
    superseded: new Map(again.map((id) => [id, AGAIN])),
    detailsWanted: wanted.count,
    detailsGone,
    disagreements: disagreements(dynamic, full),
  };
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

  /** Those that have theirs from some of their views only: a pass listed them several times. Ascending. */
  again(sweeps: readonly Sweep[]): string[] {
    const repeated = sweeps.flatMap((sweep) => [...sweep.sightings.repeated]);
    return [...new Set([...this.#twice, ...repeated])].filter((id) => this.#once.has(id)).sort();
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

/** Least ID of each range of about as many items; the first range is open below. */
function boundsOf(ids: readonly string[]): string[] {
  const buckets = Math.max(1, Math.round(ids.length / ITEMS_PER_BUCKET));
  if (buckets === 1) return [];
  return Array.from({ length: buckets }, (_, i) => ids[Math.floor((i * ids.length) / buckets)] ?? "");
}
