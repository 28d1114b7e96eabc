/** Questions over two runs: by SQL, with the run before as `previous`, and what narrow screens show of the answers. */
import assert from "node:assert/strict";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { auditCommand } from "../../../src/cli/commands/audit.ts";
import { diffCommand } from "../../../src/cli/commands/diff.ts";
import { explainCommand } from "../../../src/cli/commands/explain.ts";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { sqlCommand } from "../../../src/cli/commands/sql.ts";
import { whatIfCommand } from "../../../src/cli/commands/what-if.ts";
import { MACRO_NAMES, VIEWS } from "../../../src/tables/views.ts";
import { fewSampleNights, site } from "../../audit/two-nights.ts";
import { capture, outcome } from "../capture.ts";

const { out, folder, night } = await site();
const [before, after] = await fewSampleNights(folder);
const first = await night(before, "nightly");
const second = await night(after, "nightly");

const mapping = join(folder, "mapping.csv");
await capture(auditCommand, ["--export-mapping", mapping, "--warehouse", out]);
await writeFile(mapping, (await readFile(mapping, "utf8")).replaceAll("en-uk-ie", "en-uk"));

const SUMS = ["values", "mapped", "unmapped", "unknown", "not sent"];
const CHANGES = ["values", "gained", "lost", "changed", "reordered", "no payload change"];
const ITEM = ["6967a4fa9df0deca3500013d", "--destination", "Web CMS"];

/** A call, and of each of its tables, by title, what has to be in its columns or above them. */
const ANSWERS = [
  [
    explainCommand,
    ITEM,
    {
      "What destinations receive": ["destination", "external name", "external values"],
      "Result for each value": [
        ...["destination", "field", "value", "status", "external value", "since", "cause"],
      ],
    },
  ],
  [
    explainCommand,
    [...ITEM, "--steps"],
    { "Step by step": ["field", "rule", "input", "result", "evidence"], "Where this was read": ["answered"] },
  ],
  [
    whatIfCommand,
    ["--mapping", mapping],
    {
      "Changes by destination and field": ["destination", "field", "items", "values", "gained", "lost"],
      "What would change, by value": ["destination", "field", "value", "sends", "would send", "items"],
      Items: ["title", "destination", "field", "sends", "would send"],
    },
  ],
  [
    auditCommand,
    [],
    {
      "Coverage, in values": ["destination", "field", ...SUMS],
      Destinations: ["why", "mapped", "without external value", "unmapped", "unknown"],
      "Values that are": ["destination", "field", "value", "status", "external value", "items"],
    },
  ],
  [
    diffCommand,
    [],
    {
      "Items whose content changed": ["title", "change", "what"],
      "What changed": ["cause", "destination", "field", "items", "value", "before", "after"],
    },
  ],
  [
    diffCommand,
    ["--values"],
    {
      "Changes by cause": ["cause", ...CHANGES],
      "Changes of definitions": ["definition", "destination", "field", "value", "before", "after"],
      "What changed": ["cause", "destination", "field", "items", "value", "before", "after"],
    },
  ],
] as const;

for (const width of [80, 120])
  test(`nothing that was asked for is left out at ${width} columns`, async () => {
    for (const [command, args, tables] of ANSWERS) {
      const text = await capture(command, [...args, "--warehouse", out], width);
      for (const line of text.split("\n")) assert.ok(line.length <= width, line);
      for (const [title, given] of Object.entries<readonly string[]>(tables)) {
        // Where the nights began in different minutes, 80 columns have no room for the cause beside a note.
        const isTight = width === 80 && title === "Result for each value";
        const names = given.filter((name) => !isTight || name !== "cause");
        const from = text.indexOf(`\n\n${title}`);
        assert.ok(from >= 0, `${title} in ${text}`);
        assert.deepEqual(
          missing(headOf(text.slice(from)), names),
          [],
          `${title}\n${text.slice(from, from + 999)}`,
        );
      }
    }
  });

/** The title of a table, with what it says of all rows, and the heads of its columns. */
function headOf(text: string): string[] {
  const [above = "", below = ""] = text.split("├", 1)[0]?.split("┐\n") ?? [];
  const lines = below
    .trimEnd()
    .split("\n")
    .map((line) => line.split("│").slice(1, -1));
  const heads = (lines[0] ?? []).map((_, at) =>
    lines
      .map((cells) => cells[at]?.trim())
      .join(" ")
      .trim(),
  );
  const [, told = ""] = /\((.*)\)\n/s.exec(above) ?? [];
  return [...heads, ...told.replaceAll("\n", " ").split("; ")];
}

/** Names that no column has, wherever its head is broken, and nothing that is told of all rows begins with. */
function missing(heads: readonly string[], names: readonly string[]): string[] {
  const joined = (text: string) => text.replaceAll(" ", "");
  return names.filter((name) => !heads.some((head) => joined(head).split(":")[0] === joined(name)));
}

const rowsOf = async (sql: string, ...args: string[]): Promise<unknown> =>
  JSON.parse(await capture(sqlCommand, [sql, "--format", "json", "--warehouse", out, ...args]));
const refused = async (sql: string, ...args: string[]) => {
  const { text, error } = await outcome(sqlCommand, [sql, "--warehouse", out, ...args]);
  assert.deepEqual([text, error?.exitCode], ["", 2], String(error));
  return error?.message;
};

/** What a run's own database answers to whoever opens it alone. */
async function alone(run: string, sql: string): Promise<unknown> {
  const database = await DuckDBInstance.create(join(out, "runs", run, "warehouse.duckdb"), {
    access_mode: "READ_ONLY",
  });
  const connection = await database.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
    return rows;
  } finally {
    connection.closeSync();
    database.closeSync();
  }
}

test("previous has the tables of the run before", async () => {
  const ids = (sql: string) => rowsOf(`SELECT content_id FROM (${sql}) ORDER BY ALL`);
  const removed = await ids("SELECT content_id FROM previous.content EXCEPT SELECT content_id FROM content");
  const known = await alone(first, "SELECT content_id FROM content ORDER BY ALL");
  const now = JSON.stringify(await alone(second, "SELECT content_id FROM content"));
  assert.ok(Array.isArray(known) && Array.isArray(removed) && removed.length > 0);
  assert.deepEqual(
    removed,
    known.filter(({ content_id }) => !now.includes(content_id)),
  );
});

test("each view of previous reads the tables of the run before, and answers as its database alone does", async () => {
  for (const { name } of VIEWS) {
    const digest = (from: string) =>
      `SELECT count(*)::VARCHAR AS n, sum(hash(v))::VARCHAR AS h FROM ${from} v`;
    const [previous, current, own, ownOfNow] = [
      await rowsOf(digest(`previous.${name}`)),
      await rowsOf(digest(name)),
      await alone(first, digest(name)),
      await alone(second, digest(name)),
    ];
    assert.deepEqual([name, previous, current], [name, own, ownOfNow]);
    assert.notDeepEqual(previous, current, name);
  }
});

test("a macro of previous, which would read the tables of this run, is refused", async () => {
  for (const name of MACRO_NAMES) {
    for (const called of [`previous.${name}`, `"previous" . main /* */ . "${name}"`]) {
      const message = await refused(`SUMMARIZE FROM ${called}('2026-11-01')`);
      assert.match(message ?? "", new RegExp(`previous\\.${name}\\(\\) would read the tables of this run; `));
    }
  }
});

test("--run asks an earlier run, and previous is the run before that", async () => {
  const count = "SELECT count(*)::INTEGER AS items FROM content";
  const [[{ items: of1 }], [{ items: of2 }]] = (await Promise.all([
    rowsOf(count, "--run", "1"),
    rowsOf(count, "--run", second),
  ])) as [[{ items: number }], [{ items: number }]];
  assert.equal(of1, of2 + 1, "the second night removes an item");
  assert.equal(
    await refused("FROM previous.content", "--run", "1"),
    `The query was refused: run ${first} has no run before it, so there is no "previous".`,
  );
  assert.deepEqual(await rowsOf("SELECT 'previous' AS word", "--run", "1"), [{ word: "previous" }]);
  assert.match((await refused("FROM content", "--run", "7")) ?? "", /^There is no run "7" in /);
});

test("previous is as closed as the run itself", async () => {
  assert.match((await refused("DELETE FROM previous.content")) ?? "", /DELETE is not a question/);
  assert.match(
    (await refused("FROM previous.content, read_text('/etc/passwd')")) ?? "",
    /disabled by configuration/,
  );
  assert.match(
    (await refused("FROM previous.contnet")) ?? "",
    /Table with name contnet does not exist; .*content"/,
  );
});

test("a run before that is pruned, or has Parquet files alone, is named where the SQL speaks of previous", async () => {
  const manifest = join(out, "runs", first, "manifest.json");
  const written = await readFile(manifest, "utf8");
  await chmod(manifest, 0o644);
  await writeFile(manifest, JSON.stringify({ ...JSON.parse(written), loaders: ["parquet"] }));
  // The current run notes the digest of the manifest that it was compared with.
  const ofSecond = join(out, "runs", second, "manifest.json");
  const { previousSha256: _, ...others } = JSON.parse(await readFile(ofSecond, "utf8"));
  await chmod(ofSecond, 0o644);
  await writeFile(ofSecond, JSON.stringify(others));
  assert.equal(
    await refused("FROM previous.content"),
    `The query was refused: there is no "previous": ${first}, the run before ${second}, was published only as Parquet files.`,
  );
  await capture(runsCommand, ["prune", "--keep", "1", "--warehouse", out]);
  assert.equal(
    await refused("FROM previous.main.content"),
    `The query was refused: there is no "previous": ${first}, the run before ${second}, is no longer kept.`,
  );
  assert.deepEqual(await rowsOf("SELECT 'previous' AS word"), [{ word: "previous" }]);
});
