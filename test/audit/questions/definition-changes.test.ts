import assert from "node:assert/strict";
import { before, test } from "node:test";
import { diffValues } from "../../../src/audit/diff/value-diff.ts";
import type { SelectValue } from "../../../src/audit/mapping/definitions.ts";
import { readValueVersions } from "../../../src/audit/questions/explain-facts.ts";
import { runName } from "../../../src/warehouse/layout.ts";
import { Nights } from "../../load/history-world.ts";
import type { MappingWorld } from "../../load/mapping-tables.ts";
import { long } from "../../long.ts";

const startOf = (sequence: number): Date => new Date(Date.UTC(2026, 0, sequence, 2));

/** The run of a night, by its number. */
const runOf = (sequence: number) => ({
  run: runName(sequence, startOf(sequence)),
  sequence,
  verdict: "complete" as const,
});

/** Nights, each from the history of the one before. */
async function nightsOf(worlds: readonly MappingWorld[]): Promise<Nights> {
  const nights = await Nights.open();
  for (const [at, world] of worlds.entries()) {
    const { sequence, verdict } = runOf(at + 1);
    const previous = at === 0 ? undefined : runOf(at).run;
    await nights.run({ world, sequence, startedAt: startOf(sequence), verdict, previous });
  }
  return nights;
}

/** Items with one value of a field, which one mapping makes `external` at a destination. `field`: its name. */
function world(
  text: string,
  external: string,
  destinationId: "web-id" | "print-id",
  items: readonly string[] = ["item"],
  field = "region",
): MappingWorld {
  const own = (id: string) => (field === "region" ? id : `${field} ${id}`);
  return {
    fields: [
      {
        customFieldId: own("region-id"),
        name: field,
        fieldType: "multiselect",
        selectValues: [{ valueId: "north-id", display: text, value: text, archived: false }],
        mappings: [
          {
            mappingId: own("mapping-id"),
            destinationId,
            externalFieldName: own("market"),
            entries: [{ mappingValueId: own("entry-id"), valueId: "north-id", externalValue: external }],
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
      values: [
        { customFieldId: own("region-id"), ordinal: 0, input: "north-id", inputIsId: true, text: null },
      ],
    })),
  };
}

/** The same with other select values. */
function offering(field: string, text: string, selectValues: SelectValue[]): MappingWorld {
  const { fields, ...rest } = world(text, "nordic", "web-id", [`item of ${field}`], field);
  return { ...rest, fields: fields.map((each) => ({ ...each, selectValues })) };
}

const moved = [
  world("Nordics", "nordic", "web-id"),
  world("Nordics", "north", "web-id"),
  world("North", "north", "print-id"),
  world("North", "north", "print-id"),
];

/** Of a value that is not archived the service says so in every other place alone. */
const archived = [
  ["Nordics", false, true],
  ["North", false, false],
  ["Nordics", true, false],
  ["North", false, false],
] as const;

const ordered = [
  ["a", "north-id", "b"],
  ["north-id", "b"],
  ["b", "north-id"],
  ["b", "north-id"],
];

/** Four nights in which each of three fields has changes of its own. */
const WORLDS = moved.map((each, at): MappingWorld => {
  const [text = "", isArchived = false, isSecond = false] = archived[at] ?? [];
  const value = { valueId: "north-id", display: text, value: text, archived: isArchived };
  const second = { valueId: "other", display: null, value: null, archived: false };
  const places = (ordered[at] ?? []).map((id) => ({ valueId: id, display: id, value: id, archived: true }));
  const others = [
    offering("archived", text, isSecond ? [second, value] : [value]),
    offering("ordered", "Nordics", places),
  ];
  return {
    ...each,
    fields: [each, ...others].flatMap(({ fields }) => fields),
    items: [each, ...others].flatMap(({ items }) => items),
  };
});

/** A destination that is renamed, and then removed, while a mapping still names it. */
function named(fieldName: string, destinations: MappingWorld["destinations"]): MappingWorld {
  const { fields, items } = world("Nordics", "nordic", "web-id");
  return { fields: fields.map((field) => ({ ...field, name: fieldName })), destinations, items };
}

let four: Nights;
before(async () => {
  four = await nightsOf(WORLDS);
});

interface Filter {
  readonly destination?: string;
  readonly field?: string;
}

/** Where each change is, and the definitions behind it. */
async function reasons(
  from: number,
  to: number,
  nights = four,
  filter: Filter = { field: "region" },
): Promise<unknown[][]> {
  const pair = { before: runOf(from), after: runOf(to) };
  const { rows } = await (await diffValues(nights.connection, pair, filter)).readLines();
  return rows.map((row) => [row.destination, row.change, row.cause]);
}

/** The rows of changed definitions. */
async function definitions(from: number, to: number, nights: Nights, filter: Filter) {
  const pair = { before: runOf(from), after: runOf(to) };
  return (await diffValues(nights.connection, pair, filter)).definitions.rows;
}

/** Since when a value of an item is as it is. */
async function versionOf({ connection }: Nights, item: string, valueId = "north-id") {
  const sinceOf = await readValueVersions(connection, item);
  const at = { destinationId: "web-id", customFieldId: "region-id", value: null, matchedByText: false };
  return sinceOf({ ...at, valueId }) ?? assert.fail();
}

test("a reason is told by the definitions of the two runs, whatever became of them later", async () => {
  assert.deepEqual(await reasons(1, 2), [
    ["Web CMS", "changed", 'the external value "nordic" for "Nordics" became "north"'],
  ]);
});

test("a value of which nobody knew whether it is archived is not said to be so no longer", async () => {
  const renamed = (from: string, to: string) =>
    `the select value "${to}" changed (shown as "${from}" -> "${to}", text "${from}" -> "${to}"`;
  const why = async (from: number) =>
    (await reasons(from, from + 1, four, { field: "archived" })).map(([, , told]) => told);
  assert.deepEqual(await why(1), [`${renamed("Nordics", "North")}, archived none -> no)`]);
  assert.deepEqual(await why(2), [`${renamed("North", "Nordics")}, archived no -> yes)`]);
  assert.deepEqual(await why(3), [`${renamed("Nordics", "North")}, archived yes -> no)`]);
});

test("another order is a change; a place that only others moved by coming or going is none", async () => {
  const changes = async (from: number) =>
    (await definitions(from, from + 1, four, { field: "ordered" })).map(({ definition }) => definition);
  assert.deepEqual(await changes(1), ['select value "a": removed']);
  assert.deepEqual(await changes(2), ['select value "b": order', 'select value "north-id": order']);
});

/** An item with a value of two fields; the second is sent under this name, the first as "market". */
function shared(name: string): MappingWorld {
  const [first, second] = [
    world("Nordics", "nordic", "web-id"),
    world("Nordics", "n", "web-id", ["item"], "launch"),
  ];
  const fields = second.fields.map((field) => ({
    ...field,
    mappings: field.mappings.map((mapping) => ({ ...mapping, externalFieldName: name })),
  }));
  const values = [first, second].flatMap(({ items }) => items.flatMap((item) => item.values));
  return { ...first, fields: [...first.fields, ...fields], items: [{ contentId: "item", values }] };
}

test("a collision that begins or ends names the other field", async () => {
  const nights = await nightsOf([shared("market"), shared("other"), shared("market")]);
  const told = async (from: number) => (await reasons(from, from + 1, nights)).map(([, , cause]) => cause);
  assert.deepEqual(await told(1), ['launch is no longer sent as "market"']);
  assert.deepEqual(await told(2), ['launch is now sent as "market"']);
});

test("a mapping that goes to another destination is the reason at both", async () => {
  const moved = 'the mapping "market" changed (destination "web-id" -> "print-id")';
  const entry = 'the external value "nordic" for "North" became "north"';
  const renamed =
    'the select value "North" changed (shown as "Nordics" -> "North", text "Nordics" -> "North")';
  assert.deepEqual(await reasons(2, 3), [
    ["Web CMS", "lost", moved],
    ["Print Archive", "gained", `${moved} and ${renamed}`],
  ]);
  assert.deepEqual(await reasons(1, 3), [
    ["Web CMS", "lost", `${moved} and ${entry}`],
    ["Print Archive", "gained", `${moved}, ${entry} and ${renamed}`],
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
      `the external value "${before}" for "Nordics" became "${after}"`;
    const since = async (item: string, some = nights) => {
      const { causes, cause } = await versionOf(some, item);
      return [causes.join(" "), cause];
    };
    assert.deepEqual(await since("early"), [
      "item_returned mapping_changed",
      `the item returned and ${from("nordic")}`,
    ]);
    assert.deepEqual(await since("late"), [
      "item_returned mapping_changed",
      `the item returned and ${from("northern")}`,
    ]);
    const later = await nightsOf([...worlds, world("Nordics", "n", "web-id", ["early", "late", "stays"])]);
    assert.deepEqual(await since("late", later), ["mapping_changed", from("north", "n")]);
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
  const told = async (from: number, to: number, destination: string) =>
    (await definitions(from, to, nights, { destination })).map((row) => [row.destination, row.definition]);
  const unnamed = [
    "destination: name",
    "destination: supports custom field mappings",
    "destination: receives values",
  ];
  for (const destination of ["Hub", "web-id"])
    assert.deepEqual(
      await told(2, 3, destination),
      unnamed.map((definition) => ["Hub", definition]),
    );
  await assert.rejects(of(2, 3, { destination: "Portal" }), /There is no destination "Portal"/);
  assert.deepEqual(await told(1, 3, "Portal"), [
    ...unnamed.map((definition) => ["Portal", definition]),
    [null, "custom field: name"],
  ]);
  assert.deepEqual(await of(1, 2, { destination: "Portal", field: "region" }), []);
  assert.deepEqual(await of(1, 2, { destination: "Hub", field: "area" }), []);
});

/** One item with these values; the mapping makes "north-id" `external`. */
function itemWith(external: string, ...inputs: string[]): MappingWorld {
  const { fields, ...rest } = world("Nordics", external, "web-id");
  const offered = (valueId: string, text: string) => ({
    valueId,
    display: text,
    value: text,
    archived: false,
  });
  const selectValues = [offered("north-id", "Nordics"), offered("east-id", "East")];
  const values = inputs.map((input, ordinal) => ({
    ...{ customFieldId: "region-id", ordinal, input, inputIsId: true, text: null },
  }));
  return {
    ...rest,
    fields: fields.map((field) => ({ ...field, selectValues })),
    items: [{ contentId: "item", values }],
  };
}

long(
  "a copy more or less of a value is told as what it is, and copies are as they are since one run",
  async () => {
    const nights = await nightsOf([
      itemWith("nordic", "north-id", "east-id"),
      itemWith("nordic", "north-id", "north-id", "east-id", "east-id"),
      itemWith("nordic", "north-id", "north-id", "north-id", "north-id", "east-id"),
      itemWith("north", "north-id", "north-id", "east-id"),
      itemWith("nordic", "north-id", "north-id", "north-id", "east-id"),
    ]);
    const said = async (from: number) => {
      const diff = await diffValues(nights.connection, { before: runOf(from), after: runOf(from + 1) });
      const { rows } = await diff.readLines();
      return rows
        .map(
          ({ causes, value, before, after, values }) =>
            `${causes}: ${value}: ${before} -> ${after}, ${values}`,
        )
        .toSorted();
    };
    const added = '"nordic" as "market"';
    assert.deepEqual(await said(1), [
      'item_changed: "East":  -> nothing [unmapped], 1',
      `item_changed: "Nordics":  -> ${added}, 1`,
    ]);
    assert.deepEqual(await said(2), [
      'item_changed: "East": nothing [unmapped] -> , 1',
      `item_changed: "Nordics":  -> ${added}, 2`,
    ]);
    assert.deepEqual(await said(3), [
      `item_changed mapping_changed: "Nordics": ${added} -> , 2`,
      'mapping_changed: "Nordics": "nordic" -> "north", 2',
    ]);
    assert.deepEqual(await said(4), [
      `item_changed mapping_changed: "Nordics":  -> ${added}, 1`,
      'mapping_changed: "Nordics": "north" -> "nordic", 2',
    ]);
    const held = async (valueId: string) => {
      const { run, causes } = await versionOf(nights, "item", valueId);
      return [run, ...causes];
    };
    assert.deepEqual(await held("east-id"), [runOf(1).run, "first_seen"]);
    assert.deepEqual(await held("north-id"), [runOf(5).run, "mapping_changed"]);
  },
);
