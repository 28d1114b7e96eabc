import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { DuckDBConnection } from "@duckdb/node-api";
import { exportFrom, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

const BODIES = `import {
  contentTables, customFields, customTable, definePipeline, destinations, duckdb, listing, parquet, singleItems, text,
} from "content-warehouse";
export default definePipeline({
  name: "bodies",
  description: "Items, and the bodies once more.",
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [contentTables({ only: ["content", "content_tags", "users"] }), customTable({
    name: "bodies",
    comment: "The body of each item.",
    columns: [text("body", { comment: "As the service sends it." })],
    rows: ({ full, dynamic }) => [{ body: String(dynamic?.body ?? full?.body ?? "") }],
  })],
  load: [duckdb(), parquet()],
});
`;

/** A kilobyte that no compression makes less. */
function bodyOf(id: string): string {
  const parts = Array.from({ length: 16 }, (_, part) => createHash("sha256").update(`${id} ${part}`));
  return parts.map((part) => part.digest("hex")).join("");
}

test("two tables are loaded at a time, but never two wide ones", async (t) => {
  const service = await Scripted.start(
    t,
    itemsOf(20).map((item) => ({ ...item, body: bodyOf(item.id) })),
  );
  const folder = await temporaryFolder(t);
  const pipeline = join(folder, "bodies.mjs");
  await writeFile(pipeline, BODIES);
  const underWay = new Set<string>();
  /** Pairs of tables with statements that were under way together. */
  const together = new Set<string>();
  const { run } = DuckDBConnection.prototype;
  t.mock.method(
    DuckDBConnection.prototype,
    "run",
    async function (this: DuckDBConnection, ...args: Parameters<typeof run>) {
      const table = /^(?:COPY .*\/parquet\/|INSERT INTO ")(\w+)/s.exec(args[0])?.[1];
      if (table === undefined) return run.apply(this, args);
      for (const other of underWay) together.add([table, other].toSorted().join(" "));
      underWay.add(table);
      try {
        return await run.apply(this, args);
      } finally {
        underWay.delete(table);
      }
    },
  );
  await exportFrom({
    url: service.url,
    out: join(folder, "out"),
    pipelineUrl: pathToFileURL(pipeline).href,
  });
  assert.notEqual(together.size, 0);
  assert.equal(together.has("bodies content"), false);
});
