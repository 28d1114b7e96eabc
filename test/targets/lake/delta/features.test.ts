/** Tables that we cannot write are blocked, by name, with what they have and the statements that take it away. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { COLUMN_TYPES } from "../../../../src/tables/declare.ts";
import { blockingReason } from "../../../../src/targets/lake/delta/features.ts";
import { readTable } from "../../../../src/targets/lake/delta/log.ts";
import { DELTA_TYPES, type DeltaTable } from "../../../../src/targets/lake/delta/metadata.ts";
import type { TableState } from "../../../../src/targets/lake/delta/state.ts";
import { CONTENT, commit, content, logStore, putCommit, runOf } from "./runs.ts";

const store = logStore();
await commit(store, runOf("a", 1));
const state = await content(store);

const withMetaData = (metaData: Partial<TableState["metaData"]>): TableState => ({
  ...state,
  metaData: { ...state.metaData, ...metaData },
});

/** The state with another second column, which is `content_id`. */
function withSecond(change: object): TableState {
  const { fields } = JSON.parse(state.metaData.schemaString);
  const changed = fields.map((each: object, place: number) => (place === 1 ? { ...each, ...change } : each));
  return withMetaData({ schemaString: JSON.stringify({ type: "struct", fields: changed }) });
}

const withProtocol = (protocol: Partial<TableState["protocol"]>): TableState => ({
  ...state,
  protocol: { ...state.protocol, ...protocol },
});

const property = (name: string, value: string) => withMetaData({ configuration: { [name]: value } });

const refuses = (found: TableState, message: RegExp, declared: DeltaTable = CONTENT) =>
  assert.match(blockingReason(found, declared) ?? "", message);
const allows = (found: TableState, declared: DeltaTable = CONTENT) =>
  assert.equal(blockingReason(found, declared), null);

const VECTORS = { readerFeatures: ["deletionVectors"], writerFeatures: ["deletionVectors"] };

const BLOCKED: readonly (readonly [what: string, found: TableState, message: RegExp])[] = [
  [
    "that has features of another program, until they are dropped",
    withProtocol({
      minWriterVersion: 7,
      writerFeatures: ["domainMetadata", "appendOnly", "rowTracking", "invariants"],
    }),
    /^The table content of the lake has rowTracking and domainMetadata, which this program cannot write; remove it in Spark with "ALTER TABLE content DROP FEATURE rowTracking", "ALTER TABLE content DROP FEATURE domainMetadata", then deliver again\.$/,
  ],
  [
    "of a later protocol",
    withProtocol({ minReaderVersion: 4, minWriterVersion: 8 }),
    /has reader version 4 and writer version 8, which this program cannot write; deliver into another lake/,
  ],
  ...["delta.invariants", "delta.generationExpression", "delta.identity.start"].map(
    (mark) =>
      [
        `whose writers must do more for a column: ${mark}`,
        withSecond({ metadata: { [mark]: "x" } }),
        new RegExp(`content .* ${mark} on its column content_id.*; deliver into another lake`),
      ] as const,
  ),
  [
    "that is not partitioned",
    withMetaData({ partitionColumns: [] }),
    /content .* partitioned by nothing instead of by instance/,
  ],
  [
    "that is not partitioned by instance alone",
    withMetaData({ partitionColumns: ["instance", "day"] }),
    /content .* partitioned by instance, day instead of by instance/,
  ],
  [
    "whose column has a nested type",
    withSecond({ type: { type: "struct", fields: [] } }),
    /column content_id as \{"type":"struct".* where the run has content_id as string/,
  ],
  [
    "whose column differs in case alone",
    withSecond({ name: "Content_ID" }),
    /content .* the column Content_ID as string where the run has content_id as string/,
  ],
];

suite("a table is blocked", () => {
  for (const [what, found, message] of BLOCKED) test(what, () => refuses(found, message));

  test("for what it uses alone, whatever its protocol has besides", () => {
    allows(property("delta.appendOnly", "false"));
    allows(property("delta.columnMapping.mode", "none"));
    for (const minWriterVersion of [3, 4, 5, 6]) allows(withProtocol({ minWriterVersion }));
    const unused = ["appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns"];
    const others = ["identityColumns", "allowColumnDefaults", "checkpointProtection"];
    allows(withProtocol({ minWriterVersion: 7, writerFeatures: [...unused, ...others] }));
  });

  test("for each type of a column that becomes another of Delta's", () => {
    for (const before of COLUMN_TYPES) {
      for (const type of COLUMN_TYPES) {
        const table = { ...CONTENT, columns: [{ name: "content_id", type, nullable: false, comment: "" }] };
        const found = withSecond({ type: DELTA_TYPES[before] });
        if (DELTA_TYPES[before] === DELTA_TYPES[type]) allows(found, table);
        else refuses(found, /column content_id as/, table);
      }
    }
  });

  test("whose schema cannot be read", () => {
    const found = withMetaData({ schemaString: "{" });
    assert.throws(() => blockingReason(found, CONTENT), {
      code: "target.refused",
      message: /content .* has an unreadable schema/,
    });
  });
});

test("a table that another program's readers understand alone is not read", async () => {
  await putCommit(store, 1, [{ protocol: { minReaderVersion: 3, minWriterVersion: 7, ...VECTORS } }]);
  await assert.rejects(readTable(store, "content"), {
    code: "target.refused",
    message: /^The table content of the lake has deletionVectors/,
  });
});
