import { join } from "node:path";
import { type DuckDBConnection, type DuckDBResult, DuckDBTypeId, type DuckDBValue } from "@duckdb/node-api";
import { Command, Option } from "commander";
import { WarehouseError } from "../errors.ts";
import { counted } from "../figures.ts";
import { type Database, duckdbError, openForReading } from "../load/duckdb.ts";
import { findRun } from "../load/retention.ts";
import { DATABASE_FILE, outputFolder } from "../run/directory.ts";
import { cellText, jsonObject } from "./cells.ts";
import { csvRow, guardFormula } from "./csv.ts";
import { drawTable } from "./table.ts";
import { withTemporaryFolder } from "./temporary-folder.ts";
import { printableText, standardOutput, type Terminal, writeAll } from "./terminal.ts";

export const DEFAULT_OUT = "./warehouse";

const FORMATS = ["table", "json", "csv"] as const;

interface Options {
  readonly out: string;
  readonly format: (typeof FORMATS)[number];
  readonly raw?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse sql "SELECT state, count(*) AS items FROM content GROUP BY ALL"
  $ content-warehouse sql "SHOW TABLES"
  $ content-warehouse sql "FROM mapping_coverage" --format csv > coverage.csv
`;

/** `content-warehouse sql`: asks the current run's database a question. */
export function sqlCommand(terminal: Terminal = standardOutput()): Command {
  return new Command("sql")
    .description("ask the published warehouse a question in SQL; it is opened read-only")
    .argument("<query>", "one SQL statement")
    .option("--out <dir>", "folder of the warehouse", DEFAULT_OUT)
    .addOption(new Option("--format <format>", "form of the answer").choices(FORMATS).default("table"))
    .option("--raw", "CSV without the apostrophe before texts that a spreadsheet would take for formulas")
    .addHelpText("after", EXAMPLES)
    .action((query: string, options: Options) => answer(terminal, query, options));
}

async function answer(terminal: Terminal, query: string, options: Options): Promise<void> {
  await withTemporaryFolder("sql", async (temporaryDirectory) => {
    await using database = await openCurrent(options.out, temporaryDirectory);
    const result = await ask(database.connection, query);
    await writeAll(terminal, refusals(formatted(result, options, terminal.columns)));
  });
}

/** The database that `current` names now: the link is read once, so that a publication meanwhile changes nothing. */
async function openCurrent(out: string, temporaryDirectory: string): Promise<Database> {
  const folder = outputFolder(out);
  const { run, directory, manifest } = await findRun(folder, "current");
  if (manifest instanceof WarehouseError) throw manifest;
  if (!manifest.loaders.includes("duckdb")) {
    throw new WarehouseError(
      "config.not_found",
      `Run ${run} was published as Parquet files alone; read ${join(folder.current, "parquet")} with DuckDB or another engine.`,
    );
  }
  const file = join(directory, DATABASE_FILE);
  return openForReading({
    file,
    temporaryDirectory,
    allowedDirectories: [],
    memoryLimitMb: undefined,
    threads: undefined,
  });
}

async function ask(connection: DuckDBConnection, query: string): Promise<DuckDBResult> {
  const statements = await connection.extractStatements(query).catch((thrown: unknown) => {
    throw isBlank(query) ? notOne() : refusal(thrown);
  });
  if (statements.count !== 1) throw notOne();
  return connection.stream(query).catch((thrown: unknown) => {
    throw refusal(thrown);
  });
}

const COMMENTS = /--[^\n]*|\/\*[\s\S]*?\*\//g;

function isBlank(query: string): boolean {
  return query.replace(COMMENTS, "").replaceAll(";", "").trim() === "";
}

function notOne(): WarehouseError {
  return new WarehouseError("config.sql", "The query is not one SQL statement; ask one question at a time.");
}

/** Errors of a query that is already answering, as those of one that was never begun. */
async function* refusals(texts: AsyncIterable<string>): AsyncIterable<string> {
  try {
    yield* texts;
  } catch (thrown) {
    throw refusal(thrown);
  }
}

/** What DuckDB says of a query, in one sentence; where a file is damaged, `verify.failed`. */
function refusal(thrown: unknown): WarehouseError {
  const error = duckdbError(thrown);
  if (error === thrown || error.code === "verify.failed") return error;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new WarehouseError("config.sql", `The query was refused: ${oneSentence(message)}.`, {
    cause: thrown,
  });
}

/** The message without the excerpt of the query, its lines joined. */
function oneSentence(message: string): string {
  const lines = (message.split(/\n+LINE \d+:/, 1)[0] ?? "")
    .replace(/^Failed to extract statements: /, "")
    .split("\n");
  const parts = lines.map((line) => line.trim().replace(/[.!]+$/, "")).filter((line) => line !== "");
  return parts.join("; ");
}

function formatted(
  result: DuckDBResult,
  options: Options,
  columns: number | undefined,
): AsyncIterable<string> {
  if (options.format === "json") return jsonTexts(result);
  if (options.format === "csv") return csvTexts(result, options.raw !== true, columns !== undefined);
  return tableTexts(result, columns);
}

async function* tableTexts(result: DuckDBResult, width: number | undefined): AsyncIterable<string> {
  const rows: string[][] = [];
  for await (const chunk of result.yieldRows()) {
    for (const row of chunk) rows.push(row.map((value) => (value === null ? "NULL" : cellText(value))));
  }
  if (isPlan(result)) return yield `${rows.map((row) => row[1]).join("\n")}\n`;
  const columns = result.columnNames().map((name, index) => {
    const align = NUMBERS.has(result.columnTypeId(index)) ? ("right" as const) : ("left" as const);
    return { name, align };
  });
  const drawn = drawTable({ columns, rows }, width);
  const hidden = columns.length - drawn.shownColumns;
  yield drawn.text;
  yield `${counted(rows.length, "row")}, ${counted(columns.length, "column")}${hidden > 0 ? ` (${drawn.shownColumns} shown)` : ""}\n`;
}

/** What EXPLAIN answers is drawn already. */
function isPlan(result: DuckDBResult): boolean {
  return result.columnNames().join() === "explain_key,explain_value";
}

const NUMBERS: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.UHUGEINT,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
  DuckDBTypeId.DECIMAL,
  DuckDBTypeId.BIGNUM,
]);

/** An array of objects, one per line; equal column names are told apart as DuckDB's client does, `a` and `a:1`. */
async function* jsonTexts(result: DuckDBResult): AsyncIterable<string> {
  const names = result.deduplicatedColumnNames();
  let before = "[\n";
  for await (const chunk of result.yieldRows()) {
    let text = "";
    for (const row of chunk) {
      text += `${before}${jsonObject(names.map((name, index) => [name, row[index] ?? null]))}`;
      before = ",\n";
    }
    yield text;
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}

/** Numbers are never formulas; every other cell, and the names of the columns, are guarded. */
async function* csvTexts(result: DuckDBResult, guarded: boolean, toScreen: boolean): AsyncIterable<string> {
  const numeric = result.columnNames().map((_, index) => NUMBERS.has(result.columnTypeId(index)));
  const cell = (text: string, isNumber: boolean) => (guarded && !isNumber ? guardFormula(text) : text);
  const lines = (rows: readonly (readonly DuckDBValue[])[]) =>
    rows
      .map((row) => csvRow(row.map((value, index) => cell(cellText(value), numeric[index] === true))))
      .join("");
  const shown = (text: string) => (toScreen ? printableText(text) : text);
  yield shown(csvRow(result.columnNames().map((name) => cell(name, false))));
  for await (const chunk of result.yieldRows()) yield shown(lines(chunk));
}
