import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import type { DuckDBConnection } from "@duckdb/node-api";
import { compareUtf8 } from "../../src/common/utf8-order.ts";
import { fillDerivedTables, MAPPED_VALUES_PER_RANGE } from "../../src/load/mapped-values.ts";
import { openForBuilding, ROWS_PER_GROUP } from "../../src/storage/database.ts";
import { execute, scalar } from "../../src/storage/duckdb.ts";
import type { DatabaseConnections } from "../../src/storage/parallel.ts";
import { CRM } from "../audit/mapping/mapping-examples.ts";
import { temporaryFolder } from "./fixtures.ts";
import {
  createMappingTables,
  emptyTables,
  fillTables,
  type MappingWorld,
  mappingLanes,
  readMappedValueRows,
  readPayloads,
} from "./mapping-tables.ts";

let connection: DuckDBConnection;
let lanes: DatabaseConnections;
before(async () => {
  lanes = await mappingLanes();
  [connection] = lanes;
});
beforeEach(() => emptyTables(connection));
after(() => {
  for (const lane of lanes) lane.closeSync();
});

const fill = { itemBounds: [], rowsPerRange: MAPPED_VALUES_PER_RANGE, passthrough: false };

/** Items `a`, `b`, `c`, ... with as many mapped values each. */
function itemsWith(...counts: number[]): MappingWorld {
  const ids = "abcdefgh";
  return {
    destinations: [CRM],
    fields: [
      {
        customFieldId: "f1",
        name: "region",
        fieldType: "multiselect",
        selectValues: [{ valueId: "v1", display: "Europe", value: "emea", archived: false }],
        mappings: [
          {
            mappingId: "m1",
            destinationId: "crm",
            externalFieldName: "Region",
            entries: [{ mappingValueId: "e1", valueId: "v1", externalValue: "EU" }],
          },
        ],
      },
    ],
    items: counts.map((count, place) => ({
      contentId: ids.charAt(place),
      values: Array.from({ length: count }, (_, ordinal) => ({
        customFieldId: "f1",
        ordinal,
        input: "v1",
        inputIsId: true,
        text: "emea",
      })),
    })),
  };
}

/** Ranges that are filled beside each other come in either order. */
function byItem<Row extends { readonly contentId: string }>(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => compareUtf8(a.contentId, b.contentId));
}

test("whatever the ranges are, the tables are the same", async (t) => {
  const world = itemsWith(2, 2, 1, 9, 0, 1, 3);
  await fillTables(connection, world);
  await fillDerivedTables([connection], fill);
  const [mappedValues, payloads] = [
    byItem(await readMappedValueRows(connection)),
    byItem(await readPayloads(connection)),
  ];
  assert.equal(mappedValues.length, 18);
  assert.equal(payloads.length, 6);
  await emptyTables(connection);
  await fillTables(connection, world);
  const filling = lanes.map((lane) => t.mock.method(lane, "run"));
  const bounds = await fillDerivedTables(lanes, { ...fill, itemBounds: ["a", "c"], rowsPerRange: 2 });
  for (const { mock } of filling) {
    const inserts = mock.calls.filter(({ arguments: [sql] }) => String(sql).startsWith("INSERT INTO"));
    assert.notEqual(inserts.length, 0, "each connection has a part of it");
  }
  assert.equal(bounds.length, 6);
  assert.deepEqual(byItem(await readMappedValueRows(connection)), mappedValues);
  assert.deepEqual(byItem(await readPayloads(connection)), payloads);
});

test("what a range leaves over of its row groups is filled up by the next one of its connection", async (t) => {
  const folder = await temporaryFolder(t);
  await using database = await openForBuilding({
    file: join(folder, "warehouse.duckdb"),
    staging: folder,
    temporaryDirectory: folder,
    memoryLimitMb: 256,
    previous: undefined,
  });
  const building: DatabaseConnections = [database.connection, await database.connect()];
  await createMappingTables(database.connection);
  await fillTables(database.connection, itemsWith(1, 1, 1, 1, 1, 1));
  await execute(
    database.connection,
    `INSERT INTO content_custom_field_values BY NAME
     SELECT values.* REPLACE (CAST(1 + i AS INTEGER) AS ordinal)
     FROM content_custom_field_values AS values, range(${ROWS_PER_GROUP + 2000}) t(i)`,
  );
  const bounds = await fillDerivedTables(building, { ...fill, itemBounds: ["b", "c", "d", "e", "f"] });
  assert.ok(bounds.length >= 5);
  const partial = await scalar(
    database.connection,
    `SELECT count(*) FROM (
       SELECT max("start" + count) AS rows FROM pragma_storage_info('content_mapped_values')
       WHERE segment_type <> 'VALIDITY' GROUP BY row_group_id
     ) WHERE rows < ${ROWS_PER_GROUP}`,
  );
  assert.ok(partial <= building.length, `${partial} row groups are not full`);
});

test("without mappings, or without items, both tables stay empty", async () => {
  const world = itemsWith(1);
  for (const part of [{ items: [] }, { fields: [] }]) {
    await emptyTables(connection);
    await fillTables(connection, { ...world, ...part });
    assert.deepEqual(await fillDerivedTables([connection], fill), []);
    assert.deepEqual(await readMappedValueRows(connection), []);
    assert.deepEqual(await readPayloads(connection), []);
  }
});
