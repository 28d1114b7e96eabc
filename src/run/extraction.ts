/**
 * From requests to staged parts: the dynamic listing, single items, the full listing with its items paired and
 * transformed on the way, then what could not be paired on the way.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import PQueue from "p-queue";
import { itemRequest } from "../extract/request.ts";
import type { Bounds } from "../load/buckets.ts";
import { observedAtOf, recordOf } from "./journal.ts";
import { regroup } from "./regroup.ts";
import { type Listed, runSweep, type Sweep, type SweepContext } from "./sweep.ts";

/** Which items are asked for singly, for the fields that only such answers give. */
export type Details = "events" | "all" | "none";

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
  /** Items whose single-item request said that they are gone. */
  readonly detailsGone: number;
  /** Why the passes do not agree; empty: they do. */
  readonly disagreements: readonly string[];
}

/** Items in a range that is loaded at a time. */
const ITEMS_PER_BUCKET = 16_000;

export async function extract(context: SweepContext, options: ExtractionOptions): Promise<Extraction> {
  const raw = new RawFiles(options);
  const wanted: Listed[] = [];
  const dynamic = await runSweep(context, 1, "dynamic", {
    pagesPerGroup: undefined,
    closeGroup: async (group) => {
      const file = raw.name("dynamic", 1, group);
      await context.workers.close({ kind: "close", sweep: 1, group, rawFile: file, pairWith: undefined });
    },
    onItem: (item) => {
      if (options.details === "all" || (options.details === "events" && item.event)) wanted.push(item);
    },
  });
  const detailsGone = await readDetails(context, raw, wanted);
  const transformed = new Set<string>();
  const again = new Set<string>();
  const full = await runSweep(context, 2, "full", {
    pagesPerGroup: dynamic.pagesPerGroup,
    closeGroup: async (group) => {
      const pairWith = raw.existing([raw.name("dynamic", 1, group), raw.name("item", 1, group)]);
      const rawFile = raw.name("full", 2, group);
      const result = await context.workers.close({ kind: "close", sweep: 2, group, rawFile, pairWith });
      for (const id of result.transformed) {
        if (transformed.has(id)) again.add(id);
        transformed.add(id);
      }
    },
    onItem: () => {},
  });
  for (const sweep of [dynamic, full]) for (const id of sweep.sightings.repeated) again.add(id);
  await transformRest(context, raw, { transformed, again });
  for (const result of await context.workers.flush()) context.journal.take(result);
  const ids = context.catalogue.sorted();
  return {
    sweeps: [dynamic, full],
    ids,
    bounds: boundsOf(ids),
    superseded: new Map([...again].filter((id) => transformed.has(id)).map((id) => [id, 1])),
    detailsGone,
    disagreements: disagreements(dynamic, full),
  };
}

/** Names of raw files, relative to the staging folder, and those that were written. */
class RawFiles {
  readonly #options: ExtractionOptions;
  readonly #names: string[] = [];

  constructor(options: ExtractionOptions) {
    this.#options = options;
  }

  name(mode: "dynamic" | "full" | "item", sweep: number, group: number): string {
    const { raw, sequence } = this.#options;
    const run = String(sequence).padStart(6, "0");
    const file = `${mode}-${run}-${sweep}-${String(group).padStart(5, "0")}.parquet`;
    const name = join(raw, mode, file);
    if (!this.#names.includes(name)) this.#names.push(name);
    return name;
  }

  /** Absolute paths of those that exist: a group without documents has no file. */
  existing(names: readonly string[]): string[] {
    return names.map((name) => join(this.#options.directory, name)).filter((file) => existsSync(file));
  }

  all(): string[] {
    return this.existing(this.#names);
  }

  get options(): ExtractionOptions {
    return this.#options;
  }
}

/** Asks for the items singly, group by group of the pages that listed them. Returns how many are gone. */
async function readDetails(context: SweepContext, raw: RawFiles, wanted: readonly Listed[]): Promise<number> {
  const { settings, onProgress } = context;
  const byGroup = Map.groupBy(wanted, (item) => item.group);
  const rate = settings.ratePerSecond;
  const queue = new PQueue({
    concurrency: settings.concurrency,
    ...(rate === undefined ? {} : { interval: 1000 / rate, intervalCap: 1 }),
  });
  let done = 0;
  let gone = 0;
  let bytes = 0;
  for (const [group, items] of [...byGroup].sort(([a], [b]) => a - b)) {
    await queue.addAll(
      items.map((item) => async () => {
        const answer = await readDetail(context, item);
        done += 1;
        bytes += answer.bytes;
        if (answer.gone) gone += 1;
        onProgress({ stage: "items", done, total: wanted.length, items: done, bytes });
      }),
    );
    const rawFile = raw.name("item", 1, group);
    await context.workers.close({ kind: "close", sweep: 1, group, rawFile, pairWith: undefined });
  }
  return gone;
}

async function readDetail(context: SweepContext, item: Listed): Promise<{ gone: boolean; bytes: number }> {
  const { client, workers, journal, settings, signal, clock } = context;
  const { id, page, position, group } = item;
  const request = itemRequest({ id, mode: "dynamic", columns: settings.columns, gallery: true });
  const { response, value } = await client.readAs(request, signal, async (answer) => {
    const observedAt = observedAtOf(answer, clock);
    const bytes = answer.body.byteLength;
    if (answer.status !== 200) return { observedAt, bytes, rejects: [] };
    const body = { bytes: answer.body, contentEncoding: answer.contentEncoding, observedAt };
    const task = { kind: "item", sweep: 1, group, page, position, contentId: id, body } as const;
    return { observedAt, bytes, ...(await workers.item(task)) };
  });
  const { observedAt, bytes, rejects } = value;
  journal.requests.push(
    recordOf(response, { mode: "item", sweep: 1, page, contentId: id, observedAt, bytes }),
  );
  journal.rejects.push(...rejects);
  return { gone: response.status !== 200, bytes };
}

/** Items that no group could pair, and those that must be done anew because several answers of one pass have them. */
async function transformRest(
  context: SweepContext,
  raw: RawFiles,
  items: { transformed: ReadonlySet<string>; again: ReadonlySet<string> },
): Promise<void> {
  const { directory, temporaryDirectory } = raw.options;
  const left = [...context.catalogue.ids()].filter((id) => !items.transformed.has(id));
  const again = [...items.again].filter((id) => items.transformed.has(id));
  for (const [generation, contentIds] of [left, again].entries()) {
    const request = { contentIds: contentIds.sort(), rawFiles: raw.all(), directory, temporaryDirectory };
    await regroup(request, async (file) => {
      await context.workers.transform({ kind: "transform", rawFiles: [file], generation });
    });
  }
}

/** Least ID of each range of about as many items; the first range is open below. */
function boundsOf(ids: readonly string[]): string[] {
  const buckets = Math.max(1, Math.round(ids.length / ITEMS_PER_BUCKET));
  if (buckets === 1) return [];
  return Array.from({ length: buckets }, (_, i) => ids[Math.floor((i * ids.length) / buckets)] ?? "");
}

const EXAMPLES = 3;

/** Two clean passes that saw the same items, each of the same time, are what makes a run complete. */
function disagreements(dynamic: Sweep, full: Sweep): string[] {
  const reasons = [dynamic, full].flatMap((sweep) =>
    sweep.reasons.map((reason) => `the ${sweep.mode} pass is not clean: ${reason}`),
  );
  const different = [...dynamic.sightings.differences(full.sightings)];
  if (different.length > 0) {
    const examples = different.slice(0, EXAMPLES).join(", ");
    reasons.push(`${different.length} items differ between the two passes (${examples})`);
  }
  return reasons;
}
