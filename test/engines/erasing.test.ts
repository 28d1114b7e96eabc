/** What a real PostgreSQL holds of a person once the service has erased them and all was read again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";
import { postgres } from "../../src/targets/postgres/postgres.ts";
import { NEEDLE, rereadWithout } from "../run/people.ts";
import { startPostgres } from "./postgres-server.ts";

test("S24: PostgreSQL has nothing of a person once a run without them is delivered", async (t) => {
  await using server = await startPostgres();
  await using connected = new AsyncDisposableStack();
  const admin = connected.adopt(await server.connect(), (client) => client.end());
  const { PGHOST = "" } = server.env("postgres");
  const target = postgres({ url: `postgres://postgres@localhost/postgres?host=${PGHOST}` });
  const { summary } = await rereadWithout(t, [target]);
  assert.deepEqual(
    summary.deliveries.map(({ state }) => state),
    ["delivered"],
  );
  const { rows: tables } = await admin.query(
    "SELECT schemaname, tablename FROM pg_tables WHERE schemaname LIKE 'content_warehouse%'",
  );
  assert.ok(tables.length > 20, String(tables.length));
  for (const { schemaname, tablename } of tables) {
    const table = `${quoteIdentifier(schemaname)}.${quoteIdentifier(tablename)}`;
    const { rows } = await admin.query(`SELECT t::text AS row FROM ${table} t`);
    for (const { row } of rows) assert.ok(!String(row).includes(NEEDLE), `${table}: ${row}`);
  }
});
