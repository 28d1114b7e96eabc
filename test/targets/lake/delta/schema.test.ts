/** Tables that we cannot write are refused, by name, with the column or the feature. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { COLUMN_TYPES } from "../../../../src/tables/declare.ts";
import { commitReplacement } from "../../../../src/targets/lake/delta/commit.ts";
import { readTable } from "../../../../src/targets/lake/delta/read.ts";
import { assertWritable, type DeclaredTable, type Field } from "../../../../src/targets/lake/delta/schema.ts";
import type { TableState } from "../../../../src/targets/lake/delta/state.ts";
import { logStore } from "./memory-store.ts";
import { CONTENT, column, commit, content, NEVER, putCommit, runOf } from "./runs.ts";

const store = logStore();
await commit(store, runOf("a", 1));
const state = await content(store);

function withFields(change: (fields: Field[]) => readonly Field[]): TableState {
  const schema = JSON.parse(state.metaData.schemaString);
  const schemaString = JSON.stringify({ ...schema, fields: change(schema.fields) });
  return { ...state, metaData: { ...state.metaData, schemaString } };
}

/** The state with another second column, which is `content_id`. */
function withSecond(change: Partial<Field>): TableState {
  return withFields((fields) => fields.map((each, place) => (place === 1 ? { ...each, ...change } : each)));
}

function withProtocol(protocol: Partial<TableState["protocol"]>): TableState {
  return { ...state, protocol: { ...state.protocol, ...protocol } };
}

function withMetaData(metaData: Partial<TableState["metaData"]>): TableState {
  return { ...state, metaData: { ...state.metaData, ...metaData } };
}

function refuses(found: TableState, message: RegExp, declared: DeclaredTable = CONTENT): void {
  assert.throws(() => assertWritable(found, declared), { code: "target.refused", message });
}

suite("a table is refused", () => {
  test("that demands a later writer, with its features", () => {
    refuses(
      withProtocol({ minWriterVersion: 7, writerFeatures: ["rowTracking", "domainMetadata"] }),
      /table content .* writer version 7 \(domainMetadata, rowTracking\)/,
    );
    refuses(
      withProtocol({ minWriterVersion: 4 }),
      /table content .* writer version 4, and we write for 1 and 2/,
    );
    refuses(
      withProtocol({ minReaderVersion: 2, minWriterVersion: 5 }),
      /reader version 2 and writer version 5/,
    );
  });

  test("that only grows", () => {
    refuses(withMetaData({ configuration: { "delta.appendOnly": "true" } }), /content .* delta\.appendOnly/);
    assertWritable(withMetaData({ configuration: { "delta.appendOnly": "false" } }), CONTENT);
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
        const found = withSecond({ type: DELTA[before] });
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
    refuses(withMetaData({ schemaString: "{" }), /content .* has no schema that we can read/);
  });

  test("and nothing is committed to it", async () => {
    const refused = { ...CONTENT, columns: [column("content_id", "bigint", false)] };
    const committing = commitReplacement(store, runOf("b", 1, { table: refused }), NEVER);
    await assert.rejects(committing, { code: "target.refused" });
    assert.equal((await content(store)).version, 0);
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
    message: /content .* reader version 3 .*\(deletionVectors\)/,
  });
});

const DELTA = {
  text: "string",
  json: "string",
  boolean: "boolean",
  integer: "integer",
  bigint: "long",
  double: "double",
  timestamp: "timestamp",
  date: "date",
} as const;
