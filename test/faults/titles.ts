import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A title is a text in a test file that begins with the rows it holds: `"A12: ..."`, `"D12, D13: ..."`. Titles of
 * generated tests stand in their file too, as keys of a table or as a template.
 */
const TITLE = /["'`]((?:[A-Z]\d+[a-z]?)(?:, [A-Z]\d+[a-z]?)*): /g;

/** Files of tests by the row that a title in them names, as paths below `folder`. */
export function testsByRow(folder: string): Map<string, string[]> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const found = new Map<string, string[]>();
  for (const file of files.filter((each) => /\.(test|soak)\.ts$/.test(each)).sort()) {
    for (const row of rowsIn(readFileSync(join(folder, file), "utf8"))) {
      const known = found.get(row);
      if (known === undefined) found.set(row, [file]);
      else known.push(file);
    }
  }
  return found;
}

/** Rows that titles in the text of a test file name, each once. */
function rowsIn(text: string): Set<string> {
  return new Set([...text.matchAll(TITLE)].flatMap(([, rows = ""]) => rows.split(", ")));
}
