/** Tables that we cannot write are blocked, by name, with what they have and the statements that take it away. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { COLUMN_TYPES } from "../../../../src/tables/declare.ts";
import { assertWritable } from "../../../../src/targets/lake/delta/features.ts";
import { readTable } from "../../../../src/targets/lake/delta/read.ts";
import { DELTA_TYPES, type DeltaField, type DeltaTable } from "../../../../src/targets/lake/delta/schema.ts";
import type { TableState } from "../../../../src/targets/lake/delta/state.ts";
import { logStore } from "./memory-store.ts";
import { CONTENT, column, commit, content, putCommit, runOf } from "./runs.ts";

const store = logStore();
await commit(store, runOf("a", 1));
const state = await content(store);

function withFields(change: (fields: DeltaField[]) => readonly DeltaField[]): TableState {
  const schema = JSON.parse(state.metaData.schemaString);
  const schemaString = JSON.stringify({ ...schema, fields: change(schema.fields) });
  return { ...state, metaData: { ...state.metaData, schemaString } };
}

/** The state with another second column, which is `content_id`. */
function withSecond(change: Partial<DeltaField>): TableState {
  return withFields((fields) => fields.map((each, place) => (place === 1 ? { ...each, ...change } : each)));
}

function withProtocol(protocol: Partial<TableState["protocol"]>): TableState {
  return { ...state, protocol: { ...state.protocol, ...protocol } };
}

function withMetaData(metaData: Partial<TableState["metaData"]>): TableState {
  return { ...state, metaData: { ...state.metaData, ...metaData } };
}

function refuses(found: TableState, message: RegExp, declared: DeltaTable = CONTENT): void {
  assert.throws(() => assertWritable(found, declared), { code: "target.refused", message });
}

suite("a table is blocked", () => {
  test("that has features of another program, until they are dropped", () => {
    refuses(
      withProtocol({
        minWriterVersion: 7,
        writerFeatures: ["domainMetadata", "appendOnly", "rowTracking", "invariants"],
      }),
      /^The table content of the lake has rowTracking and domainMetadata, which this program cannot write; remove it in Spark with "ALTER TABLE content DROP FEATURE rowTracking", "ALTER TABLE content DROP FEATURE domainMetadata", then deliver again\.$/,
    );
    const features = { readerFeatures: ["deletionVectors"], writerFeatures: ["deletionVectors"] };
    refuses(
      withProtocol({ minReaderVersion: 3, minWriterVersion: 7, ...features }),
      /has deletionVectors, .* with "ALTER TABLE content DROP FEATURE deletionVectors"/,
    );
    refuses(
      withProtocol({ minReaderVersion: 4, minWriterVersion: 8 }),
      /has reader version 4 and writer version 8, which this program cannot write; deliver into another lake/,
    );
  });

  const property = (name: string, value: string) => withMetaData({ configuration: { [name]: value } });
  const USED: readonly (readonly [uses: string, found: TableState, message: RegExp])[] = [
    [
      "only grows",
      property("delta.appendOnly", "true"),
      /content .* property delta\.appendOnly, .* with "ALTER TABLE content SET TBLPROPERTIES \('delta\.appendOnly' = 'false'\)", then deliver again\.$/,
    ],
    [
      "has a change data feed",
      property("delta.enableChangeDataFeed", "true"),
      /SET TBLPROPERTIES \('delta\.enableChangeDataFeed' = 'false'\)"/,
    ],
    [
      "has constraints",
      withMetaData({
        configuration: { "delta.constraints.positive": "n > 0", "delta.constraints.a name": "true" },
      }),
      /has the constraint positive and the constraint a name, .* "ALTER TABLE content DROP CONSTRAINT positive", "ALTER TABLE content DROP CONSTRAINT `a name`"/,
    ],
    [
      "has a default",
      withSecond({ metadata: { CURRENT_DEFAULT: "5" } }),
      /CURRENT_DEFAULT on its column content_id, .* "ALTER TABLE content ALTER COLUMN content_id DROP DEFAULT"/,
    ],
    [
      "has other names in its files",
      property("delta.columnMapping.mode", "name"),
      /has columnMapping, .* "ALTER TABLE content DROP FEATURE columnMapping"/,
    ],
  ];
  for (const [what, found, message] of USED) test(`that ${what}`, () => refuses(found, message));

  test("for what it uses alone, whatever its protocol has besides", () => {
    assertWritable(property("delta.appendOnly", "false"), CONTENT);
    assertWritable(property("delta.columnMapping.mode", "none"), CONTENT);
    for (const minWriterVersion of [3, 4, 5, 6]) assertWritable(withProtocol({ minWriterVersion }), CONTENT);
    const unused = ["appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns"];
    const others = ["identityColumns", "allowColumnDefaults", "checkpointProtection"];
    const writerFeatures = [...unused, ...others];
    assertWritable(withProtocol({ minWriterVersion: 7, writerFeatures }), CONTENT);
  });

  test("that is not partitioned by instance alone", () => {
    refuses(withMetaData({ partitionColumns: [] }), /content .* not partitioned instead of by instance/);
    refuses(
      withMetaData({ partitionColumns: ["instance", "day"] }),
      /content .* partitioned by instance, day instead of by instance/,
    );
  });

  for (const mark of ["delta.invariants", "delta.generationExpression", "delta.identity.start"]) {
    test(`whose writers must do more for a column: ${mark}`, () => {
      refuses(
        withSecond({ metadata: { [mark]: "x" } }),
        new RegExp(`content .* ${mark} on its column content_id`),
      );
    });
  }

  test("whose column has another type", () => {
    refuses(withSecond({ type: "long" }), /content .* column content_id as long where the run has string/);
    refuses(
      withSecond({ type: "varchar(10)" }),
      /column content_id as varchar\(10\) where the run has string/,
    );
    refuses(withSecond({ type: { type: "struct", fields: [] } }), /content_id as \{"type":"struct"/);
  });

  test("for each type of a column that becomes another of Delta's", () => {
    const same = new Map([["json", "text"]]);
    for (const before of COLUMN_TYPES) {
      for (const now of COLUMN_TYPES) {
        const table = { ...CONTENT, columns: [column("content_id", now, false)] };
        const found = withSecond({ type: DELTA_TYPES[before] });
        if ((same.get(before) ?? before) === (same.get(now) ?? now)) assertWritable(found, table);
        else refuses(found, /column content_id as/, table);
      }
    }
  });

  test("whose column differs in case alone", () => {
    refuses(
      withSecond({ name: "Content_ID" }),
      /content .* a column Content_ID where the run has content_id/,
    );
  });

  test("whose schema cannot be read", () => {
    refuses(withMetaData({ schemaString: "{" }), /content .* has an unreadable schema/);
  });
});

test("a table that another program's readers understand alone is not read", async () => {
  const other = logStore();
  await commit(other, runOf("a", 1));
  const protocol = {
    minReaderVersion: 3,
    minWriterVersion: 7,
    readerFeatures: ["deletionVectors"],
    writerFeatures: ["deletionVectors"],
  };
  await putCommit(other, 1, [{ protocol }]);
  await assert.rejects(readTable(other, "content"), {
    code: "target.refused",
    message: /^The table content of the lake has deletionVectors/,
  });
});
