import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { documentAt } from "./document.ts";
import { makePlan, type Plan } from "./plan.ts";
import { bulk, sample } from "./profile.ts";
import { ContentSetFolder, type FileName } from "./write.ts";

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

export interface Summary {
  readonly out: string;
  readonly seed: number;
  readonly items: number;
  readonly contentTypes: number;
  readonly users: number;
  readonly campaigns: number;
  readonly customFields: number;
  readonly destinations: number;
  readonly bytes: number; // of all files
}

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
export async function generateSampleSet(options: Omit<GenerateOptions, "items" | "seed">): Promise<Summary> {
  return write(makePlan(sample, SAMPLE_ITEMS, SAMPLE_SEED), options);
}

function requireInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new WarehouseError(
    "config.invalid",
    `--${name} is ${value}; give a whole number from ${least} to ${most}.`,
  );
}

async function write(
  plan: Plan,
  { out, onProgress, signal }: Omit<GenerateOptions, "items" | "seed">,
): Promise<Summary> {
  const folder = await ContentSetFolder.open(out);
  try {
    const bytes = await writeFiles(plan, folder, onProgress, signal);
    await folder.publish();
    return {
      out,
      seed: plan.seed,
      items: plan.items,
      contentTypes: plan.types.length,
      users: plan.users.length,
      campaigns: plan.campaigns.length,
      customFields: plan.fields.length,
      destinations: plan.destinations.length,
      bytes,
    };
  } catch (thrown) {
    throw signal?.aborted ? thrown : asWarehouseError(thrown);
  } finally {
    await folder.discard();
  }
}

async function writeFiles(
  plan: Plan,
  folder: ContentSetFolder,
  onProgress: ((progress: Progress) => void) | undefined,
  signal: AbortSignal | undefined,
): Promise<number> {
  let made = 0;
  function* content() {
    for (const document of documents(plan)) {
      signal?.throwIfAborted();
      made++;
      yield `${JSON.stringify(document)}\n`;
    }
  }
  const others: readonly (readonly [FileName, readonly string[]])[] = [
    ["content_types.ndjson", lines(plan.types.map(({ type }) => type))],
    ["users.ndjson", lines(plan.users)],
    ["campaigns.ndjson", lines(plan.campaigns.map(({ campaign }) => campaign))],
    ["custom_fields.ndjson", lines(plan.fields.map(({ field }) => field))],
    ["destinations.ndjson", lines(plan.destinations)],
    ["tokens.json", [`${JSON.stringify(plan.tokens, null, 2)}\n`]],
    ["instance.json", [`${JSON.stringify(plan.instance, null, 2)}\n`]],
  ];
  let bytes = await folder.write("content.ndjson", content(), (done) =>
    onProgress?.({ items: made, of: plan.items, bytes: done }),
  );
  for (const [name, texts] of others) bytes += await folder.write(name, texts);
  return bytes;
}

/** The items in creation order, each made when it is asked for. */
export function* documents(plan: Plan) {
  const taken = plan.profile.distinctTitles ? new Set<string>() : undefined;
  for (let index = 0; index < plan.items; index++) yield documentAt(plan, index, taken);
}

function lines(values: readonly unknown[]): string[] {
  return values.map((value) => `${JSON.stringify(value)}\n`);
}
