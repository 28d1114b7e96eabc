/** The content set whose documents the bench service copies. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateContentSet } from "../generator/generate.ts";

export interface TemplateOptions {
  /** Folder that it is written to. */
  readonly out: string;
  readonly items: number;
  /** Bytes of each item's body; undefined: as it was generated. */
  readonly bodyBytes: number | undefined;
}

/** The full view repeats the definition of every field of an item's type: with all fields it is twice as large. */
const FIELDS = 5;

/** Writes a content set whose items take about 11 KB in the dynamic view, and as much in the full one. */
export async function writeTemplate({ out, items, bodyBytes }: TemplateOptions): Promise<void> {
  await generateContentSet({ items, seed: 1, out });
  const definitions = (await linesOf(out, "custom_fields")).slice(0, FIELDS);
  const kept = new Set(definitions.map(({ id }) => String(id)));
  await writeLines(out, "custom_fields", definitions);
  const content = await linesOf(out, "content");
  await writeLines(
    out,
    "content",
    content.map((item) => shaped(item, kept, bodyBytes)),
  );
}

type Line = Record<string, unknown>;

function shaped(item: Line, fields: ReadonlySet<string>, bodyBytes: number | undefined): Line {
  for (const name of ["custom_fields", "custom_fields_updated_at"]) {
    const given = Object.entries(Object(item[name]));
    item[name] = Object.fromEntries(given.filter(([id]) => fields.has(id)));
  }
  if (bodyBytes !== undefined)
    item.content = `<p>${"A long story, told at length. ".repeat(bodyBytes / 30)}</p>`;
  return item;
}

async function linesOf(folder: string, name: string): Promise<Line[]> {
  const text = await readFile(join(folder, `${name}.ndjson`), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function writeLines(folder: string, name: string, lines: readonly Line[]): Promise<void> {
  await writeFile(join(folder, `${name}.ndjson`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}
