import assert from "node:assert/strict";
import { test } from "node:test";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { scalar } from "../../src/storage/duckdb.ts";
import { awaitBoth, mapParallel, runOnEach } from "../../src/storage/parallel.ts";

async function twoConnections(): Promise<DuckDBConnection[]> {
  const instance = await DuckDBInstance.create(":memory:");
  return [await instance.connect(), await instance.connect()];
}

test("things are worked on beside each other, one at a time on each connection, and answered in their order", async () => {
  const connections = await twoConnections();
  const underWay = new Map<DuckDBConnection, number>();
  let most = 0;
  const answers = await mapParallel(connections, [5, 1, 4, 2, 3], async (connection, thing) => {
    underWay.set(connection, (underWay.get(connection) ?? 0) + 1);
    assert.equal(underWay.get(connection), 1);
    most = Math.max(
      most,
      [...underWay.values()].reduce((sum, count) => sum + count, 0),
    );
    const answer = await scalar(connection, "SELECT $1::INTEGER * 10", [thing]);
    underWay.set(connection, 0);
    return answer;
  });
  assert.deepEqual(answers, [50, 10, 40, 20, 30]);
  assert.equal(most, 2);
});

test("after a failure nothing is begun, and it is thrown when what was begun has ended", async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const working = mapParallel(await twoConnections(), [1, 2, 3, 4, 5, 6], async (connection, thing) => {
    begun.push(thing);
    const sql =
      thing === 1 ? "SELECT error('no')" : "SELECT count(*) FROM range(3000000) WHERE hash(range) = 1";
    await scalar(connection, sql).finally(() => ended.push(thing));
  });
  await assert.rejects(working);
  assert.deepEqual(begun, [1, 2]);
  assert.deepEqual(ended.toSorted(), [1, 2]);
});

test("the same is done in each lane, and a failure is thrown when all have ended", async () => {
  const ended: unknown[] = [];
  const [failing, ...others] = await twoConnections();
  const connections = [failing, ...others].filter((connection) => connection !== undefined);
  const working = runOnEach(connections, async (connection) => {
    const sql =
      connection === failing
        ? "SELECT error('no')"
        : "SELECT count(*) FROM range(3000000) WHERE hash(range) = 1";
    await scalar(connection, sql).finally(() => ended.push(connection));
  });
  await assert.rejects(working);
  assert.deepEqual(new Set(ended), new Set(connections));
});

test("of two that go on together both have ended when a failure is thrown", async () => {
  const [connection, other] = await twoConnections();
  assert.ok(connection !== undefined && other !== undefined);
  let ended = 0;
  const count = (on: DuckDBConnection) =>
    scalar(on, "SELECT count(*) FROM range(3000000) WHERE hash(range) = 1").finally(() => ended++);
  const fails = (on: DuckDBConnection) => scalar(on, "SELECT error('no')").finally(() => ended++);
  assert.deepEqual(await awaitBoth(count(connection), count(other)), [0, 0]);
  await assert.rejects(awaitBoth(fails(connection), count(other)), /Invalid Input/);
  assert.equal(ended, 4);
  await assert.rejects(awaitBoth(count(connection), fails(other)), /Invalid Input/);
  assert.equal(ended, 6);
  const first = Promise.reject(new Error("first"));
  await assert.rejects(awaitBoth(first, Promise.reject(new Error("second"))), /first/);
});
