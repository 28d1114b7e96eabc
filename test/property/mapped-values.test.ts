import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { DuckDBConnection } from "@duckdb/node-api";
import { MAPPING_STATUSES } from "../../src/audit/mapped-value.ts";
import {
  type DestinationDefinition,
  type FieldDefinition,
  indexDefinitions,
  type Mapping,
  type MappingEntry,
} from "../../src/audit/mapping/definitions.ts";
import {
  readDestinationCounts,
  receivingDestinations,
  sumCounts,
} from "../../src/audit/mapping/value-counts.ts";
import type { ItemValue } from "../../src/audit/questions/explain-facts.ts";
import { compareUtf8 } from "../../src/common/utf8-order.ts";
import { fillDerivedTables } from "../../src/load/mapped-values.ts";
import { type Item, type MappedItem, mapItem, payloadJson } from "../audit/mapping/procedure.ts";
import {
  emptyTables,
  fillTables,
  type MappingWorld,
  mappingDatabase,
  type PayloadRow,
  readMappedValueRows,
  readPayloads,
} from "../load/mapping-tables.ts";
import { either } from "../long.ts";
import fc from "../properties.ts";

/** Few texts for IDs, names and values alike, so that they meet: the ID of one value is the text of another. */
const COMMON = ["a", "A", "b", "", "ü"];
const RARE = [
  "10",
  "9",
  " ",
  "k",
  "\u212A",
  "\uFFEE",
  "\u{1F600}",
  "\0",
  '"',
  "\\",
  "\x1F",
  "'",
  "null",
  "__proto__",
];
const someText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...COMMON) },
  { weight: 1, arbitrary: fc.constantFrom(...RARE) },
);
const maybeText = fc.option(someText, { freq: 8 });
/** Of `a`, `A`, U+FFEE and U+1F600 the order of bytes is another than that of cases and of UTF-16 units. */
const destinationId = fc.constantFrom("a", "A", "\uFFEE", "\u{1F600}");
const fieldType = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom("select", "multiselect") },
  { weight: 1, arbitrary: fc.constantFrom("text", "file", "number", "Select", null) },
);

type Unnumbered<T, Id extends keyof T> = Omit<T, Id>;
interface DraftMapping extends Unnumbered<Mapping, "mappingId" | "entries"> {
  readonly entries: readonly Unnumbered<MappingEntry, "mappingValueId">[];
}
interface DraftField extends Unnumbered<FieldDefinition, "mappings"> {
  readonly mappings: readonly DraftMapping[];
}
/** `field`: place among the world's fields; one more than there are names a field that nobody defines. */
interface DraftValue extends Unnumbered<ItemValue, "customFieldId"> {
  readonly field: number;
}
interface DraftWorld {
  readonly fields: readonly DraftField[];
  readonly destinations: readonly DestinationDefinition[];
  readonly items: readonly { readonly contentId: string; readonly values: readonly DraftValue[] }[];
}

const field: fc.Arbitrary<DraftField> = fc.record({
  customFieldId: someText,
  name: maybeText,
  fieldType,
  selectValues: fc.uniqueArray(
    fc.record({ valueId: someText, display: maybeText, value: maybeText, archived: fc.boolean() }),
    { selector: ({ valueId }) => valueId, maxLength: 5 },
  ),
  mappings: fc.array(
    fc.record({
      destinationId: fc.option(destinationId, { freq: 12 }),
      externalFieldName: maybeText,
      entries: fc.array(fc.record({ valueId: maybeText, externalValue: maybeText }), { maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});
const value: fc.Arbitrary<DraftValue> = fc.record({
  field: fc.nat(4),
  ordinal: fc.nat(3),
  input: maybeText,
  inputIsId: fc.boolean(),
  text: maybeText,
});
const draftWorld: fc.Arbitrary<DraftWorld> = fc.record({
  fields: fc.uniqueArray(field, {
    selector: ({ customFieldId }) => customFieldId,
    minLength: 1,
    maxLength: 4,
  }),
  destinations: fc.uniqueArray(
    fc.record({
      destinationId,
      identification: maybeText,
      supportsMappings: fc.option(fc.boolean(), { freq: 4 }),
    }),
    { selector: (destination) => destination.destinationId },
  ),
  items: fc.uniqueArray(fc.record({ contentId: someText, values: fc.array(value, { maxLength: 12 }) }), {
    selector: ({ contentId }) => contentId,
    minLength: 1,
    maxLength: 10,
    size: "max",
  }),
});

/** One database takes many worlds at once: their IDs begin with the place of the world. */
function settle(draft: DraftWorld, place: number): MappingWorld {
  const own = (id: string): string => `${String(place).padStart(3, "0")}/${id}`;
  let count = 0;
  // Unique, and in another order than the source's.
  const nextId = (): string => own(String(9999 - ((count++ * 7919) % 9973)));
  const fields = draft.fields.map((each) => ({
    ...each,
    customFieldId: own(each.customFieldId),
    mappings: each.mappings.map((mapping) => ({
      ...mapping,
      mappingId: nextId(),
      destinationId: mapping.destinationId === null ? null : own(mapping.destinationId),
      entries: mapping.entries.map((entry) => ({ ...entry, mappingValueId: nextId() })),
    })),
  }));
  return {
    fields,
    destinations: draft.destinations.map((each) => ({ ...each, destinationId: own(each.destinationId) })),
    items: draft.items.map(({ contentId, values }) => ({
      contentId: own(contentId),
      values: withoutRepeats(values).map(({ field: at, ...rest }) => ({
        ...rest,
        customFieldId: fields[at % (fields.length + 1)]?.customFieldId ?? own("undefined"),
      })),
    })),
  };

  function withoutRepeats(values: readonly DraftValue[]): DraftValue[] {
    const at = ({ field: place, ordinal }: DraftValue) => `${place % (fields.length + 1)}/${ordinal}`;
    return [...new Map(values.map((each) => [at(each), each])).values()];
  }
}

let connection: DuckDBConnection;
before(async () => {
  connection = await mappingDatabase();
});
after(() => connection.closeSync());

function byProcedure({ fields, destinations, items }: MappingWorld, passthrough: boolean): MappedItem[] {
  const definitions = indexDefinitions(fields, destinations);
  return items
    .toSorted((a, b) => compareUtf8(a.contentId, b.contentId))
    .map((item: Item) => mapItem(item, definitions, { passthrough }));
}

async function bySql(
  worlds: readonly MappingWorld[],
  options: { readonly passthrough: boolean; readonly rowsPerRange: number },
): Promise<void> {
  await emptyTables(connection);
  await fillTables(connection, {
    fields: worlds.flatMap(({ fields }) => fields),
    destinations: worlds.flatMap(({ destinations }) => destinations),
    items: worlds.flatMap(({ items }) => items),
  });
  await fillDerivedTables([connection], { ...options, itemBounds: [] });
}

const FLAGS = ["valueArchived", "valueUnknown", "ambiguous", "matchedByText", "collision"] as const;

test("the SQL steps give the rows of the per-item procedure, whatever definitions and items say", async () => {
  const seen = new Set<string>();
  const drafts = fc.array(draftWorld, { minLength: 1, maxLength: 24, size: "max" });
  const options = fc.record({ passthrough: fc.boolean(), rowsPerRange: fc.constantFrom(60, 300_000) });
  await fc.assert(
    fc.asyncProperty(drafts, options, async (given, chosen) => {
      const worlds = given.map(settle);
      const expected = worlds.flatMap((world) => byProcedure(world, chosen.passthrough));
      await bySql(worlds, chosen);
      const mappedValues = expected.flatMap((item) => item.mappedValues);
      assert.deepEqual(await readMappedValueRows(connection), mappedValues);
      assert.deepEqual(await readPayloads(connection), expected.flatMap(payloadRows));
      for (const row of mappedValues)
        for (const what of [row.status, ...FLAGS.filter((flag) => row[flag])]) seen.add(what);
    }),
    // A failure that needs many rows takes long to make small: then what was found by then is shown.
    { numRuns: either(10, 30), interruptAfterTimeLimit: 300_000, markInterruptAsFailure: true },
  );
  assert.deepEqual([...seen].sort(), [...MAPPING_STATUSES, ...FLAGS].sort());
});

test("to name a destination lowers no count and no gate, unless the service then says that it supports no mappings", async () => {
  const drafts = fc.array(draftWorld, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(drafts, async (given) => {
      const worlds = given.map(settle);
      /** What `audit` and its gates count, where the service describes destinations so. */
      const countsWith = async (describe: (each: DestinationDefinition) => DestinationDefinition[]) => {
        const described = worlds.map((world) => ({
          ...world,
          destinations: world.destinations.flatMap(describe),
        }));
        await bySql(described, { passthrough: false, rowsPerRange: 300_000 });
        return receivingDestinations(await readDestinationCounts(connection));
      };
      const nameless = await countsWith(() => []);
      const named = await countsWith((each) => [{ ...each, supportsMappings: true }]);
      const drawn = await countsWith((each) => [each]);
      const silent = new Set(
        worlds.flatMap(({ destinations }) =>
          destinations.flatMap((each) => (each.supportsMappings === false ? each.destinationId : [])),
        ),
      );
      const expected = nameless.filter(({ destination_id: id }) => !silent.has(id));
      assert.deepEqual(sumCounts(named), sumCounts(nameless));
      assert.deepEqual(sumCounts(drawn), sumCounts(expected));
      assert.equal(drawn.length, expected.length);
    }),
    { numRuns: either(5, 20) },
  );
});

function payloadRows({ mappedValues, payloads }: MappedItem): PayloadRow[] {
  return [...payloads].flatMap(([destinationId, members]) => {
    const row = mappedValues.find((each) => each.destinationId === destinationId);
    if (row === undefined) return [];
    const { contentId, destinationUnsupported } = row;
    return [
      { contentId, destinationId, receives: destinationUnsupported !== true, payload: payloadJson(members) },
    ];
  });
}
