import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import type { CliEnvironment } from "../../../src/cli/command.ts";
import { reportCommand } from "../../../src/cli/commands/report.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { createService } from "../../../src/service/service.ts";
import { reportOf } from "../../../src/show/page/report.ts";
import { all } from "../../../src/storage/duckdb.ts";
import { capture } from "../../cli/capture.ts";
import { long } from "../../long.ts";
import { askService, statementsOf } from "../independent.ts";
import { opened, sampleWarehouse } from "../sample.ts";
import { type PageItem, pageItems } from "./page-data.ts";

const out = await sampleWarehouse();
const parquet = await sampleWarehouse("parquet");
const file = join(out, "current", "report.html");
const page = await readFile(file, "utf8");
const service = await createService({ data: packagePath("data/sample") });
after(() => service.close());
const [token = ""] = service.contentSet.tokens.keys();
const answers = await askService(
  service.url,
  token,
  service.contentSet.destinations.map(({ identification, platform }) => ({ name: identification, platform })),
);

const report = (given: CliEnvironment) => reportCommand({ ...given, err: given.out });

const STATUSES = ["mapped", "unmapped", "unknown_value", "no_value_mapping"];

/** The parts of a statement; what an item has may have the separator in it. */
function partsOf(statement: string): string[] {
  const parts = statement.split(" | ");
  const status = parts.findLastIndex((part) => STATUSES.includes(part));
  return [...parts.slice(0, 5), parts.slice(5, status).join(" | "), ...parts.slice(status)];
}

/** The statements of the HTTP answers alone: `destination | field | mapping | name | ordinal | input | status ...`. */
const stated = answers.items.map((item) => ({ id: item.id, statements: statementsOf(item, answers) }));
function statementsOfPage(item: PageItem): string[] {
  return [...item.payloads].flatMap(([destination, members]) =>
    members.map(({ name, values: sent }) => `${destination} | ${name} = ${JSON.stringify(sent)}`),
  );
}

test("each item's payloads are what the rules give, with the mapping and entry of each value", () => {
  const items = pageItems(page);
  assert.equal(items.size, 500);
  for (const { id, statements } of stated) {
    const item = items.get(id);
    assert.ok(item, id);
    assert.deepEqual(
      statementsOfPage(item).sort(),
      statements.filter((each) => /^\S+ \| .* = \[/.test(each)).sort(),
      id,
    );
    const expected = statements
      .filter((each) => !/^\S+ \| .* = \[/.test(each))
      .map(partsOf)
      .map(([site, field, mapping, name, , , status, entry = "", external = ""]) =>
        [site, field, mapping, name, status, entry, external].join(" | "),
      );
    assert.deepEqual([...item.values].sort(), expected.sort(), id);
  }
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

test("the report is one of the published files", async () => {
  const manifest = JSON.parse(await readFile(join(out, "current", "manifest.json"), "utf8"));
  const stated = manifest.files.find(({ path }: { path: string }) => path === "report.html");
  assert.equal(stated.bytes, Buffer.byteLength(page));
});

test("a page with room for few items has those that need attention most", async () => {
  await using open = await opened(out);
  const run = { ...open, earlier: { previous: null, before: undefined, listed: [] } };
  for (const limits of [
    { items: 20, values: 1e6, bytes: 1e6 },
    { items: 1000, values: 900, bytes: 1e6 },
    { items: 1000, values: 1e6, bytes: 200_000 },
  ]) {
    const small = await reportOf(run, limits);
    const shown = [...pageItems(small).keys()];
    assert.ok(shown.length >= 5 && shown.length < 200, String(shown.length));
    const lacking = await all(
      run.connection,
      `SELECT content_id, count(*)::INT AS number FROM content_mapped_values JOIN destinations USING (destination_id)
       WHERE status IN ('unmapped', 'unknown_value') AND identification IS NOT NULL AND supports_custom_field_mappings
       GROUP BY content_id ORDER BY number DESC`,
    );
    const numbers = new Map(lacking.map(({ content_id, number }) => [content_id, number]));
    assert.deepEqual(
      shown.map((id) => numbers.get(id)),
      [...numbers.values()].slice(0, shown.length),
    );
    assert.match(small, new RegExp(`The page has room for ${shown.length} items of 500, `));
  }
});
