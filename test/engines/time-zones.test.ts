/** What an instant is in tools on machines in other time zones, with the lines of docs/tables.md that make it UTC. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { before, suite, test } from "node:test";
import { promisify } from "node:util";
import { sqlCommand } from "../../src/cli/commands/sql.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { sampleWarehouse } from "../audit/sample.ts";
import { capture } from "../cli/capture.ts";
import { IBIS, pythonWith, READERS } from "./python.ts";

const run = promisify(execFile);
const warehouse = await sampleWarehouse();

/** Day and hour of each publication: both are other ones in other time zones. */
const DAYS =
  "SELECT content_id, CAST(CAST(published_date AS DATE) AS VARCHAR) || strftime(published_date, ' %H') AS day " +
  "FROM content WHERE published_date IS NOT NULL ORDER BY content_id";

type Days = readonly (readonly [contentId: string, day: string])[];

let utc: Days;
let page = "";

before(async () => {
  const rows = JSON.parse(await capture(sqlCommand, [DAYS, "--format", "json", "--warehouse", warehouse]));
  utc = rows.map((row: Record<string, string>) => [row.content_id, row.day]);
  assert.ok(utc.length > 100);
  page = (await readFile(packagePath("docs/tables.md"), "utf8")).split("## Time zones", 2)[1] ?? "";
});

/** The program of the page's row of a tool, then what asks. */
function programOf(tool: string, asking: string): string {
  const [, line = ""] = new RegExp(`^\\| ${tool} \\|[^|]*\\| \`([^\`]+)\` \\|$`, "m").exec(page) ?? [];
  assert.notEqual(line, "", `docs/tables.md has a line for ${tool}`);
  return `${line.replaceAll("/srv/warehouse", warehouse)}\n${asking}`;
}

const withoutLine = (program: string) =>
  program.replaceAll(/; (?:await )?connection\.\w+\("SET TimeZone = 'UTC'"\)/g, "");

const PYTHON = `
import duckdb, json
PROGRAM
print(json.dumps(connection.sql("""${DAYS}""").fetchall()))`;
const OVER_PARQUET = PYTHON.replace("PROGRAM", "PROGRAM\ncontent.create_view('content')");
const FRAME = `
import duckdb, json, pandas
PROGRAM
frame = connection.sql("SELECT content_id, published_date FROM content WHERE published_date IS NOT NULL ORDER BY content_id").df()
print(json.dumps([[i, d.strftime("%Y-%m-%d %H")] for i, d in zip(frame.content_id, frame.published_date)]))`;
const PANDAS = `
import json, pandas
PROGRAM
frame = frame[frame.published_date.notna()].sort_values("content_id")
print(json.dumps([[i, d.strftime("%Y-%m-%d %H")] for i, d in zip(frame.content_id, frame.published_date)]))`;
const IBIS_TABLE = `
import ibis, json
PROGRAM
table = table.filter(table.published_date.notnull()).order_by("content_id")
frame = table.mutate(day=table.published_date.strftime("%Y-%m-%d %H")).select("content_id", "day").execute()
print(json.dumps(frame.values.tolist()))`;
const NODE = `
import { DuckDBInstance } from "@duckdb/node-api";
PROGRAM
console.log(JSON.stringify((await connection.runAndReadAll(${JSON.stringify(DAYS)})).getRowsJson()));`;

for (const TZ of ["America/Vancouver", "Asia/Tokyo"]) {
  suite(`on a machine in ${TZ}`, () => {
    const ask = async (command: string, args: readonly string[]): Promise<Days> =>
      JSON.parse(
        (await run(command, [...args], { env: { ...process.env, TZ }, cwd: packagePath(".") })).stdout,
      );
    const python = async (packages: readonly string[], program: string) =>
      ask(await pythonWith(packages), ["-c", program]);
    const node = (program: string) => ask(process.execPath, ["--input-type=module", "-e", program]);
    const inTemplate = (template: string, tool: string) =>
      template.replace("PROGRAM", () => programOf(tool, ""));

    for (const [tool, template] of [
      ["DuckDB in Python", PYTHON],
      ["DuckDB in Python", FRAME],
      ["DuckDB over Parquet", OVER_PARQUET],
    ] as const) {
      test(`${tool}${template === FRAME ? ", as a frame," : ""} has the days of UTC by the line of the page, and others without`, async () => {
        const program = inTemplate(template, tool);
        assert.deepEqual(await python(READERS, program), utc);
        assert.notDeepEqual(await python(READERS, withoutLine(program)), utc);
      });
    }

    test("pandas has the days of UTC in the Parquet folder", async () => {
      assert.deepEqual(await python(READERS, inTemplate(PANDAS, "pandas")), utc);
    });

    test("ibis has the days of UTC", async () => {
      assert.deepEqual(await python(IBIS, inTemplate(IBIS_TABLE, "ibis")), utc);
    });

    test("Node has the days of UTC by the line of the page, and others without", async () => {
      const program = inTemplate(NODE, "Node");
      assert.deepEqual(await node(program), utc);
      assert.notDeepEqual(await node(withoutLine(program)), utc);
    });
  });
}
