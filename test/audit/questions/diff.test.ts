import assert from "node:assert/strict";
import { before, test } from "node:test";
import { changeTexts } from "../../../src/audit/diff/change-text.ts";
import {
  CHANGE_LINES,
  changeListSql,
  diffValues,
  findReasons,
  type ValueDiff,
} from "../../../src/audit/diff/value-diff.ts";
import { readValueVersions } from "../../../src/audit/questions/explain-facts.ts";
import { readRows } from "../../../src/storage/typed-rows.ts";
import type { Nights } from "../../load/history-world.ts";
import type { MappingWorld } from "../../load/mapping-tables.ts";
import { long, many } from "../../long.ts";
import { nightsOf, runOf } from "./nights.ts";

const ITEMS = many(500, 5_000);

/** Thousands of items with one value each, which the mapping makes `external`, and one item with another value. */
function worldWith(external: string, extra: string): MappingWorld {
  const value = (valueId: string, text: string) => ({ valueId, display: text, value: text, archived: false });
  const ids = Array.from({ length: ITEMS }, (_, at) => `item-${String(at).padStart(5, "0")}`);
  return {
    fields: [
      {
        customFieldId: "region-id",
        name: "region",
        fieldType: "multiselect",
        selectValues: [value("north-id", "Nordics"), value("south-id", "Iberia"), value("east-id", "East")],
        mappings: [
          {
            mappingId: "mapping-id",
            destinationId: "web-id",
            externalFieldName: "market",
            entries: [
              { mappingValueId: "entry-1", valueId: "north-id", externalValue: external },
              { mappingValueId: "entry-2", valueId: "south-id", externalValue: "south" },
            ],
          },
        ],
      },
    ],
    destinations: [{ destinationId: "web-id", identification: "Web CMS", supportsMappings: true }],
    items: [...ids, "item-last"].map((contentId) => {
      const input = contentId === "item-last" ? extra : "north-id";
      return {
        contentId,
        values: [{ customFieldId: "region-id", ordinal: 0, input, inputIsId: true, text: null }],
      };
    }),
  };
}

let nights: Nights;
before(async () => {
  nights = await nightsOf([
    worldWith("nordic", "south-id"),
    worldWith("north", "east-id"),
    worldWith("nordic", "south-id"),
  ]);
});

const ALL = { cause: undefined, destination: undefined, field: undefined };

function diff(from: number, to: number): Promise<ValueDiff> {
  const pair = { before: runOf(from), after: runOf(to) };
  return diffValues(nights.connection, pair, ALL);
}

test("a mapping change that touches thousands of items is one line with their number and the entry behind it", async () => {
  const found = await diff(1, 2);
  assert.deepEqual([found.items, found.values], [ITEMS + 1, ITEMS + 1]);
  const lines = await readRows(nights.connection, CHANGE_LINES, changeListSql("audit_diff_lines"));
  assert.deepEqual(
    lines.map((row) => [row.causes, row.external_value_before, row.external_value_after, row.items]),
    [
      ["mapping_changed", "nordic", "north", ITEMS],
      ["item_changed", "south", null, 1],
    ],
  );
  assert.deepEqual(
    lines.map((row) => findReasons(found, row)),
    [['mapping entry entry-1 for "Nordics": "nordic" -> "north"'], []],
  );
  const causes = found.causes.map((row) => [row.causes, row.items]);
  assert.deepEqual(causes, [
    ["mapping_changed", ITEMS],
    ["item_changed", 1],
  ]);
  const items = await nights.rows(changeListSql("audit_diff_items"));
  assert.equal(items.length, ITEMS + 1);
  assert.deepEqual(
    items.slice(1).map(({ content_id }) => content_id),
    items.slice(1).map((_, at) => `item-${String(at).padStart(5, "0")}`),
  );
});

long("what was changed and changed back is no difference, however much happened in between", async () => {
  const found = await diff(1, 3);
  assert.deepEqual([found.items, found.values, found.payloads, found.causes], [0, 0, 0, []]);
  assert.equal((await diff(2, 3)).values, ITEMS + 1);
  const [macro] = await nights.rows("SELECT count(*) AS rows FROM mapped_value_changes(1, 3)");
  assert.equal(macro?.rows, 0n);
});

/** One item with these values; the mapping makes "north-id" `external`. */
function itemWith(external: string, ...inputs: string[]): MappingWorld {
  const world = worldWith(external, "south-id");
  const values = inputs.map((input, ordinal) => ({
    customFieldId: "region-id",
    ordinal,
    input,
    inputIsId: true,
    text: null,
  }));
  return { ...world, items: [{ contentId: "item", values }] };
}

long(
  "a copy more or less of a value is told as what it is by the diff, and copies are as they are since one run",
  async () => {
    const copied = await nightsOf([
      itemWith("nordic", "north-id", "south-id", "east-id"),
      itemWith("nordic", "north-id", "south-id", "north-id", "east-id", "east-id"),
      itemWith("nordic", "north-id", "south-id", "north-id", "north-id", "north-id", "east-id"),
      itemWith("north", "north-id", "south-id", "north-id", "east-id"),
      itemWith("nordic", "north-id", "south-id", "north-id", "north-id", "east-id"),
    ]);
    const said = async (from: number, to: number) => {
      const pair = { before: runOf(from), after: runOf(to) };
      await diffValues(copied.connection, pair, ALL);
      const lines = await readRows(copied.connection, CHANGE_LINES, changeListSql("audit_diff_lines"));
      return lines
        .map((row) => {
          const { value, before, after } = changeTexts(row);
          return `${row.causes}: ${value}: ${before} -> ${after}, ${row.values}`;
        })
        .toSorted();
    };
    const added = '"nordic" as "market"';
    assert.deepEqual(await said(1, 2), [
      'item_changed: "East":  -> nothing [unmapped], 1',
      `item_changed: "Nordics":  -> ${added}, 1`,
    ]);
    assert.deepEqual(await said(2, 3), [
      'item_changed: "East": nothing [unmapped] -> , 1',
      `item_changed: "Nordics":  -> ${added}, 2`,
    ]);
    assert.deepEqual(await said(3, 4), [
      `item_changed mapping_changed: "Nordics": ${added} -> , 2`,
      'mapping_changed: "Nordics": "nordic" -> "north", 2',
    ]);
    assert.deepEqual(await said(4, 5), [
      `item_changed mapping_changed: "Nordics":  -> ${added}, 1`,
      'mapping_changed: "Nordics": "north" -> "nordic", 2',
    ]);
    const held = [...(await readValueVersions(copied.connection, "item"))];
    assert.deepEqual(
      held.map(([key, { run, causes }]) => [JSON.parse(key)[2], run, causes.join(", ")]).toSorted(),
      [
        ["east-id", runOf(1).run, "first_seen"],
        ["north-id", runOf(5).run, "mapping_changed"],
        ["south-id", runOf(1).run, "first_seen"],
      ],
    );
  },
);
