/** What people open a warehouse with, in the versions that docs/tables.md names. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { promisify } from "node:util";
import { sqlCommand } from "../../src/cli/commands/sql.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { sampleWarehouse } from "../audit/sample.ts";
import { capture } from "../cli/capture.ts";
import { duckdbOf, IBIS, pythonWith, READERS, SPARK, sparkArguments } from "./python.ts";

const run = promisify(execFile);

const warehouse = await sampleWarehouse();
const file = join(warehouse, "current/warehouse.duckdb");
const parquet = join(warehouse, "current/parquet");

interface Read {
  readonly rows: Readonly<Record<string, number>>;
  /** Microseconds since 1970 of the last publication. */
  readonly published: number;
}

let expected: Read;

before(async () => {
  const ask = async (query: string) =>
    JSON.parse(await capture(sqlCommand, [query, "--format", "json", "--warehouse", warehouse]));
  const tables: { name: string; rows: number }[] = await ask(
    "SELECT table_name AS name, row_count AS rows FROM run_tables",
  );
  const [{ published }] = await ask("SELECT epoch_us(max(published_date)) AS published FROM content");
  expected = { rows: Object.fromEntries(tables.map(({ name, rows }) => [name, rows])), published };
});

const OF_FOLDERS = ["polars", "pandas", "pyarrow", "fastparquet", "datafusion", "pyspark"];

suite("all rows of every table are read from the Parquet folders", () => {
  for (const reader of OF_FOLDERS) {
    test(`by ${reader}`, async () => {
      const python = await pythonWith(reader === "pyspark" ? SPARK : READERS);
      const env = { ...process.env, ...sparkArguments() };
      const script = packagePath("test/engines/read_parquet.py");
      const { stdout } = await run(python, [script, reader, parquet], { env });
      const read: Read = JSON.parse(stdout);
      for (const [table, rows] of Object.entries(read.rows)) {
        // Tables that are counted before they are written themselves say nothing of their own rows.
        if (table in expected.rows) assert.equal(rows, expected.rows[table], table);
      }
      assert.ok(Object.keys(expected.rows).every((table) => table in read.rows));
      assert.equal(read.published, expected.published);
    });
  }
});

const QUERIES = {
  content: "SELECT count(*) FROM content",
  content_wide: "SELECT count(region) FROM content_wide",
  mapping_coverage: "SELECT sum(items)::INT FROM mapping_coverage",
  mapped_values_as_of: "SELECT count(*) FROM mapped_values_as_of('2100-01-01')",
  published: "SELECT max(published_date) FROM content",
};

const ASK = `
import json, sys
if sys.argv[3:] == ["without pytz"]: sys.modules["pytz"] = None
import duckdb
try:
    connection = duckdb.connect(sys.argv[1], read_only=True)
except duckdb.IOException as error:
    print(json.dumps({"refused": str(error)})); sys.exit()
answers = {}
for name, query in json.loads(sys.argv[2]).items():
    try: answers[name] = str(connection.sql(query).fetchall()[0][0])
    except Exception as error: answers[name] = f"failed: {error}"
print(json.dumps(answers))
`;

async function askPython(version: string, ...flags: string[]): Promise<Record<string, string>> {
  const python = await pythonWith(duckdbOf(version));
  const { stdout } = await run(python, ["-c", ASK, file, JSON.stringify(QUERIES), ...flags]);
  return JSON.parse(stdout);
}

const NEWER = ["1.4.5", "1.5.6", "2.0.1"];

suite("the database file", () => {
  for (const version of NEWER) {
    test(`is read by DuckDB ${version}, with its views and macros`, async () => {
      const answers = await askPython(version);
      const ask = async (query: string) => {
        const text = await capture(sqlCommand, [query, "--format", "csv", "--warehouse", warehouse]);
        return text.split("\n")[1];
      };
      for (const name of ["content", "content_wide", "mapping_coverage", "mapped_values_as_of"] as const)
        assert.equal(answers[name], await ask(QUERIES[name]), name);
      const instant = new Date(expected.published / 1000).toISOString().replace("T", " ");
      assert.equal(answers.published, instant.replace(".000Z", "+00:00"));
    });
  }

  test("is read by DuckDB 1.4.1 but for views over several queries", async () => {
    const { content, mapping_coverage } = await askPython("1.4.1");
    assert.equal(content, String(expected.rows.content));
    assert.match(mapping_coverage ?? "", /^failed: Catalog Error/);
  });

  test("is refused by DuckDB 1.3", async () => {
    const { refused } = await askPython("1.3.2");
    assert.match(refused ?? "", /version number 67, but we can only read versions between 64 and 66/);
  });

  test("needs pytz for instants in Python, until DuckDB 2.0", async () => {
    for (const version of NEWER) {
      const { content, published = "" } = await askPython(version, "without pytz");
      assert.equal(content, String(expected.rows.content));
      if (version.startsWith("1.")) assert.match(published, /^failed: .*'pytz'/, version);
      else assert.doesNotMatch(published, /^failed/, version);
    }
  });
});

test("docs/tables.md names the versions that are tried here", async () => {
  const page = await readFile(packagePath("docs/tables.md"), "utf8");
  for (const each of [...READERS, ...SPARK, ...IBIS]) {
    const [name = "", version = ""] = each.replace(/\[.*\]/, "").split("==");
    if ([...OF_FOLDERS, "ibis-framework"].includes(name))
      assert.match(page, new RegExp(`${name} ${version}`, "i"), each);
  }
  for (const version of [...NEWER, "1.4.1", "1.3"]) assert.ok(page.includes(version), version);
});
