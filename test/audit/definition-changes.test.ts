import assert from "node:assert/strict";
import { before, test } from "node:test";
import { diffRuns, whyOf } from "../../src/audit/diff.ts";
import { readHeldValues } from "../../src/audit/item-history.ts";
import { loadSql } from "../../src/load/sql-text.ts";
import { runName } from "../../src/run/directory.ts";
import { Nights } from "../load/history-world.ts";
import type { MappingWorld } from "../load/mapping-tables.ts";

const startOf = (sequence: number): Date => new Date(Date.UTC(2026, 0, sequence, 2));
const runOf = (sequence: number) => ({
  run: runName(sequence, startOf(sequence)),
  sequence,
  verdict: "complete" as const,
});

/** Items with one value of the field region, which one mapping makes `external` at a destination. */
function world(
  text: string,
  external: string,
  destinationId: "web-id" | "print-id",
  items: readonly string[] = ["item"],
): MappingWorld {
  return {
    fields: [
      {
        customFieldId: "region-id",
        name: "region",
        fieldType: "multiselect",
        selectValues: [{ valueId: "north-id", display: text, value: text, archived: false }],
        mappings: [
          {
            mappingId: "mapping-id",
            destinationId,
            externalFieldName: "market",
            entries: [{ mappingValueId: "entry-id", valueId: "north-id", externalValue: external }],
          },
        ],
      },
    ],
    destinations: [
      { destinationId: "web-id", identification: "Web CMS", supportsMappings: true },
      { destinationId: "print-id", identification: "Print Archive", supportsMappings: true },
    ],
    items: items.map((contentId) => ({
      contentId,
      values: [{ customFieldId: "region-id", ordinal: 0, input: "north-id", inputIsId: true, text: null }],
    })),
  };
}

const WORLDS = [
  world("Nordics", "nordic", "web-id"),
  world("Nordics", "north", "web-id"),
  world("North", "north", "print-id"),
];

async function nightsOf(worlds: readonly MappingWorld[]): Promise<Nights> {
  const nights = await Nights.open();
  for (const [at, each] of worlds.entries()) {
    const { sequence } = runOf(at + 1);
    const previous = at === 0 ? undefined : runOf(at).run;
    await nights.run({ world: each, sequence, startedAt: startOf(sequence), verdict: "complete", previous });
  }
  return nights;
}

let moving: Nights;
before(async () => {
  moving = await nightsOf(WORLDS);
});

/** Where each change is, and the definitions behind it. */
async function reasons(from: number, to: number, nights = moving): Promise<unknown[][]> {
  const asked = { connection: nights.connection, manifest: { rows: {} } };
  const pair = { before: runOf(from), after: runOf(to), basis: runOf(to).run };
  const found = await diffRuns(asked, pair, { cause: undefined, destination: undefined, field: undefined });
  const lines = await nights.rows(loadSql("audit_diff_lines"));
  return lines.map((row) => [row.destination, row.change, ...whyOf(found, row)]);
}

test("a reason is told by the definitions of the two runs, whatever became of them later", async () => {
  assert.deepEqual(await reasons(1, 2), [
    ["Web CMS", "changed", 'mapping entry entry-id for "Nordics": "nordic" -> "north"'],
  ]);
});

test("a mapping that goes to another destination is the reason at both", async () => {
  const moved = 'mapping mapping-id: destination "web-id" -> "print-id"';
  const entry = 'mapping entry entry-id for "North": "nordic" -> "north"';
  const renamed = 'select value "North": shown as "Nordics" -> "North", text "Nordics" -> "North"';
  assert.deepEqual(await reasons(2, 3), [
    ["Web CMS", "lost", moved],
    ["Print Archive", "gained", moved, renamed],
  ]);
  assert.deepEqual(await reasons(1, 3), [
    ["Web CMS", "lost", moved, entry],
    ["Print Archive", "gained", moved, entry, renamed],
  ]);
});

test("of an item that came back, the definitions count from the run that last had it", async () => {
  const nights = await nightsOf([
    world("Nordics", "nordic", "web-id", ["early", "late", "stays"]),
    world("Nordics", "northern", "web-id", ["late", "stays"]),
    world("Nordics", "north", "web-id", ["stays"]),
    world("Nordics", "north", "web-id", ["early", "late", "stays"]),
    world("Nordics", "n", "web-id", ["early", "late", "stays"]),
  ]);
  const from = (before: string, after = "north") =>
    `mapping entry entry-id for "Nordics": "${before}" -> "${after}"`;
  assert.deepEqual(await reasons(3, 4, nights), [
    ["Web CMS", "gained", from("nordic")],
    ["Web CMS", "gained", from("northern")],
  ]);
  assert.deepEqual(await reasons(2, 4, nights), [
    ["Web CMS", "changed", from("northern")],
    ["Web CMS", "gained", from("nordic")],
    ["Web CMS", "changed", from("northern")],
  ]);
  const since = async (item: string, sequence: number) =>
    (await readHeldValues(nights.connection, item, sequence)).map(({ since }) => [
      since.causes.join(" "),
      ...since.why,
    ]);
  assert.deepEqual(await since("early", 4), [["item_returned mapping_changed", from("nordic")]]);
  assert.deepEqual(await since("late", 4), [["item_returned mapping_changed", from("northern")]]);
  assert.deepEqual(await since("late", 5), [["mapping_changed", from("north", "n")]]);
});
