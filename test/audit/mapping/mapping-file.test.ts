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

/** What reading must end with. */
function problem(text: string | Uint8Array): string {
  try {
    read(text);
  } catch (thrown) {
    assert.ok(thrown instanceof WarehouseError);
    assert.deepEqual([thrown.code, thrown.exitCode], ["config.invalid", 2]);
    assert.match(thrown.message, /^m\.csv, line \d+, column \d+: .*\.$/s);
    return thrown.message;
  }
  assert.fail("nothing was thrown");
}

const facts = ({ placeOf: _, ...row }: MappingRow) => row;

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
    semicolons,
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

test("what is wrong in a CSV file is told with line and column", () => {
  const row = "f,d,m,Topic,e1,v1,x";
  for (const [text, said] of [
    ["", /^m\.csv, line 1, column 1: the file is empty; "audit --export-mapping" writes one/],
    ["\uFEFF\r\n \n", /^m\.csv, line 1, column 1: the file is empty; /],
    [
      COLUMNS.replace("value_id,external_value", "external_value"),
      /line 1, column 1: the column value_id is missing; "audit --export-mapping"/,
    ],
    [
      `${COLUMNS},extrenal_value\n`,
      /line 1, column 104: there is no column "extrenal_value" .* The nearest is "external_value"/,
    ],
    [`${COLUMNS},value_id\n`, /column 104: the column value_id appears twice/],
    [
      `${COLUMNS}\n${row}\n${row.replace("e1", "e2")},y\n`,
      /line 3, column 21: the row has 8 cells where the first line has 7/,
    ],
    [`${COLUMNS}\nf,d,m\n`, /line 2, column 5: the row has 3 cells/],
    [`${COLUMNS}\n${row}\n"f,d\n`, /line 3, column 1: the quote that opens here is never closed/],
    [`${COLUMNS}\n"f"x,d\n`, /line 2, column 4: there is text after a closing quote/],
    [`${COLUMNS}\n${row}\n${row}\n`, /line 3, column 13: the entry e1 is in line 2 already/],
    [
      `${COLUMNS}\n${row}\nf,d,m,Other,e2,v2,x\n`,
      /line 3, column 7: external_field_name is "Other" here and "Topic" in line 2/,
    ],
    [`${COLUMNS}\n${row}\nf,d,m,Topic,,,\n`, /line 3, column 5: the mapping m has a row without an entry/],
    [`${COLUMNS}\n,d,m,Topic,e1,v1,x\n`, /line 2, column 1: custom_field_id is missing/],
    [`${COLUMNS}\nf,d,,Topic,e1,v1,x\n`, /line 2, column 5: mapping_id is missing; copy that of the mapping/],
    [`${COLUMNS}\nf,d,m,Topic,,,x\n`, /line 2, column 14: value_id is missing/],
    [
      `${COLUMNS}\nf,d,m,"To\npic",e1,v1,x\nf,d,m,"To\npic",e1,v1,x\n`,
      /line 5, column 6: the entry e1 is in line 3 already/,
    ],
  ] as const) {
    assert.match(problem(text), said);
  }
  const latin = Buffer.concat([
    Buffer.from(`${COLUMNS}\nf,d,m,Caf`),
    Buffer.from([0xe9]),
    Buffer.from(",e1,v1,x\n"),
  ]);
  assert.match(problem(latin), /line 2, column 10: this is not UTF-8; save the file as "CSV UTF-8"\./);
});

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
