import assert from "node:assert/strict";
import { test } from "node:test";
import { exportMapping, type MappingRow, readMapping } from "../../../src/audit/mapping/mapping-file.ts";
import { WarehouseError } from "../../../src/common/errors.ts";
import { emptyTables, fillTables, mappingDatabase } from "../../load/mapping-tables.ts";
import { either } from "../../long.ts";
import fc from "../../properties.ts";

const COLUMNS =
  "custom_field_id,destination_id,mapping_id,external_field_name,mapping_value_id,value_id,external_value";

function read(text: string | Uint8Array): MappingRow[] {
  return readMapping(typeof text === "string" ? new TextEncoder().encode(text) : text, "m.csv");
}

const facts = ({ file: _, line: __, texts: ___, ...row }: MappingRow) => row;

test("line ends, a byte order mark, quotes, semicolons, tabs and empty lines are read alike", () => {
  const plain = `${COLUMNS}\nf,d,m,Topic,e1,v1,"Sales, ""big"""\nf,d,m,Topic,e2,v2,\n`;
  const expected = [
    {
      customFieldId: "f",
      destinationId: "d",
      mappingId: "m",
      externalFieldName: "Topic",
      entry: { id: "e1", valueId: "v1", externalValue: 'Sales, "big"' },
    },
    {
      customFieldId: "f",
      destinationId: "d",
      mappingId: "m",
      externalFieldName: "Topic",
      entry: { id: "e2", valueId: "v2", externalValue: "" },
    },
  ];
  const semicolons = `${COLUMNS.replaceAll(",", ";")}\r\nf;d;m;Topic;e1;v1;"Sales, ""big"""\r\nf;d;m;Topic;e2;v2;`;
  for (const text of [
    plain,
    plain.replaceAll("\n", "\r\n"),
    plain.replaceAll("\n", "\r"),
    `\uFEFF${plain}`,
    plain.replaceAll("\n", "\n\n"),
    plain.trimEnd(),
    // As spreadsheets write it.
    `${plain.replaceAll("\n", ",\n")},,,,,,,\n,,,,,,,\n`,
    plain.replace("\n", "\n,,,,,,\n"),
    semicolons,
    `sep=;\r\n${semicolons}`,
    semicolons.replaceAll(";", "\t"),
  ]) {
    assert.deepEqual(read(text).map(facts), expected, JSON.stringify(text));
  }
});

test("an added entry needs no ID, a mapping may have none, and \\N is no value", () => {
  const rows = read(`${COLUMNS}\nf,\\N,m1,\\N,,,\nf,d,m2,Topic,,v9,x\nf,d,m2,Topic,e,\\N,\\N\n`).map(facts);
  assert.deepEqual(rows[0]?.entry, undefined);
  assert.deepEqual([rows[0]?.destinationId, rows[0]?.externalFieldName], [null, null]);
  assert.deepEqual(rows[1]?.entry, { id: null, valueId: "v9", externalValue: "x" });
  assert.deepEqual(rows[2]?.entry, { id: "e", valueId: null, externalValue: null });
});

test("what is wrong in a file is told with line and column", () => {
  const row = "f,d,m,Topic,e1,v1,x";
  const [mapping, entry] = [`${COLUMNS}\n${row}\n`, row.replace("e1", "e2")];
  for (const [text, place, said] of [
    ["", "line 1", /^without custom_field_id, .*; "audit --export-mapping" writes/],
    [COLUMNS.replace("value_id,external_value", "external_value"), "line 1", /^without value_id;/],
    [`${COLUMNS},extrenal_value\n`, "line 1", /"extrenal_value" .* The nearest is "external_value"/],
    [`${COLUMNS},value_id\n`, "line 1", /^the column value_id appears twice/],
    [`${mapping}${entry},y\n`, "line 3", /^it has 8 cells instead of 7/],
    [`${COLUMNS}\nf,d,m\n`, "line 2", /^it has 3 cells/],
    [`${mapping}"f,d\n`, "line 3", /^a quote is not closed/],
    [`${COLUMNS}\n"f"x,d\n`, "line 2", /^a quote is not closed, or text follows it/],
    [`${mapping}${row}\n`, "line 3, column mapping_value_id", /^e1 is in line 2 already/],
    [
      `${mapping}f,d,m,Other,e2,v2,x\n`,
      "line 3, column external_field_name",
      /^it is "Other" here and "Topic" in line 2/,
    ],
    [`${COLUMNS}\n,d,m,Topic,e1,v1,x\n`, "line 2, column custom_field_id", /^it is missing\./],
    [`${COLUMNS}\nf,d,,Topic,e1,v1,x\n`, "line 2, column mapping_id", /^it is missing; copy/],
    [`${COLUMNS}\nf,d,m,Topic,,,x\n`, "line 2, column value_id", /^it is missing; every/],
    [`${COLUMNS},value\nf,d,m,Topic,,,,North\n`, "line 2, column value_id", /^it is missing; every/],
    [`${mapping}f,d,m,Topic,,,\n`, "line 3, column value_id", /^it is missing; the mapping begins in line 2/],
    [`sep=;\n${mapping.replaceAll(",", ";")}f;d\n`, "line 4", /^it has 2 cells/],
    [
      `${COLUMNS}\nf,d,m,"To\npic",e1,v1,x\nf,d,m,"To\npic",e1,v1,x\n`,
      "line 4, column mapping_value_id",
      /in line 2 already/,
    ],
  ] as const) {
    const { message = "" } = failure(text) ?? {};
    const start = `m.csv, ${place}: `;
    assert.ok(message.startsWith(start), message);
    assert.match(message.slice(start.length), said);
  }
  const latin = Buffer.from(`${COLUMNS}\nf,d,m,Caf\xe9,e1,v1,x\n`, "latin1");
  assert.match(failure(latin)?.message ?? "", /^m\.csv is not UTF-8; save the file as "CSV UTF-8"\./);
});

function failure(text: string | Uint8Array): Error | undefined {
  try {
    read(text);
  } catch (thrown) {
    assert.ok(thrown instanceof WarehouseError && thrown.code === "config.invalid", String(thrown));
    return thrown;
  }
  return undefined;
}

const words = fc.oneof(
  fc.constantFrom(
    "",
    "\\N",
    "\\\\N",
    "'=x",
    "=1+1",
    "''@x",
    "-",
    "'",
    "a,b",
    'a "b"',
    "a;b",
    " a ",
    "a\r\nb",
    "ü😀",
    "\t",
  ),
  fc.string({ unit: "grapheme", maxLength: 6 }),
);
const id = fc.string({
  unit: fc.constantFrom("a", "b", "'", "=", ",", '"', "1"),
  minLength: 1,
  maxLength: 3,
});

test("whatever stands in mappings, the file gives it back, in the source's order", async () => {
  const connection = await mappingDatabase();
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.record({
          mappingId: id,
          destinationId: fc.option(id),
          externalFieldName: fc.option(words),
          values: fc.array(fc.tuple(fc.option(words), fc.option(words)), { maxLength: 3 }),
        }),
        { selector: (mapping) => mapping.mappingId, maxLength: 4 },
      ),
      async (drawn) => {
        let entries = 0;
        const mappings = drawn.map(({ values, ...mapping }) => ({
          ...mapping,
          entries: values.map(([valueId, externalValue]) => {
            entries += 1;
            return { mappingValueId: `e${entries}`, valueId, externalValue };
          }),
        }));
        const field = { customFieldId: "f", name: "field", fieldType: "select", selectValues: [], mappings };
        await emptyTables(connection);
        await fillTables(connection, { fields: [field], destinations: [], items: [] });
        const expected: object[] = mappings.flatMap(({ entries: all, ...mapping }): object[] => {
          const common = { customFieldId: "f", ...mapping };
          if (all.length === 0) return [{ ...common, entry: undefined }];
          return all.map(({ mappingValueId, valueId, externalValue }) => ({
            ...common,
            entry: { id: mappingValueId, valueId, externalValue },
          }));
        });
        const text = await exportMapping(connection);
        assert.deepEqual(read(text).map(facts), expected, text);
      },
    ),
    { numRuns: either(15, 60) },
  );
});
