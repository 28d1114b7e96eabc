import assert from "node:assert/strict";
import { test } from "node:test";
import { DuckDBConnection } from "@duckdb/node-api";
import { exportFrom, NIGHTLY, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

test("a wide table is loaded alone, and others beside each other", async (t) => {
  const service = await Scripted.start(
    t,
    itemsOf(20).map((item) => ({ ...item, body: "Rain on the pass. ".repeat(100) })),
  );
  const underWay = new Set<string>();
  /** Statements that were under way together with another. */
  const together = new Set<string>();
  const { run } = DuckDBConnection.prototype;
  t.mock.method(
    DuckDBConnection.prototype,
    "run",
    async function (this: DuckDBConnection, ...args: Parameters<typeof run>) {
      const [sql] = args;
      underWay.add(sql);
      if (underWay.size > 1) for (const each of underWay) together.add(each);
      try {
        return await run.apply(this, args);
      } finally {
        underWay.delete(sql);
      }
    },
  );
  const out = await temporaryFolder(t);
  await exportFrom({ url: service.url, out, threads: 1, pipelineUrl: NIGHTLY });
  assert.notEqual(together.size, 0);
  const loads = [...together].filter((sql) => sql.startsWith('INSERT INTO "content" SELECT'));
  assert.deepEqual(loads, []);
});
