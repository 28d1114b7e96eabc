import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DYNAMIC_COLUMN_NAMES, DYNAMIC_COLUMNS, type DynamicColumnName } from "../../src/api/dynamic.ts";
import { COMPUTED_COLUMNS } from "../../src/service/views/item-views.ts";
import { documentAt } from "./document.ts";
import { exampleOf } from "./example.ts";
import { makePlan, type Plan } from "./plan.ts";
import { bulk, sample } from "./profile.ts";

export interface GenerateOptions {
  readonly items: number;
  /** Any safe integer: the same seed and number of items give the same bytes. */
  readonly seed: number;
  /** Folder; created if missing. */
  readonly out: string;
}

const SAMPLE_ITEMS = 500;
const SAMPLE_SEED = 2047;

/** Writes a content set, as `content-set.ts` describes it, item by item: memory does not depend on their number. */
export async function generateContentSet({ items, seed, out }: GenerateOptions): Promise<void> {
  await write(makePlan(bulk, items, seed), out);
}

/** Writes the sample set of `data/sample`: a few hundred items of an invented company, made to be looked at. */
export async function generateSampleSet(out: string): Promise<void> {
  await write(makePlan(sample, SAMPLE_ITEMS, SAMPLE_SEED), out);
}

async function write(plan: Plan, out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  await pipeline(Readable.from(lines(documents(plan))), createWriteStream(join(out, "content.ndjson")));
  for (const [name, values] of [
    ["content_types", plan.types.map(({ type }) => type)],
    ["users", plan.users],
    ["campaigns", plan.campaigns.map(({ campaign }) => campaign)],
    ["custom_fields", plan.fields.map(({ field }) => field)],
    ["destinations", plan.destinations],
  ] as const)
    await writeFile(join(out, `${name}.ndjson`), [...lines(values)].join(""));
  for (const name of ["tokens", "instance"] as const)
    await writeFile(join(out, `${name}.json`), `${JSON.stringify(plan[name], null, 2)}\n`);
}

/** The items in creation order, each made when it is asked for. Columns that the generator does not know have examples. */
function* documents(plan: Plan) {
  const taken = plan.profile.distinctTitles ? new Set<string>() : undefined;
  const unknown = unknownColumns(plan);
  for (let index = 0; index < plan.items; index++) {
    const examples = unknown.map((name) => [
      name,
      exampleOf(DYNAMIC_COLUMNS[name].schema, `${name} ${index}`),
    ]);
    yield { ...documentAt(plan, index, taken), ...Object.fromEntries(examples) };
  }
}

/** Items in which each column that the generator knows has a value. */
const ITEMS_OF_ALL_COLUMNS = 460;

/** Columns of the contract that a document can state and that the generator never writes: those that are new. */
function unknownColumns(plan: Plan): DynamicColumnName[] {
  if (plan.items < ITEMS_OF_ALL_COLUMNS) return [];
  const known = new Set<string>(COMPUTED_COLUMNS);
  for (let index = 0; index < ITEMS_OF_ALL_COLUMNS; index++)
    for (const name of Object.keys(documentAt(plan, index))) known.add(name);
  return DYNAMIC_COLUMN_NAMES.filter((name) => {
    const { eventOnly, galleryOnly } = DYNAMIC_COLUMNS[name];
    return !known.has(name) && !eventOnly && !galleryOnly;
  });
}

function* lines(values: Iterable<object>) {
  for (const value of values) yield `${JSON.stringify(value)}\n`;
}
