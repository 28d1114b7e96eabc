import assert from "node:assert/strict";
import { test } from "node:test";
import type { MappedValue } from "../../../src/audit/mapped-value.ts";
import {
  type DefinitionIndex,
  indexDefinitions,
  type Mapping,
  readDefinitions,
} from "../../../src/audit/mapping/definitions.ts";
import { exportMapping, type MappingRow, readMapping } from "../../../src/audit/mapping/mapping-file.ts";
import { explainItem, readItemValues } from "../../../src/audit/questions/explain-facts.ts";
import { whatIf } from "../../../src/audit/questions/what-if.ts";
import { all } from "../../../src/storage/duckdb.ts";
import { failsWith } from "../../failing.ts";
import { either, long } from "../../long.ts";
import fc from "../../properties.ts";
import { type Item, mapItem } from "../mapping/procedure.ts";
import { opened, sampleWarehouse } from "../sample.ts";

const out = await sampleWarehouse();
const parquet = await sampleWarehouse("parquet");

async function exported(folder: string): Promise<MappingRow[]> {
  await using run = await opened(folder);
  return readMapping(new TextEncoder().encode(await exportMapping(run.connection)), "m.csv");
}

/** What would change, a line for each value. */
async function changes(
  folder: string,
  rows: readonly MappingRow[],
  rowsPerRange?: number,
): Promise<string[]> {
  await using run = await opened(folder);
  await whatIf(run.connection, rows, rowsPerRange);
  const found = await all(
    run.connection,
    `SELECT content_id, destination_id, custom_field_id, ordinal, name_before, external_value_before, name_after,
       external_value_after FROM what_if_changes ORDER BY ALL`,
  );
  return found.map((row) => JSON.stringify(Object.values(row))).sort();
}

for (const [name, folder] of Object.entries({ nightly: out, parquet })) {
  test(`an unedited export changes nothing in the run of ${name}`, async () => {
    assert.deepEqual(await changes(folder, await exported(folder)), []);
  });
}

async function world(folder: string): Promise<{ definitions: DefinitionIndex; items: Item[] }> {
  await using run = await opened(folder);
  const ids = await all(run.connection, "SELECT content_id FROM content ORDER BY content_id");
  const items: Item[] = [];
  for (const { content_id } of ids) {
    const contentId = String(content_id);
    items.push({ contentId, values: await readItemValues(run.connection, contentId) });
  }
  return { definitions: await readDefinitions(run.connection), items };
}

/** The definitions with the mappings of a file. */
function edited({ fields, destinations }: DefinitionIndex, rows: readonly MappingRow[]): DefinitionIndex {
  const mappings = new Map<string, { customFieldId: string; mapping: Mapping & { entries: object[] } }>();
  for (const { mappingId, customFieldId, destinationId, externalFieldName, entry } of rows) {
    const mapping = { mappingId, destinationId, externalFieldName, entries: [] };
    const known = mappings.get(mappingId) ?? { customFieldId, mapping };
    mappings.set(mappingId, known);
    if (entry === undefined) continue;
    const { id, valueId, externalValue } = entry;
    known.mapping.entries.push({ mappingValueId: id ?? "added", valueId, externalValue });
  }
  const of = (id: string) =>
    [...mappings.values()].filter((each) => each.customFieldId === id).map((each) => each.mapping);
  return indexDefinitions(
    fields.map((field) => ({ ...field, mappings: of(field.customFieldId) })),
    destinations,
  );
}

/** What the procedure says would change, item by item. */
function expectedChanges(
  items: readonly Item[],
  before: DefinitionIndex,
  after: DefinitionIndex,
  passthrough: boolean,
): string[] {
  const sent = (row: MappedValue | undefined): [string | null, string | null] => {
    if (row === undefined || row.externalFieldName === null) return [null, null];
    const value =
      row.status === "mapped"
        ? row.externalValue
        : row.status === "no_value_mapping" && passthrough
          ? row.value
          : null;
    return value === null ? [null, null] : [row.externalFieldName, value];
  };
  return items
    .flatMap((item) => {
      const ledgers = [before, after].map(
        (definitions) =>
          new Map(
            mapItem(item, definitions, { passthrough }).mappedValues.map((row) => [
              JSON.stringify([row.contentId, row.destinationId, row.customFieldId, row.ordinal]),
              row,
            ]),
          ),
      );
      const keys = new Set(ledgers.flatMap((mappedValues) => [...mappedValues.keys()]));
      return [...keys].flatMap((key) => {
        const [was, is] = ledgers.map((mappedValues) =>
          JSON.stringify(sent(mappedValues.get(key))).slice(1, -1),
        );
        return was === is ? [] : [`${key.slice(0, -1)},${was},${is}]`];
      });
    })
    .sort();
}

test("for random edits the changes are those that the procedure gives item by item", async () => {
  const rows = await exported(out);
  const { definitions, items } = await world(out);
  const values = definitions.fields.flatMap(({ customFieldId, selectValues }) =>
    selectValues.map(({ valueId }) => ({ customFieldId, valueId })),
  );
  const sites = definitions.destinations.map(({ destinationId }) => destinationId);
  const index = fc.nat(rows.length - 1);
  const edit = fc.oneof(
    fc.record({ kind: fc.constant("value" as const), at: index, text: fc.constantFrom("x", "", "nordic") }),
    fc.record({ kind: fc.constant("name" as const), at: index, text: fc.constantFrom("market", "renamed") }),
    fc.record({ kind: fc.constant("delete" as const), at: index, text: fc.constant("") }),
    fc.record({ kind: fc.constant("swap" as const), at: index, text: fc.constant("") }),
    fc.record({
      kind: fc.constant("add" as const),
      at: fc.nat(values.length - 1),
      text: fc.constantFrom(...sites),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 5 }), async (edits) => {
      let file = [...rows];
      for (const { kind, at, text } of edits) {
        const row = file[Math.min(at, file.length - 1)];
        if (row === undefined) continue;
        if (kind === "value" && row.entry !== undefined) {
          file[file.indexOf(row)] = { ...row, entry: { ...row.entry, externalValue: text } };
        } else if (kind === "name") {
          file = file.map((each) =>
            each.mappingId === row.mappingId ? { ...each, externalFieldName: text } : each,
          );
        } else if (kind === "delete") {
          file = file.filter((each) => each !== row);
        } else if (kind === "swap") {
          file = [...file.filter((each) => each !== row), row];
        } else if (kind === "add") {
          const { customFieldId, valueId } = values[at] ?? assert.fail();
          const mapping = definitions.fields
            .find((field) => field.customFieldId === customFieldId)
            ?.mappings.find(({ destinationId }) => destinationId === text);
          file.push({
            customFieldId,
            destinationId: text,
            mappingId: mapping?.mappingId ?? `new ${customFieldId} ${text}`,
            externalFieldName: mapping?.externalFieldName ?? "new",
            texts: new Map(),
            entry: { id: null, valueId, externalValue: "new" },
            file: "m.csv",
            line: 1,
          });
        }
      }
      const expected = expectedChanges(items, definitions, edited(definitions, file), false);
      assert.deepEqual(await changes(out, file, 3000), expected);
    }),
    { numRuns: either(2, 12) },
  );
});

long("where values without value mappings are sent as they are, a new name changes them too", async () => {
  const rename = (rows: readonly MappingRow[]) =>
    rows.map((row) =>
      row.externalFieldName === "cta_label" ? { ...row, externalFieldName: "button" } : row,
    );
  assert.deepEqual(await changes(out, rename(await exported(out))), []);
  const asIs = await sampleWarehouse(new URL("../passthrough-pipeline.ts", import.meta.url));
  const unedited = await exported(asIs);
  assert.deepEqual(await changes(asIs, unedited), []);
  const rows = rename(unedited);
  const { definitions, items } = await world(asIs);
  const found = await changes(asIs, rows);
  assert.deepEqual(found, expectedChanges(items, definitions, edited(definitions, rows), true));
  assert.ok(found.length > 100);
  await using run = await opened(asIs);
  const { passthrough, payloads } = await explainItem(run, String(JSON.parse(found[0] ?? "[]")[0]));
  assert.ok(passthrough && payloads.some(({ name }) => name === "cta_label"));
});

test("what the run does not know is told with its place, and nothing is computed", async () => {
  await using run = await opened(out);
  const rows = await exported(out);
  const at = rows.findIndex(({ entry }) => entry?.externalValue === "T2 Central");
  const row = rows[at] ?? assert.fail();
  const { entry = assert.fail() } = row;
  const typo = (id: string | null) => `${id?.slice(0, -1)}x`;
  const told = async (edit: readonly MappingRow[]) =>
    (await failsWith("config.invalid", whatIf(run.connection, edit))).message;
  const cases: readonly (readonly [column: string, Partial<MappingRow>, meant: string | null])[] = [
    ["custom_field_id", { customFieldId: typo(row.customFieldId) }, row.customFieldId],
    ["destination_id", { destinationId: typo(row.destinationId) }, row.destinationId],
    ["mapping_id", { mappingId: typo(row.mappingId) }, row.mappingId],
    ["mapping_value_id", { entry: { ...entry, id: typo(entry.id) } }, entry.id],
    ["value_id", { entry: { ...entry, valueId: typo(entry.valueId) } }, entry.valueId],
  ];
  for (const [column, change, meant] of cases) {
    const message = await told(rows.map((each) => (each === row ? { ...each, ...change } : each)));
    assert.ok(message.startsWith(`m.csv, line ${at + 2}, column ${column}: the run has no `), message);
    assert.ok(message.includes(` is "${meant}"`), message);
  }
  const made = "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'what_if%'";
  assert.deepEqual(await all(run.connection, made), []);
});

test("a mapping is new where its field and destination have none", async () => {
  await using run = await opened(out);
  const rows = await exported(out);
  const { fields, destinations } = await readDefinitions(run.connection);
  const [free] = fields.flatMap(({ customFieldId, mappings, selectValues: [value] }) => {
    const other = destinations.find(({ destinationId: id }) => mappings.every((m) => m.destinationId !== id));
    return other && value ? [{ customFieldId, destinationId: other.destinationId, ...value }] : [];
  });
  const { customFieldId, destinationId, valueId } = free ?? assert.fail();
  const added = (mappingId: string): MappingRow => ({
    ...{ file: "m.csv", line: 1, customFieldId, destinationId, mappingId, externalFieldName: "New" },
    texts: new Map(),
    entry: { id: null, valueId, externalValue: "x" },
  });
  const edit = [...rows, added("mine"), added("mien")];
  const { message } = await failsWith("config.invalid", whatIf(run.connection, edit));
  assert.match(message, /, column mapping_id: the run has no "mien"; the mapping there is "mine"\. /);
  const { entries } = await whatIf(run.connection, [...rows, added("mine"), added("mine")]);
  assert.equal(entries.file, entries.run + 2);
});
