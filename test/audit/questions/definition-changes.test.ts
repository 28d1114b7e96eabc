import assert from "node:assert/strict";
import { before, test } from "node:test";
import { CHANGE_LINES, changeListSql, diffValues, findReasons } from "../../../src/audit/diff/value-diff.ts";
import { readValueVersions } from "../../../src/audit/questions/item-values.ts";
import { readRows } from "../../../src/storage/typed-rows.ts";
import type { Nights } from "../../load/history-world.ts";
import type { MappingWorld } from "../../load/mapping-tables.ts";
import { long } from "../../long.ts";
import { nightsOf, runOf } from "./nights.ts";

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

/** A destination that is renamed, and then removed, while a mapping still names it. */
function named(fieldName: string, destinations: MappingWorld["destinations"]): MappingWorld {
  const { fields, items } = world("Nordics", "nordic", "web-id");
  return { fields: fields.map((field) => ({ ...field, name: fieldName })), destinations, items };
}

let moving: Nights;
before(async () => {
  moving = await nightsOf(WORLDS);
});

interface Filter {
  readonly destination?: string;
  readonly field?: string;
}

/** Where each change is, and the definitions behind it. */
async function reasons(
  from: number,
  to: number,
  nights = moving,
  { destination, field }: Filter = {},
): Promise<unknown[][]> {
  const pair = { before: runOf(from), after: runOf(to), basis: runOf(to).run };
  const found = await diffValues(nights.connection, pair, { cause: undefined, destination, field });
  const lines = await readRows(nights.connection, CHANGE_LINES, changeListSql("audit_diff_lines"));
  return lines.map((row) => [row.destination, row.change, ...findReasons(found, row)]);
}

test("a reason is told by the definitions of the two runs, whatever became of them later", async () => {
  assert.deepEqual(await reasons(1, 2), [
    ["Web CMS", "changed", 'mapping entry entry-id for "Nordics": "nordic" -> "north"'],
  ]);
});

test("a value of which nobody knew whether it is archived is not said to be so no longer", async () => {
  // Of a value that is not archived the service says so in every other place alone.
  const second = { valueId: "other", display: null, value: null, archived: false };
  const at = (text: string, { isSecond = false, archived = false }): MappingWorld => {
    const { fields, ...rest } = world(text, "nordic", "web-id");
    const values = fields.flatMap(({ selectValues }) =>
      selectValues.map((value) => ({ ...value, archived })),
    );
    const selectValues = isSecond ? [second, ...values] : values;
    return { ...rest, fields: fields.map((field) => ({ ...field, selectValues })) };
  };
  const nights = await nightsOf([
    at("Nordics", { isSecond: true }),
    at("North", {}),
    at("Nordics", { archived: true }),
    at("North", {}),
  ]);
  const renamed = (from: string, to: string) =>
    `select value "${to}": shown as "${from}" -> "${to}", text "${from}" -> "${to}"`;
  const why = async (from: number) => (await reasons(from, from + 1, nights)).map(([, , ...told]) => told);
  assert.deepEqual(await why(1), [[`${renamed("Nordics", "North")}, archived none -> no`]]);
  assert.deepEqual(await why(2), [[`${renamed("North", "Nordics")}, archived`]]);
  assert.deepEqual(await why(3), [[`${renamed("Nordics", "North")}, no longer archived`]]);
});

test("another order is a change; a place that only others moved by coming or going is none", async () => {
  const ordered = (...ids: readonly string[]): MappingWorld => {
    const { fields, ...rest } = world("Nordics", "nordic", "web-id");
    const selectValues = ids.map((id) => ({ valueId: id, display: id, value: id, archived: true }));
    return { ...rest, fields: fields.map((field) => ({ ...field, selectValues })) };
  };
  const nights = await nightsOf([
    ordered("a", "north-id", "b"),
    ordered("north-id", "b"),
    ordered("b", "north-id"),
  ]);
  const changes = async (from: number) => {
    const pair = { before: runOf(from), after: runOf(from + 1) };
    const all = { cause: undefined, destination: undefined, field: undefined };
    const { definitionRows } = await diffValues(nights.connection, pair, all);
    return definitionRows.map(({ definition, value }) => `${value} ${definition}`);
  };
  assert.deepEqual(await changes(1), ["a select value: removed"]);
  assert.deepEqual(await changes(2), ["b select value: order", "north-id select value: order"]);
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

long(
  "since when a value of an item that came back is so: its definitions count from the run that last had it",
  async () => {
    const worlds = [
      world("Nordics", "nordic", "web-id", ["early", "late", "stays"]),
      world("Nordics", "northern", "web-id", ["late", "stays"]),
      world("Nordics", "north", "web-id", ["stays"]),
      world("Nordics", "north", "web-id", ["early", "late", "stays"]),
    ];
    const nights = await nightsOf(worlds);
    const from = (before: string, after = "north") =>
      `mapping entry entry-id for "Nordics": "${before}" -> "${after}"`;
    const since = async (item: string, { connection } = nights) =>
      [...(await readValueVersions(connection, item)).values()].map(({ causes, why }) => [
        causes.join(" "),
        ...why,
      ]);
    assert.deepEqual(await since("early"), [["item_returned mapping_changed", from("nordic")]]);
    assert.deepEqual(await since("late"), [["item_returned mapping_changed", from("northern")]]);
    const later = await nightsOf([...worlds, world("Nordics", "n", "web-id", ["early", "late", "stays"])]);
    assert.deepEqual(await since("late", later), [["mapping_changed", from("north", "n")]]);
  },
);

long("destinations and fields are called and found by what the two runs called them", async () => {
  const web = { destinationId: "web-id", supportsMappings: false };
  const nights = await nightsOf([
    named("region", [{ ...web, identification: "Portal" }]),
    named("area", [{ ...web, identification: "Hub" }]),
    named("area", [{ destinationId: "web-id", identification: null, supportsMappings: null }]),
  ]);
  const of = (from: number, to: number, filter: Filter) => reasons(from, to, nights, filter);
  // Its values are as before: what is told is told of the destination.
  const told = async (from: number, to: number, destination: string) => {
    const pair = { before: runOf(from), after: runOf(to) };
    const { definitionRows } = await diffValues(nights.connection, pair, {
      cause: undefined,
      destination,
      field: undefined,
    });
    return definitionRows.map((row) => [row.destination, row.definition]);
  };
  const unnamed = "destination: known by its ID alone now";
  for (const destination of ["Hub", "web-id"])
    assert.deepEqual(await told(2, 3, destination), [["Hub", unnamed]]);
  await assert.rejects(of(2, 3, { destination: "Portal" }), /There is no destination "Portal"/);
  assert.deepEqual(await told(1, 3, "Portal"), [
    ["Portal", unnamed],
    [null, "custom field: name"],
  ]);
  assert.deepEqual(await of(1, 2, { destination: "Portal", field: "region" }), []);
  assert.deepEqual(await of(1, 2, { destination: "Hub", field: "area" }), []);
});
