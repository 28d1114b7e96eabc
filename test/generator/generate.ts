/**
 * Makes a content set of any size from the sample: its items in turn under other IDs, slugs and times, each with the texts
 * of three. Every eighth item has an oddity.
 */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DYNAMIC_COLUMN_NAMES, DYNAMIC_COLUMNS } from "../../src/api/dynamic.ts";
import { packagePath } from "../../src/common/package-root.ts";
import type { CustomField, Document } from "../../src/service/content-set.ts";
import { COMPUTED_COLUMNS } from "../../src/service/views/item-views.ts";
import { exampleOf } from "./example.ts";
import { ODDITIES } from "./oddities.ts";

export interface GenerateOptions {
  readonly items: number;
  /** A whole number. The same seed and number of items give the same bytes. */
  readonly seed: number;
  /** Folder; created if missing. */
  readonly out: string;
}

const FIRST_MS = Date.UTC(2019, 0, 7, 8);
const LAST_MS = Date.UTC(2026, 9, 31);
/** Of so many items, each has another oddity. */
const ODD_PERIOD = 8;

export async function generateContentSet({ items, seed, out }: GenerateOptions): Promise<void> {
  await cp(packagePath("data/sample"), out, { recursive: true });
  const sample = await linesOf<Document>(join(out, "content.ndjson"));
  const fields = join(out, "custom_fields.ndjson");
  const odd = await readFile(new URL("odd-fields.ndjson", import.meta.url), "utf8");
  await writeFile(fields, (await readFile(fields, "utf8")) + odd);
  const set = {
    sample,
    fields: await linesOf<CustomField>(fields),
    unknown: unknownColumns(sample),
    items,
    seed,
  };
  await pipeline(Readable.from(linesOfSet(set)), createWriteStream(join(out, "content.ndjson")));
}

/** Each item is made when it is asked for: memory does not depend on their number. */
function* linesOfSet(set: GeneratedSet) {
  for (let index = 0; index < set.items; index++) yield `${JSON.stringify(documentAt(set, index))}\n`;
}

async function linesOf<Line>(file: string): Promise<Line[]> {
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  return lines.map((line): Line => JSON.parse(line));
}

/** Columns of the contract that a document can state and no item of the sample has: those that are new. */
function unknownColumns(sample: readonly Document[]) {
  const known = new Set(sample.flatMap((document) => Object.keys(document))).union(COMPUTED_COLUMNS);
  return DYNAMIC_COLUMN_NAMES.filter((name) => {
    const { eventOnly, galleryOnly } = DYNAMIC_COLUMNS[name];
    return !known.has(name) && !eventOnly && !galleryOnly;
  });
}

interface GeneratedSet extends Omit<GenerateOptions, "out"> {
  readonly sample: readonly Document[];
  readonly fields: readonly CustomField[];
  readonly unknown: ReturnType<typeof unknownColumns>;
}

/** The item at a position, of the position alone. Times ascend with it. */
function documentAt({ sample, fields, unknown, items, seed }: GeneratedSet, index: number): Document {
  const templates = [0, 1, 2].flatMap(
    (other) => sample[(seed * 131 + index + other * 17) % sample.length] ?? [],
  );
  const [template] = templates;
  if (template === undefined) throw new RangeError("the sample has no items");
  const createdMs = Math.floor((FIRST_MS + ((LAST_MS - FIRST_MS) * index) / items) / 1000) * 1000;
  const updatedMs = createdMs + Math.floor(((LAST_MS - createdMs) * (1 + (index % 7))) / 80);
  const seconds = (createdMs / 1000).toString(16).padStart(8, "0");
  const machine = createHash("sha256").update(String(seed)).digest("hex").slice(0, 10);
  const identity = {
    id: seconds + machine + index.toString(16).padStart(6, "0"),
    slug: `${template.slug}-${index.toString(36)}`,
    created_at: `${new Date(createdMs).toISOString().slice(0, 19)}Z`,
    updated_at: new Date(updatedMs).toISOString().replace("Z", `${String(index % 1000).padStart(3, "0")}Z`),
  };
  const document: Document = {
    ...template,
    ...textsOf(templates),
    ...Object.fromEntries(
      unknown.map((name) => [name, exampleOf(DYNAMIC_COLUMNS[name].schema, `${name} ${index}`)]),
    ),
    content_number: index + 1,
  };
  const oddity = index % ODD_PERIOD === 0 ? ODDITIES[(index / ODD_PERIOD) % ODDITIES.length] : undefined;
  return { ...document, ...oddity?.(document, fields), ...identity } as Document;
}

/** The texts of the first item with those of the others, if it has any. */
function textsOf(templates: readonly Document[]): Partial<Document> {
  if (!templates[0]?.content) return {};
  const joined = (name: "content" | "body_fragment") => templates.map((each) => each[name] ?? "").join("\n");
  const wordcount = templates.reduce((sum, each) => sum + (each.wordcount ?? 0), 0);
  return { content: joined("content"), body_fragment: joined("body_fragment"), wordcount };
}
