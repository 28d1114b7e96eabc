import { join } from "node:path";
import {
  type DuckDBConnection,
  type DuckDBResult,
  DuckDBTypeId,
  type DuckDBValue,
  StatementType,
} from "@duckdb/node-api";
import { Command, Option } from "commander";
import { WarehouseError } from "../errors.ts";
import { counted } from "../figures.ts";
import { type Database, duckdbError, openForReading } from "../load/duckdb.ts";
import { findRun } from "../load/retention.ts";
import { DATABASE_FILE, outputFolder } from "../run/directory.ts";
import { letGoOnTheWay } from "../run/let-go.ts";
import { cellText, jsonObject } from "./cells.ts";
import { csvRow, safeText } from "./csv.ts";
import { keepHeapsSmall } from "./heap.ts";
import { layOut, type TableLayout } from "./table.ts";
import { withTemporaryFolder } from "./temporary-folder.ts";
import { printableText, standardOutput, type Terminal, writeAll } from "./terminal.ts";

export const DEFAULT_OUT = "./warehouse";

/** Of DuckDB's buffers; what does not fit is spilled. */
const MEMORY_LIMIT_MB = 256;

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
    .option(
      "--raw",
      "CSV with texts as they are: formulas without an apostrophe before them, control characters",
    )
    .addHelpText("after", EXAMPLES)
    .action((query: string, options: Options) => answer(terminal, query, options));
}

async function answer(terminal: Terminal, query: string, options: Options): Promise<void> {
  keepHeapsSmall();
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
    memoryLimitMb: MEMORY_LIMIT_MB,
    threads: undefined,
  });
}

async function ask(connection: DuckDBConnection, query: string): Promise<DuckDBResult> {
  const statements = await connection.extractStatements(query).catch((thrown: unknown) => {
    throw isBlank(query) ? notOne() : refusal(thrown);
  });
  if (statements.count !== 1) throw notOne();
  assertNothingSet(query);
  const prepared = await statements.prepare(0).catch((thrown: unknown) => {
    throw refusal(thrown);
  });
  assertQuestion(prepared.statementType);
  return prepared.stream().catch((thrown: unknown) => {
    throw refusal(thrown);
  });
}

const QUESTIONS: ReadonlySet<StatementType> = new Set([StatementType.SELECT, StatementType.EXPLAIN]);

/** SHOW, DESCRIBE and SUMMARIZE are SELECT to the engine. */
function assertQuestion(type: StatementType): void {
  if (QUESTIONS.has(type)) return;
  throw new WarehouseError(
    "config.sql",
    `The query was refused: it is a statement of the kind ${StatementType[type]}, and only questions are answered; begin with SELECT, FROM, WITH, SHOW, DESCRIBE, SUMMARIZE or EXPLAIN.`,
  );
}

/**
 * Functions that a question can call too, which the locked configuration does not keep from writing: logs go to
 * standard output or end the process, profiles go to a file. The last two run texts in which the others could hide.
 */
const SETTING =
  /\b(?<name>(?:enable|disable|truncate)_\w*(?:logging|profiling|logs)|json_execute_serialized_sql|query(?="?(?:\s|\/\*[\s\S]*?\*\/|--[^\n]*\n)*\())/i;

function assertNothingSet(query: string): void {
  const name = SETTING.exec(query)?.groups?.name;
  if (name === undefined) return;
  throw new WarehouseError(
    "config.sql",
    `The query was refused: ${name} changes what the database writes, or can hide that; ask without it.`,
  );
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
  if (error === thrown || error.code !== "internal") return error;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const why = message.startsWith("Out of Memory")
    ? `it needs more than the ${MEMORY_LIMIT_MB} MB that it may take, and cannot go on from the disk; ask for fewer rows or columns at a time`
    : oneSentence(message);
  return new WarehouseError("config.sql", `The query was refused: ${why}.`, { cause: thrown });
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

/** Of cells that were handed over, before garbage is taken away: some ten megabytes. */
const CELLS_KEPT = 250_000;

/**
 * Rows as they are asked for. What the engine hands over lies outside of the heap, where it would stay until garbage is
 * looked for: hundreds of megabytes of wide rows.
 */
async function* rowsOf(result: DuckDBResult): AsyncIterable<readonly DuckDBValue[][]> {
  let cells = 0;
  for await (const rows of result.yieldRows()) {
    yield rows;
    cells += rows.length * result.columnCount;
    if (cells < CELLS_KEPT) continue;
    letGoOnTheWay();
    cells = 0;
  }
}

/** So many rows decide how wide the columns are; those after them are written as they come. */
const ROWS_LAID_OUT = 1000;

async function* tableTexts(result: DuckDBResult, width: number | undefined): AsyncIterable<string> {
  const columns = result.columnNames().map((name, index) => {
    const align = NUMBERS.has(result.columnTypeId(index)) ? ("right" as const) : ("left" as const);
    return { name, align };
  });
  let first: string[][] = [];
  let layout: TableLayout | undefined;
  let count = 0;
  for await (const chunk of rowsOf(result)) {
    const rows = chunk.map((row) => row.map((value) => (value === null ? "NULL" : cellText(value))));
    count += rows.length;
    if (layout !== undefined) {
      yield rows.map(layout.row).join("");
      continue;
    }
    first.push(...rows);
    if (first.length < ROWS_LAID_OUT || isPlan(result)) continue;
    layout = layOut({ columns, rows: first }, width);
    yield layout.head + first.map(layout.row).join("");
    first = [];
  }
  if (isPlan(result)) return yield `${first.map((row) => row[1]).join("\n")}\n`;
  if (layout === undefined) {
    layout = layOut({ columns, rows: first }, width);
    yield layout.head + first.map(layout.row).join("");
  }
  const { foot, shownColumns } = layout;
  const shown = shownColumns < columns.length ? ` (${shownColumns} shown)` : "";
  yield `${foot}${counted(count, "row")}, ${counted(columns.length, "column")}${shown}\n`;
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
  for await (const chunk of rowsOf(result)) {
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
  const cell = (text: string, isNumber: boolean) => (guarded && !isNumber ? safeText(text) : text);
  const lines = (rows: readonly (readonly DuckDBValue[])[]) =>
    rows
      .map((row) => csvRow(row.map((value, index) => cell(cellText(value), numeric[index] === true))))
      .join("");
  const shown = (text: string) => (toScreen ? printableText(text) : text);
  yield shown(csvRow(result.columnNames().map((name) => cell(name, false))));
  for await (const chunk of rowsOf(result)) yield shown(lines(chunk));
}
