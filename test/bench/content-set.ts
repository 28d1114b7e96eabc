/** The content set whose documents the bench service copies. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateContentSet } from "../../src/service/generate/generate.ts";

export interface TemplateOptions {
  /** Folder that it is written to. */
  readonly out: string;
  readonly items: number;
  /** Bytes of each item's body; undefined: as it was generated. */
  readonly bodyBytes: number | undefined;
}

/** The full view repeats the definition of each field, select values included: with more fields it is twice as large. */
const FIELDS_PER_ITEM = 3;

/** Writes a content set whose items take about 11 KB in the dynamic view, and as much in the full one. */
export async function writeTemplate({ out, items, bodyBytes }: TemplateOptions): Promise<void> {
  await generateContentSet({ items, seed: 1, out });
  const file = join(out, "content.ndjson");
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  await writeFile(
    file,
    lines.map((line) => `${JSON.stringify(shaped(JSON.parse(line), bodyBytes))}\n`).join(""),
  );
}

function shaped(item: Record<string, unknown>, bodyBytes: number | undefined): Record<string, unknown> {
  const kept = Object.keys(Object(item.custom_fields)).slice(0, FIELDS_PER_ITEM);
  for (const name of ["custom_fields", "custom_fields_updated_at"]) {
    const given = new Map(Object.entries(Object(item[name])));
    item[name] = Object.fromEntries([...given].filter(([id]) => kept.includes(id)));
  }
  if (bodyBytes !== undefined)
    item.content = `<p>${"A long story, told at length. ".repeat(bodyBytes / 30)}</p>`;
  return item;
}
