import { asWarehouseError, WarehouseError } from "../../src/common/errors.ts";
import { documentAt } from "./document.ts";
import { makePlan, type Plan } from "./plan.ts";
import { bulk, sample } from "./profile.ts";
import { discard, type FileName, prepareFolder, publish, writePartial } from "./write.ts";

export interface GenerateOptions {
  /** Content items, from 0 to 10,000,000. */
  readonly items: number;
  /** Any safe integer: the same seed and number of items give the same bytes. */
  readonly seed: number;
  /** Folder; created if missing. A content set in it is replaced; anything else is refused. */
  readonly out: string;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export interface Progress {
  readonly items: number; // written so far
  readonly of: number;
  readonly bytes: number; // of content.ndjson
}

export type Summary = Awaited<ReturnType<typeof write>>;

const MAX_ITEMS = 10_000_000;
const SAMPLE_ITEMS = 500;
const SAMPLE_SEED = 2047;

/**
 * Writes a content set, as `content-set.ts` describes it, item by item: memory does not depend on the number of
 * items. Errors: `config.output` (folder), `config.invalid` (numbers), `disk.io`, and the signal's reason.
 */
export async function generateContentSet(options: GenerateOptions): Promise<Summary> {
  requireInteger("items", options.items, 0, MAX_ITEMS);
  requireInteger("seed", options.seed, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  return write(makePlan(bulk, options.items, options.seed), options);
}

/** Writes the sample set of `data/sample`: a few hundred items of an invented company, made to be looked at. */
export async function generateSampleSet(options: WriteOptions): Promise<Summary> {
  return write(makePlan(sample, SAMPLE_ITEMS, SAMPLE_SEED), options);
}

function requireInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new WarehouseError(
    "config.invalid",
    `--${name} is ${value}; give a whole number from ${least} to ${most}.`,
  );
}

type WriteOptions = Omit<GenerateOptions, "items" | "seed">;

async function write(plan: Plan, options: WriteOptions) {
  const { seed, items, types, users, campaigns, fields, destinations } = plan;
  const { out, signal } = options;
  await prepareFolder(out);
  try {
    const bytes = await writeFiles(plan, options);
    await publish(out);
    return {
      out,
      seed,
      items,
      contentTypes: types.length,
      users: users.length,
      campaigns: campaigns.length,
      customFields: fields.length,
      destinations: destinations.length,
      /** Of all files. */
      bytes,
    };
  } catch (thrown) {
    throw signal?.aborted ? thrown : asWarehouseError(thrown);
  } finally {
    await discard(out);
  }
}

/** @returns bytes of all files */
async function writeFiles(plan: Plan, { out, onProgress, signal }: WriteOptions): Promise<number> {
  let items = 0;
  function* content() {
    for (const document of documents(plan)) {
      signal?.throwIfAborted();
      items++;
      yield line(document);
    }
  }
  const others: readonly (readonly [FileName, readonly string[]])[] = [
    ["content_types.ndjson", plan.types.map(({ type }) => line(type))],
    ["users.ndjson", plan.users.map(line)],
    ["campaigns.ndjson", plan.campaigns.map(({ campaign }) => line(campaign))],
    ["custom_fields.ndjson", plan.fields.map(({ field }) => line(field))],
    ["destinations.ndjson", plan.destinations.map(line)],
    ["tokens.json", [`${JSON.stringify(plan.tokens, null, 2)}\n`]],
    ["instance.json", [`${JSON.stringify(plan.instance, null, 2)}\n`]],
  ];
  let bytes = await writePartial(out, "content.ndjson", content(), (done) =>
    onProgress?.({ items, of: plan.items, bytes: done }),
  );
  for (const [name, texts] of others) bytes += await writePartial(out, name, texts);
  return bytes;
}

/** The items in creation order, each made when it is asked for. */
export function* documents(plan: Plan) {
  const taken = plan.profile.distinctTitles ? new Set<string>() : undefined;
  for (let index = 0; index < plan.items; index++) yield documentAt(plan, index, taken);
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
