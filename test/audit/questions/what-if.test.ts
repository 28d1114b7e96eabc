import assert from "node:assert/strict";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { MappedValue } from "../../../src/audit/mapped-value.ts";
import {
  type DefinitionIndex,
  indexDefinitions,
  type Mapping,
  readDefinitions,
} from "../../../src/audit/mapping/definitions.ts";
import { exportMapping, type MappingRow, readMapping } from "../../../src/audit/mapping/mapping-file.ts";
import { explainItem } from "../../../src/audit/questions/explain.ts";
import { readItemValues } from "../../../src/audit/questions/item-values.ts";
import { whatIf } from "../../../src/audit/questions/what-if.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { all } from "../../../src/storage/duckdb.ts";
import { failsWith } from "../../failing.ts";
import { either, few, long } from "../../long.ts";
import fc from "../../properties.ts";
import { type Item, mapItem } from "../mapping/procedure.ts";
import { opened, sampleWarehouse } from "../sample.ts";
import { site } from "../two-nights.ts";

const out = await sampleWarehouse();
const parquet = await sampleWarehouse("parquet");

const place = () => ({ file: "m.csv", line: 1, column: 1 });

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
            entry: { id: null, valueId, externalValue: "new" },
            placeOf: place,
          });
        }
      }
      const expected = expectedChanges(items, definitions, edited(definitions, file), false);
      assert.deepEqual(await changes(out, file, 1500), expected);
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
  assert.ok(passthrough && [...payloads.values()].some((members) => members.has("cta_label")));
});

/** Texts have no mappings, so that no value of a run tells whether it sends them. */
async function withoutMappedTexts(folder: string): Promise<string> {
  const set = join(folder, "set");
  await cp(packagePath("data/sample"), set, { recursive: true });
  const file = join(set, "custom_fields.ndjson");
  const fields = (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const bare = fields.map((field) =>
    field.field_type.endsWith("select") ? field : { ...field, mappings: [] },
  );
  await writeFile(file, bare.map((field) => `${JSON.stringify(field)}\n`).join(""));
  return set;
}

for (const [name, pipeline] of few(
  [
    ["sends values as they are", new URL("../passthrough-pipeline.ts", import.meta.url)],
    ["sends mapped values alone", "nightly"],
  ] as const,
  1,
)) {
  long(`a first mapping of a text is known to send, or not, where the pipeline ${name}`, async () => {
    const { out: own, folder, night } = await site();
    await night(await withoutMappedTexts(folder), pipeline);
    const texts = (await exported(out)).filter(({ externalFieldName }) => externalFieldName === "cta_label");
    const rows = [...(await exported(own)), ...texts];
    const { definitions, items } = await world(own);
    const sends = pipeline !== "nightly";
    const found = await changes(own, rows);
    assert.deepEqual(found, expectedChanges(items, definitions, edited(definitions, rows), sends));
    assert.equal(found.length > 100, sends);
  });
}

test("the counts by destination and field, and by value, add up", async () => {
  await using run = await opened(out);
  const rows = (await exported(out)).map((row) =>
    row.externalFieldName === "market" || row.entry?.externalValue === "T1 North"
      ? { ...row, externalFieldName: "land" }
      : row,
  );
  const whole = rows.map((row) =>
    row.externalFieldName === "Sales Territory" ? { ...row, externalFieldName: "land" } : row,
  );
  const found = await whatIf(run.connection, whole, 1500);
  const sum = (name: "gained" | "lost" | "changed" | "values") =>
    found.groups.reduce((total, row) => total + row[name], 0);
  assert.ok(found.values > 500);
  assert.equal(sum("values"), found.values);
  assert.equal(sum("changed") + sum("gained") + sum("lost"), found.values);
  const [items] = await all(
    run.connection,
    "SELECT count(DISTINCT content_id) AS items FROM what_if_changes",
  );
  assert.equal(found.items, Number(items?.items));
  const perValue = await all(
    run.connection,
    "SELECT count(*) AS n FROM (SELECT DISTINCT content_id, destination_id, custom_field_id, value_id, external_value_before FROM what_if_changes)",
  );
  assert.equal(
    found.byValue.reduce((total, row) => total + row.items, 0),
    Number(perValue[0]?.n),
  );
});

test("what the run does not know is told with its place, and nothing is computed", async () => {
  await using run = await opened(out);
  const rows = await exported(out);
  const [first] = rows;
  if (first?.entry === undefined) assert.fail();
  const told = async (change: Partial<MappingRow>) => {
    const file = rows.map((row, index) => (index === 40 ? { ...row, ...change } : row));
    return (await failsWith("config.invalid", whatIf(run.connection, file))).message;
  };
  assert.match(
    await told({ customFieldId: "nope" }),
    /^m\.csv, line 42, column 1: there is no custom field with the ID "nope"/,
  );
  assert.match(
    await told({ destinationId: "a2e2f3220fa6939a6a43c502" }),
    /^m\.csv, line 42, column \d+: there is no destination .* The nearest is "a2e2f3220fa6939a6a43c501"/,
  );
  const entry = rows[40]?.entry ?? assert.fail();
  const known = String(entry.valueId);
  assert.match(
    await told({ entry: { ...entry, valueId: `${known.slice(0, -1)}x` } }),
    new RegExp(`has no value with the ID "\\w+"\\. The nearest is "${known}"`),
  );
  const { fields } = await readDefinitions(run.connection);
  const field = fields.find(({ customFieldId }) => customFieldId === rows[40]?.customFieldId);
  const { value, valueId } = field?.selectValues[0] ?? assert.fail();
  assert.match(
    await told({ entry: { ...entry, valueId: value } }),
    new RegExp(`That is the text of a value; its ID is "${valueId}"`),
  );
  const tables = await all(
    run.connection,
    "SELECT count(*) AS n FROM duckdb_tables() WHERE table_name LIKE 'what_if%'",
  );
  assert.equal(Number(tables[0]?.n), 0);
});

test("a mistyped ID of a mapping or an entry is told with the one that is meant, and new ones are taken", async () => {
  await using run = await opened(out);
  const rows = await exported(out);
  const { fields, destinations } = await readDefinitions(run.connection);
  const at = rows.findIndex(({ entry }) => entry?.externalValue === "T2 Central");
  const row = rows[at] ?? assert.fail();
  const { mappingId, entry = assert.fail() } = row;
  const told = async (edit: readonly MappingRow[]) =>
    (await failsWith("config.invalid", whatIf(run.connection, edit))).message;
  const changed = (change: Partial<MappingRow>) =>
    rows.map((each, index) => (index === at ? { ...each, ...change } : each));
  const line = at + 2;
  assert.match(
    await told(changed({ mappingId: `${mappingId.slice(0, -1)}x` })),
    new RegExp(
      `^m\\.csv, line ${line}, column \\d+: the run has no mapping "\\w+x"; that of region for Partner Portal is "${mappingId}"\\.`,
    ),
  );
  assert.match(
    await told(changed({ entry: { ...entry, id: `${entry.id?.slice(0, -1)}x` } })),
    new RegExp(
      `^m\\.csv, line ${line}, column \\d+: the run has no entry "\\w+x"; that of this value in the mapping ${mappingId} is "${entry.id}"\\.`,
    ),
  );
  const [field, destination] =
    fields
      .filter(({ selectValues }) => selectValues.length > 0)
      .flatMap((each) =>
        destinations
          .filter(({ destinationId }) =>
            each.mappings.every((known) => known.destinationId !== destinationId),
          )
          .map((site) => [each, site] as const),
      )[0] ?? assert.fail();
  const { customFieldId, selectValues } = field;
  const { destinationId } = destination;
  const added = (id: string, entryId: string | null): MappingRow => ({
    customFieldId,
    destinationId,
    mappingId: id,
    externalFieldName: "New",
    entry: { id: entryId, valueId: selectValues[0]?.valueId ?? assert.fail(), externalValue: "x" },
    placeOf: place,
  });
  assert.match(
    await told([...rows, added("mine", null), added("mien", null)]),
    /the run has no mapping "mien"; the new one of \w+ for .* is "mine" in line 1\. Give all of its rows one ID\.$/,
  );
  const found = await whatIf(run.connection, [...rows, added("mine", "own"), added("mine", null)]);
  assert.deepEqual(found.entries.file, found.entries.run + 2);
});
