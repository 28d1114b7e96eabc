/** What a screen of 80 columns, and one of 120, shows of the answers to an auditor. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { auditCommand } from "../../../src/cli/commands/audit.ts";
import { diffCommand } from "../../../src/cli/commands/diff.ts";
import { explainCommand } from "../../../src/cli/commands/explain.ts";
import { whatIfCommand } from "../../../src/cli/commands/what-if.ts";
import { fewSampleNights, site } from "../../audit/two-nights.ts";
import { capture } from "../capture.ts";

const { out, folder, night } = await site();
for (const data of await fewSampleNights(folder)) await night(data);
const mapping = join(folder, "mapping.csv");
await capture(auditCommand, ["--export-mapping", mapping, "--warehouse", out]);
await writeFile(mapping, (await readFile(mapping, "utf8")).replaceAll("en-uk-ie", "en-uk"));

const SUMS = ["values", "mapped", "unmapped", "unknown", "not sent"];
const CHANGES = ["values", "gained", "lost", "changed", "reordered", "no payload change"];
const ITEM = ["6967a4fa9df0deca3500013d", "--destination", "Web CMS"];

/** A call, and of each of its tables, by title, what has to be in its columns or above them. */
const ANSWERS = [
  [
    explainCommand,
    ITEM,
    {
      "What destinations receive": ["destination", "external name", "external values"],
      "Result for each value": [
        ...["destination", "field", "value", "status", "external value", "since", "cause"],
      ],
    },
  ],
  [
    explainCommand,
    [...ITEM, "--steps"],
    { "Step by step": ["field", "rule", "input", "result", "evidence"], "Where this was read": ["answered"] },
  ],
  [
    whatIfCommand,
    ["--mapping", mapping],
    {
      "Changes by destination and field": ["destination", "field", "items", "values", "gained", "lost"],
      "What would change, by value": ["destination", "field", "value", "sends", "would send", "items"],
      Items: ["title", "destination", "field", "sends", "would send"],
    },
  ],
  [
    auditCommand,
    [],
    {
      "Coverage, in values": ["destination", "field", ...SUMS],
      Destinations: ["why", "mapped", "without external value", "unmapped", "unknown"],
      "Values that are": ["destination", "field", "value", "status", "external value", "items"],
    },
  ],
  [
    diffCommand,
    [],
    {
      "Items whose content changed": ["title", "change", "what"],
      "What changed": ["cause", "destination", "field", "items", "value", "before", "after"],
    },
  ],
  [
    diffCommand,
    ["--values"],
    {
      "Changes by cause": ["cause", ...CHANGES],
      "Changes of definitions": ["definition", "destination", "field", "value", "before", "after"],
      "What changed": ["cause", "destination", "field", "items", "value", "before", "after"],
    },
  ],
] as const;

for (const width of [80, 120])
  test(`nothing that was asked for is left out at ${width} columns`, async () => {
    for (const [command, args, tables] of ANSWERS) {
      const text = await capture(command, [...args, "--warehouse", out], width);
      for (const line of text.split("\n")) assert.ok(line.length <= width, line);
      for (const [title, names] of Object.entries(tables)) {
        const from = text.indexOf(`\n\n${title}`);
        assert.ok(from >= 0, `${title} in ${text}`);
        assert.deepEqual(
          missing(headOf(text.slice(from)), names),
          [],
          `${title}\n${text.slice(from, from + 999)}`,
        );
      }
    }
  });

/** The title of a table, with what it says of all rows, and the heads of its columns. */
function headOf(text: string): string[] {
  const [above = "", below = ""] = text.split("├", 1)[0]?.split("┐\n") ?? [];
  const lines = below
    .trimEnd()
    .split("\n")
    .map((line) => line.split("│").slice(1, -1));
  const heads = (lines[0] ?? []).map((_, at) =>
    lines
      .map((cells) => cells[at]?.trim())
      .join(" ")
      .trim(),
  );
  const [, told = ""] = /\((.*)\)\n/s.exec(above) ?? [];
  return [...heads, ...told.replaceAll("\n", " ").split("; ")];
}

/** Names that no column has, wherever its head is broken, and nothing that is told of all rows begins with. */
function missing(heads: readonly string[], names: readonly string[]): string[] {
  const joined = (text: string) => text.replaceAll(" ", "");
  return names.filter((name) => !heads.some((head) => joined(head).split(":")[0] === joined(name)));
}
