/** The examples, run as their comments say, over the sample. What postgres.mts configures is tested in test/engines. */
import assert from "node:assert/strict";
import { readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { DYNAMIC_COLUMN_NAMES } from "../../src/api/dynamic.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { runPipeline } from "../../src/index.ts";
import { program } from "../cli/running.ts";
import { long } from "../long.ts";
import { CANARY, rowsOf, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

const EXAMPLES = packagePath("docs/examples");

test("each example of a module is short, uses the library as its users do, and has its place on a page", async () => {
  const pages = ["docs/pipelines.md", "docs/observability.md", "docs/configuration.md"].map((page) =>
    readFile(packagePath(page), "utf8"),
  );
  const named = (await Promise.all(pages)).join("");
  for (const name of (await readdir(EXAMPLES)).filter((each) => each.endsWith(".mts"))) {
    const text = await readFile(join(EXAMPLES, name), "utf8");
    assert.ok(text.split("\n").length <= 60, `${name} has 60 lines or more`);
    const imported = [...text.matchAll(/from "([^"]*)"/g)].map(([, module = ""]) => module);
    assert.ok(imported.includes("content-warehouse"), name);
    const strange = imported.filter(
      (module) => !/^(?:content-warehouse|node:.*|pg|pg-copy-streams|\.\/[^/]*)$/.test(module),
    );
    assert.deepEqual(strange, [], name);
    const isPipeline = text.includes("export default definePipeline");
    const own = `--warehouse ./${name.replace(".mts", "")}`;
    const commands = [`run ./docs/examples/${name} --sample ${own}\n`, `sql ${own} "`];
    for (const command of commands) assert.equal(text.includes(command), isPipeline, `${name}: ${command}`);
    assert.ok(named.includes(`(examples/${name})`), `${name} is named on no page`);
  }
});

/** Folder of a run of an example, made by the command in its comment. */
async function runOf(t: TestContext, name: string): Promise<string> {
  const out = join(await temporaryFolder(t), "warehouse");
  const ran = await program(["run", `./docs/examples/${name}`, "--sample", "--warehouse", out], {
    cwd: packagePath("."),
  });
  assert.equal(ran.code, 0, ran.stderr);
  return join(out, "current");
}

/** Tables of data with rows in them, or without. */
async function tablesIn(directory: string): Promise<unknown[]> {
  const sql = "SELECT table_name FROM run_tables WHERE table_name NOT LIKE 'run%' ORDER BY ALL";
  return (await rowsOf(directory, sql)).map(([name]) => name);
}

long("headlines.mts has the headline of each item that has one, and its lengths", async (t) => {
  const directory = await runOf(t, "headlines.mts");
  const titled = "SELECT content_id, title FROM content WHERE trim(title) <> '' ORDER BY content_id";
  assert.deepEqual(
    await rowsOf(directory, "SELECT content_id, title FROM content_headlines ORDER BY content_id"),
    await rowsOf(directory, titled),
  );
  const ascii = "regexp_full_match(title, '[A-Za-z0-9 ]+')";
  const lengths = `SELECT count(*), bool_and(characters = length(title)),
    bool_and(words = len(string_split_regex(trim(title), ' +'))) FROM content_headlines WHERE ${ascii}`;
  const [counted, ...right] = (await rowsOf(directory, lengths))[0] ?? [];
  assert.ok(Number(counted) > 50);
  assert.deepEqual(right, [true, true]);
  const comment =
    "SELECT comment FROM duckdb_columns() WHERE table_name = 'content_headlines' AND column_name = 'words'";
  assert.deepEqual(await rowsOf(directory, comment), [["Words in the title."]]);
  const lineage =
    "SELECT resource, path FROM run_lineage WHERE table_name = 'content_headlines' ORDER BY ALL";
  assert.deepEqual(await rowsOf(directory, lineage), [
    ["dynamic", "title"],
    ["full", "title"],
  ]);
});

long("checks.mts publishes what its tests found, as audit counts it", async (t) => {
  const directory = await runOf(t, "checks.mts");
  const found = await rowsOf(
    directory,
    "SELECT check_name, verdict, figure, examples IS NOT NULL FROM run_checks WHERE check_name LIKE 'test: %' ORDER BY ALL",
  );
  const audited = await program(["audit", "--warehouse", dirname(directory), "--format", "json"], {
    cwd: packagePath("."),
  });
  const { unmapped, unknown_value: unknown } = JSON.parse(audited.stdout).receiving;
  assert.ok(unmapped > 0 && unknown > 0);
  assert.deepEqual(found, [
    ["test: items have a title", "passed", "4", true],
    ["test: lost external values", "passed", "0", false],
    ["test: mapping coverage, unknown values", "passed", String(unknown), true],
    ["test: mapping coverage, unmapped values", "passed", String(unmapped), true],
    ["test: no item was published before it was created", "passed", "0", false],
    ["test: tags do not vanish", "passed", "0", false],
  ]);
});

long("campaign-reading-time.mts has the words of each campaign, and the minutes to read them", async (t) => {
  const directory = await runOf(t, "campaign-reading-time.mts");
  assert.deepEqual(await tablesIn(directory), [
    "campaign_reading_time",
    "campaigns",
    "content",
    "content_campaigns",
  ]);
  const longest = "SELECT name, items, words, minutes FROM campaign_reading_time ORDER BY words DESC LIMIT 3";
  assert.deepEqual(await rowsOf(directory, longest), [
    ["Search Refresh", "25", "1213", 6.065],
    ["Back to the Hills 2026", "15", "991", 4.955],
    ["Ridgeline Tent Launch", "12", "942", 4.71],
  ]);
  const whole = `SELECT count(*), sum(items), count(name) FROM campaign_reading_time`;
  assert.deepEqual(await rowsOf(directory, whole), [["21", "208", "20"]]);
  const comment = "SELECT comment FROM duckdb_columns() WHERE column_name = 'minutes'";
  assert.deepEqual(await rowsOf(directory, comment), [
    ["Minutes to read all of them, at 200 words a minute."],
  ]);
});

test("three-tables.mts asks for what its tables need, and for no single item", async (t) => {
  const service = await Scripted.start(t, itemsOf(20));
  const cwd = await temporaryFolder(t);
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  await runPipeline({ pipeline: join(EXAMPLES, "three-tables.mts"), env, cwd });
  const others = service.questions.filter(({ kind }) => kind !== "list");
  assert.deepEqual(others, []);
  assert.deepEqual([...new Set(service.questions.map(({ mode }) => mode))], ["dynamic", "basic"]);
  const [first, ...more] = service.asked("list", "dynamic").map(({ columns }) => columns);
  assert.ok(first !== undefined && more.every((columns) => columns.join() === first.join()));
  assert.ok(first.length < 0.6 * DYNAMIC_COLUMN_NAMES.length, `${first.length} columns`);
  for (const needed of ["title", "tags", "wordcount", "author_details", "creator_details"])
    assert.ok(first.includes(needed), needed);
  const left = /custom_field|attachment|categor|campaign|event|latitude|^gallery_/;
  assert.deepEqual(
    first.filter((column) => left.test(column)),
    [],
  );
});

long("csv-target.mts has a delivered run as CSV files, once", async (t) => {
  const folder = await temporaryFolder(t);
  const out = join(folder, "warehouse");
  const csv = join(folder, "csv");
  const common = ["--warehouse", out, "--config", "./docs/examples/csv-target.mts"];
  const inCsv = (words: readonly string[]) =>
    program([...words, ...common], { cwd: packagePath("."), env: { CSV_FOLDER: csv } });
  const ran = await inCsv(["run", packagePath("test/engines/small-pipeline.ts"), "--sample"]);
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stdout, /, delivered to csv\n/);
  const run = await readlink(join(csv, "current"));
  assert.equal(`runs/${run}`, await readlink(join(out, "current")));
  const lines = (await readFile(join(csv, "current/content_tags.csv"), "utf8")).split("\n");
  assert.match(lines[0] ?? "", /^content_id,/);
  assert.deepEqual(await rowsOf(join(out, "current"), "SELECT count(*) FROM content_tags"), [
    [String(lines.length - 2)],
  ]);
  const again = await inCsv(["deliver"]);
  assert.deepEqual([again.code, again.stdout], [0, `csv: already has ${run}\n`], again.stderr);
  const listed = await inCsv(["runs", "show", "--section", "targets", "--json"]);
  const { current, targets } = JSON.parse(listed.stdout);
  const [{ target, run: last, sequence, state, problem }] = targets;
  assert.deepEqual(
    { current, target, last, sequence, state, problem },
    { current: run, target: "csv", last: run, sequence: 1, state: "current", problem: null },
  );
  await writeFile(join(csv, run, "instance.txt"), "another");
  const refused = await inCsv(["deliver"]);
  assert.equal(refused.code, 26);
  assert.match(refused.stderr, /has the runs of another: set another CSV_FOLDER/);
  const unknown = await inCsv(["deliver", "--target", "cvs"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /There is no target "cvs" \(did you mean "csv"\?\)/);
});
