import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { referenceChecks } from "../../../src/audit/checks/table-checks.ts";
import { compareUtf8 } from "../../../src/common/utf8-order.ts";
import { createTable } from "../../../src/storage/ddl.ts";
import { execute } from "../../../src/storage/duckdb.ts";
import type { DatabaseConnections } from "../../../src/storage/parallel.ts";
import { reference } from "../../../src/tables/declare.ts";
import { column, table, temporaryFolder } from "../../load/fixtures.ts";
import { either } from "../../long.ts";
import fc from "../../properties.ts";

const ITEMS = table("items", "item", ["content_id"], [column("content_id", "text", false)]);
const USERS = table("users", "shared", ["user_id"], [column("user_id", "text", false)]);
const LINKS = {
  ...table(
    "links",
    "item",
    ["content_id"],
    [column("content_id", "text", false), column("other_id", "text"), column("owner_id", "text")],
  ),
  references: [
    reference("content_id", "items"),
    reference("other_id", "items", "content_id"),
    reference("owner_id", "users", "user_id"),
    reference("owner_id", "nowhere", "user_id"),
  ],
};
const TABLES = [ITEMS, USERS, LINKS];

async function tablesIn(
  file: string,
  t: TestContext,
  settings: Record<string, string> = {},
): Promise<DatabaseConnections> {
  const instance = await DuckDBInstance.create(file, settings);
  const connections: DatabaseConnections = [await instance.connect(), await instance.connect()];
  t.after(() => {
    for (const connection of connections) connection.closeSync();
    instance.closeSync();
  });
  for (const each of TABLES) await createTable(connections[0], each);
  return connections;
}

const id = fc.nat(9).map((n) => `${n}`);
const optional = fc.option(id);
const rows = fc.record({
  items: fc.uniqueArray(id),
  users: fc.uniqueArray(id),
  links: fc.array(fc.record({ content_id: id, other_id: optional, owner_id: optional })),
  bounds: fc.uniqueArray(id).map((bounds) => bounds.sort(compareUtf8)),
});

test("rows without a matching parent are counted, whatever ranges of items are looked through", async (t) => {
  const connections = await tablesIn(":memory:", t);
  const [connection] = connections;
  const values = (list: readonly (readonly (string | null)[])[]) =>
    list
      .map((cells) => `(${cells.map((cell) => (cell === null ? "NULL" : `'${cell}'`)).join(", ")})`)
      .join(", ");
  const fill = async (name: string, list: readonly (readonly (string | null)[])[]) => {
    await execute(connection, `DELETE FROM ${name}`);
    if (list.length > 0) await execute(connection, `INSERT INTO ${name} VALUES ${values(list)}`);
  };
  await fc.assert(
    fc.asyncProperty(rows, async ({ items, users, links, bounds }) => {
      const itemRows = items.map((item) => [item]);
      const userRows = users.map((user) => [user]);
      const linkRows = links.map(({ content_id, other_id, owner_id }) => [content_id, other_id, owner_id]);
      await fill("items", itemRows);
      await fill("users", userRows);
      await fill("links", linkRows);
      const absent = (name: "content_id" | "other_id" | "owner_id", there: readonly string[]) =>
        links.filter((link) => link[name] !== null && !there.includes(link[name])).length;
      const checks = await referenceChecks(connections, TABLES, bounds);
      assert.deepEqual(Object.fromEntries(checks.map(({ name, figure }) => [name, figure])), {
        "foreign key links.content_id → items": absent("content_id", items),
        "foreign key links.other_id → items": absent("other_id", items),
        "foreign key links.owner_id → users": absent("owner_id", users),
      });
    }),
    { numRuns: either(4, 60) },
  );
});

for (const referring of ["content_id", "other_id"]) {
  test(`any number of items is looked up in little memory, by ${referring}`, async (t) => {
    const file = join(await temporaryFolder(t), "checked.duckdb");
    const connections = await tablesIn(file, t, { threads: "1", memory_limit: "32MB", temp_directory: "" });
    const [connection] = connections;
    const ids = (from: number) =>
      `SELECT printf('%024x', range) AS id FROM range(${from}, ${from + 400_000})`;
    await execute(connection, `INSERT INTO items (content_id) ${ids(0)}`);
    await execute(connection, `INSERT INTO links (content_id, other_id) SELECT id, id FROM (${ids(7)})`);
    const bounds = Array.from({ length: 10 }, (_, place) => (place * 40_000).toString(16).padStart(24, "0"));
    const references = LINKS.references.filter(({ columns }) => columns.includes(referring));
    const [check] = await referenceChecks(connections, [ITEMS, { ...LINKS, references }], bounds);
    assert.equal(check?.figure, 7);
  });
}
