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
import { packagePath } from "../../../src/common/package-root.ts";
import { MACRO_NAMES, VIEWS } from "../../../src/tables/views.ts";
import { fewSampleNights, site } from "../../audit/two-nights.ts";
import { few } from "../../long.ts";
import { capture, outcome, ran } from "../capture.ts";

const { out, folder, night } = await site();
const [before, after] = await fewSampleNights(folder);
const first = await night(before);
const second = await night(after);

const mapping = join(folder, "mapping.csv");
await capture(auditCommand, ["--export-mapping", mapping, "--warehouse", out]);
await writeFile(mapping, (await readFile(mapping, "utf8")).replaceAll("en-uk-ie", "en-uk"));

const ITEM = ["6967a4fa9df0deca3500013d", "--destination", "Web CMS"];

/** A call, and for each of its tables, by title, what must be in its columns or above them. */
const ANSWERS = [
  [
    explainCommand,
    ITEM,
    {
      "Result for each value": "field, value, status, external value, since",
    },
  ],
  [
    explainCommand,
    [...ITEM, "--steps"],
    {
      "Step by step": "field, rule, input, result, evidence",
    },
  ],
  [
    whatIfCommand,
    ["--mapping", mapping],
    {
      "What would change, by value": "field, value, sends, would send, items",
    },
  ],
  [
    auditCommand,
    [],
    {
      "Coverage, in values": "field, values, mapped, unmapped, unknown, not sent, ambiguous",
      Destinations: "destination, mapped, missing, unmapped, unknown, ambiguous",
      "Values that are": "field, value, status, external value, items",
    },
  ],
  [
    diffCommand,
    [],
    {
      "Items whose content changed": "title, change, what",
      "What changed": "value, before, after, items, cause",
    },
  ],
  [
    diffCommand,
    ["--values"],
    {
      "Changes of definitions": "definition, destination, field, before, after",
      "What changed": "value, before, after, items, cause",
    },
  ],
] as const;

test("at 60, 80 and 120 columns each column of an answer is there or named, and the first two are always there", async () => {
  for (const [command, args, tables] of ANSWERS)
    for (const width of few([60, 80, 120], 2)) {
      const text = await capture(command, [...args, "--warehouse", out, "--limit", "20"], width);
      for (const line of text.split("\n")) assert.ok(line.length <= Math.max(width, 80), line);
      for (const [title, given] of Object.entries<string>(tables)) {
        const from = text.indexOf(`\n\n${title}`);
        assert.ok(from >= 0, `${title} in ${text}`);
        const part = text.slice(from, from + 999);
        const names = given.split(", ");
        const heads = headsOf(text.slice(from));
        const leftOut = /\nleft out: ([^;]*);/
          .exec(text.slice(from, from + 9999))?.[1]
          ?.replaceAll("\n", " ");
        assert.deepEqual(missing(heads, names.slice(0, 2)), [], `${width} ${title}\n${part}`);
        assert.deepEqual(
          missing([...heads, ...(leftOut?.split(", ") ?? [])], names),
          [],
          `${width} ${title}\n${part}`,
        );
      }
    }
});

/** Heads of the columns of the first table, or names of the lines of records. */
function headsOf(text: string): string[] {
  const [part = ""] = text.trimStart().split(/\n\n(?! )/, 1);
  if (!part.includes("┌")) return [...part.matchAll(/^ {2}(\S.*?) {2}/gm)].map(([, name = ""]) => name);
  const [, below = ""] = text.split("├", 1)[0]?.split("┐\n") ?? [];
  const lines = below
    .trimEnd()
    .split("\n")
    .map((line) => line.split("│").slice(1, -1));
  return (lines[0] ?? []).map((_, at) =>
    lines
      .map((cells) => cells[at]?.trim())
      .join(" ")
      .trim(),
  );
}

/** Names that no column has, wherever its head is broken. */
function missing(heads: readonly string[], names: readonly string[]): string[] {
  const joined = (text: string) => text.replaceAll(" ", "");
  return names.filter((name) => !heads.some((head) => joined(head) === joined(name)));
}

const rowsOf = async (sql: string, ...args: string[]): Promise<unknown> =>
  JSON.parse(await capture(sqlCommand, [sql, "--format", "json", "--warehouse", out, ...args]));
const refused = async (sql: string, args: readonly string[] = [], exitCode = 2) => {
  const { text, error } = await outcome(sqlCommand, [sql, "--warehouse", out, ...args]);
  assert.deepEqual([text, error?.exitCode], ["", exitCode], String(error));
  return error?.message;
};

/** What a run's own database answers to whoever opens it alone. */
async function alone(run: string, sql: string): Promise<object[]> {
  const database = await DuckDBInstance.create(join(out, "runs", run, "warehouse.duckdb"), {
    access_mode: "READ_ONLY",
  });
  const connection = await database.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    return (await connection.runAndReadAll(sql)).getRowObjectsJson();
  } finally {
    connection.closeSync();
    database.closeSync();
  }
}

test("tables and views of previous are those of the run before, as its database alone answers", async () => {
  const digests = (catalog: string) =>
    ["content", ...VIEWS.map(({ name }) => name)]
      .map(
        (name) =>
          `SELECT '${name}' AS name, count(*)::VARCHAR AS n, sum(hash(v))::VARCHAR AS h FROM ${catalog}${name} v`,
      )
      .join(" UNION ALL ");
  const before = await alone(first, digests(""));
  const now = await alone(second, digests(""));
  assert.deepEqual(await rowsOf(digests("previous.")), before);
  assert.deepEqual(await rowsOf(digests("")), now);
  for (const [at, each] of before.entries()) assert.notDeepEqual(each, now[at]);
});

/** Rows that the comments of mapped_value_intervals exclude. */
const EXCLUDED = {
  "a value that neither moved nor changed, without one row for both runs": `
    SELECT * FROM (FROM previous.content_mapped_values INTERSECT FROM content_mapped_values)
    ANTI JOIN (FROM mapped_value_intervals WHERE valid_from_sequence = 1 AND valid_to_sequence IS NULL)
    USING (content_id, destination_id, custom_field_id, ordinal)`,
  "an end without a cause, or a cause without an end": `
    SELECT * FROM mapped_value_intervals
    WHERE (valid_to_sequence IS NULL) <> (valid_to_cause IS NULL)
      OR '[]' IN (cause::VARCHAR, valid_to_cause::VARCHAR)`,
  "a value of an earlier item that the second run saw first": `
    SELECT * FROM mapped_value_intervals SEMI JOIN previous.content USING (content_id)
    WHERE valid_from_sequence = 2 AND list_contains(cause::VARCHAR[], 'first_seen')`,
  "a value that only moved, of which either row says something else": `
    SELECT * FROM (${lasting("received = receives")})
    WHERE ordinal = ordinal_before OR '["reordered"]' <> began OR '["reordered"]' IS DISTINCT FROM ended`,
  "a value of which only the destination changed, of which either row says something else": `
    SELECT * FROM (${lasting("received <> receives AND ordinal_before = ordinal")})
    WHERE '["destination_changed"]' <> began OR '["destination_changed"]' IS DISTINCT FROM ended`,
};

/** Pairs of rows of one version, one after the other. */
function lasting(condition: string): string {
  return `
    SELECT * FROM (
      SELECT i.ordinal, i.receives, i.cause::VARCHAR AS began,
        b.ordinal AS ordinal_before, b.receives AS received, b.valid_to_cause::VARCHAR AS ended
      FROM mapped_value_intervals AS i
      JOIN mapped_value_intervals AS b USING (content_id, destination_id, custom_field_id, value_number, copy, version_from_run)
      WHERE b.valid_to_sequence = i.valid_from_sequence
    )
    WHERE ${condition}`;
}

test("intervals of two nights keep to what their comments say", async () => {
  for (const [what, sql] of Object.entries(EXCLUDED)) assert.deepEqual(await rowsOf(sql), [], what);
  const [some] = (await rowsOf(
    `SELECT count_if(received = receives) AS moved, count_if(received <> receives) AS switched FROM (${lasting("true")})`,
  )) as [Record<string, number>];
  assert.ok(Number(some.moved) > 0 && Number(some.switched) > 0, JSON.stringify(some));
});

test("a macro of previous, which would read the tables of this run, is refused", async () => {
  for (const [at, name] of MACRO_NAMES.entries()) {
    const called = at % 2 === 0 ? `previous.${name}` : `"previous" . main /* */ . "${name}"`;
    const message = await refused(`SUMMARIZE FROM ${called}('2026-11-01')`);
    assert.match(message ?? "", new RegExp(`previous\\.${name}\\(\\) would read the tables of this run; `));
  }
});

test("--run asks an earlier run, and previous is the run before that", async () => {
  const [{ items }] = (await rowsOf("SELECT count(*)::INTEGER AS items FROM content", "--run", "1")) as [
    { items: number },
  ];
  assert.deepEqual(await alone(first, "SELECT count(*)::INTEGER AS items FROM content"), [{ items }]);
  assert.equal(
    await refused("FROM previous.content", ["--run", "1"]),
    `The query was refused: run ${first} has no run before it, so there is no "previous".`,
  );
  assert.match((await refused("FROM content", ["--run", "7"], 3)) ?? "", /^There is no run "7" in /);
});

const removals = await readFile(packagePath("data/sample-night-2/removed.ndjson"), "utf8");
const removed: string = JSON.parse(removals.split("\n", 1)[0] ?? "").id;
const explained = (...args: string[]) => ran(explainCommand, [removed, ...args, "--warehouse", out]);

test("K1: explain answers for a removed item, with the command that shows it, and ends with 3", async () => {
  const { text, exitCode } = await explained("--json");
  const { item, removedIn, lastRun, lead, next } = JSON.parse(text);
  assert.deepEqual([exitCode, item, removedIn, lastRun], [3, { contentId: removed }, second, first]);
  const sentence = `The item ${removed} was removed: run ${second} found it gone. The last run that had it is ${first}.`;
  assert.equal(lead, sentence);
  assert.deepEqual(next, [`content-warehouse explain ${removed} --run ${first}`]);
  assert.equal((await explained("--run", first)).exitCode, 0);
  await assert.rejects(explained("--format", "csv"), { code: "answer.nothing", message: sentence });
});

test("previous is as closed as the run itself", async () => {
  for (const [sql, why] of [
    ["DELETE FROM previous.content", /Only reading is allowed/],
    ["FROM previous.content, read_text('/etc/passwd')", /disabled by configuration/],
    ["FROM previous.contnet", /Table with name contnet does not exist; .*content"/],
  ] as const)
    assert.match((await refused(sql)) ?? "", why);
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
  const { text } = await explained("--json");
  const [, values = assert.fail(text)] =
    /^content-warehouse sql "(.*)"$/.exec(JSON.parse(text).next[0]) ?? [];
  assert.notDeepEqual(await rowsOf(values), []);
});
