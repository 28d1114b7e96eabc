import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { CliEnvironment } from "../../../src/cli/command.ts";
import { reportCommand } from "../../../src/cli/commands/report.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { reportOf } from "../../../src/show/page/report.ts";
import { all } from "../../../src/storage/duckdb.ts";
import { capture } from "../../cli/capture.ts";
import { long } from "../../long.ts";
import { opened, sampleWarehouse } from "../sample.ts";
import { type PageItem, pageItems } from "./page-data.ts";

const out = await sampleWarehouse();
const parquet = await sampleWarehouse("parquet");
const file = join(out, "current", "report.html");
const page = await readFile(file, "utf8");

const report = (given: CliEnvironment) => reportCommand({ ...given, err: given.out });
/** What a page says of items, a line for each member of a payload and for each value. */
function linesOf(items: ReadonlyMap<string, PageItem>): string[] {
  return [...items].flatMap(([id, { payloads, values }]) => [
    ...[...payloads].flatMap(([destination, members]) =>
      members.map(({ name, values: sent }) => `${id} | ${destination} | ${name} = ${JSON.stringify(sent)}`),
    ),
    ...values.map((value) => `${id} | ${value}`),
  ]);
}

test("each item's payloads are those of the tables, with the mapping and entry of each value", async () => {
  await using run = await opened(out);
  const payloads = await all(
    run.connection,
    "SELECT content_id, destination_id, payload::VARCHAR AS payload FROM content_external_payloads",
  );
  const values = await all(
    run.connection,
    `SELECT content_id, destination_id, custom_field_id, mapping_id, external_field_name, status, mapping_value_id,
       external_value FROM content_mapped_values`,
  );
  const expected = [
    ...payloads.flatMap(({ content_id, destination_id, payload }) =>
      Object.entries(JSON.parse(String(payload))).map(
        ([name, sent]) => `${content_id} | ${destination_id} | ${name} = ${JSON.stringify(sent)}`,
      ),
    ),
    ...values.map((row) => Object.values(row).join(" | ")),
  ];
  const items = pageItems(page);
  assert.equal(items.size, 500);
  assert.deepEqual(linesOf(items).sort(), expected.sort());
});

test("the command makes the page of the run's folder again, byte by byte, also of Parquet files alone", async () => {
  for (const warehouse of [out, parquet]) {
    const target = join(warehouse, "..", "again.html");
    const said = await capture(report, ["--warehouse", warehouse, "--out", target]);
    assert.match(said, /again\.html \(\d+ kB\) is the report of 000001-\S+\n$/);
    assert.equal(
      await readFile(target, "utf8"),
      await readFile(join(warehouse, "current", "report.html"), "utf8"),
    );
  }
});

long("a page that is written to the standard output is that page and nothing else", async () => {
  const target = join(out, "..", "redirected.html");
  const handle = await open(target, "w+");
  const child = spawn(
    process.execPath,
    [packagePath("src/cli/main.ts"), "report", "--warehouse", out, "--out", "/dev/stdout"],
    { stdio: ["ignore", handle.fd, "pipe"] },
  );
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  assert.deepEqual(await once(child, "close"), [0, null]);
  assert.equal(await handle.readFile("utf8"), page);
  await handle.close();
  assert.match(said, /^\/dev\/stdout \([\d.]+ [kM]B\) is the report of 000001-\S+\n$/);
});

test("a page with room for few items, or few values, has those that need attention most", async () => {
  await using open = await opened(out);
  const run = { ...open, earlier: { previous: null, before: undefined, listed: [] } };
  const lacking = await all(
    run.connection,
    `SELECT content_id, count_if(status IN ('unmapped', 'unknown_value') AND receives)::INT AS number, count(*)::INT AS values
     FROM content_mapped_values GROUP BY content_id ORDER BY number DESC`,
  );
  const numbers = new Map(lacking.map(({ content_id, number }) => [content_id, number]));
  for (const [limits, most] of [
    [{ items: 20, values: 1e6, base64: 1e6 }, 20],
    [{ items: 1000, values: 900, base64: 1e6 }, 500],
    [{ items: 1000, values: 1e6, base64: 60_000 }, 500],
  ] as const) {
    const small = await reportOf(run, limits);
    const items = [...pageItems(small)];
    assert.equal(items.length, most);
    const valued = items.filter(([, { values }]) => values.length > 0).map(([id]) => numbers.get(id));
    assert.ok(valued.length <= (most === 20 ? 20 : 200), String(valued.length));
    assert.deepEqual(valued, [...numbers.values()].slice(0, valued.length));
    if (most < 500) assert.match(small, /The page has 20 of 500 items, /);
  }
});
