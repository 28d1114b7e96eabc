import { join } from "node:path";
import {
  type DuckDBConnection,
  type DuckDBDataChunk,
  type DuckDBResult,
  DuckDBTypeId,
  StatementType,
} from "@duckdb/node-api";
import { Command, Option } from "commander";
import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import { collectKeepingCode } from "../../common/gc.ts";
import { keepHeapsSmall } from "../../common/v8-flags.ts";
import { all, type Database, duckdbError, openForReading } from "../../storage/duckdb.ts";
import { DATABASE_FILE, outputFolder } from "../../warehouse/layout.ts";
import { findRun } from "../../warehouse/retention.ts";
import { findWarehouse, warehouseOption } from "../options.ts";
import { cellText } from "../render/cells.ts";
import { csvTexts, jsonArray, PIECE, pieces, type RowStream, type Rows } from "../render/rows.ts";
import { layOut, left, leftOutText, right, type TableLayout } from "../render/table.ts";
import { printableText, standardOutput, type Terminal, writeAll } from "../render/terminal.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";

/** Of DuckDB's buffers; what does not fit is spilled. */
const MEMORY_LIMIT_MB = 256;

const FORMATS = ["table", "json", "csv"] as const;

interface Options {
  readonly warehouse: string;
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
    .addOption(warehouseOption())
    .hook("preAction", findWarehouse)
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
    await using database = await openCurrent(options.warehouse, temporaryDirectory);
    const answered = await ask(database.connection, query);
    await writeAll(terminal, refusals(formatted(answered, options, terminal.columns)));
  });
}

/** The database that `current` names now: the link is read once, so that a publication meanwhile changes nothing. */
async function openCurrent(warehouse: string, temporaryDirectory: string): Promise<Database> {
  const folder = outputFolder(warehouse);
  const { run, directory, manifest } = await findRun(folder, "current");
  if (manifest instanceof WarehouseError) throw manifest;
  if (!manifest.loaders.includes("duckdb")) {
    throw new WarehouseError(
      "config.not_found",
      `Run ${run} was published as Parquet files alone; read ${join(folder.current, "parquet")} with DuckDB or another engine.`,
    );
  }
  return openForReading({
    file: join(directory, DATABASE_FILE),
    temporaryDirectory,
    allowedDirectories: [],
    memoryLimitMb: MEMORY_LIMIT_MB,
    threads: undefined,
  });
}

interface Answer {
  readonly result: DuckDBResult;
  /** What EXPLAIN answers is drawn already. */
  readonly isPlan: boolean;
}

async function ask(connection: DuckDBConnection, query: string): Promise<Answer> {
  const statements = await connection.extractStatements(query).catch((thrown: unknown) => {
    throw isBlank(query) ? notOne() : refusal(thrown);
  });
  if (statements.count !== 1) throw notOne();
  const explained = explainedBy(query);
  await assertNothingSet(connection, explained ?? query);
  try {
    const prepared = await statements.prepare(0);
    const isPlan = prepared.statementType === StatementType.EXPLAIN;
    assertQuestion(isPlan ? await typeOf(connection, explained ?? "") : prepared.statementType);
    return { result: await prepared.stream(), isPlan };
  } catch (thrown) {
    throw refusal(thrown);
  }
}

/**
 * What an EXPLAIN explains; undefined: the query is none, or has a comment where this does not look for one. With ANALYZE
 * it is carried out, so it must be a question itself, and the engine has the word on that.
 */
function explainedBy(query: string): string | undefined {
  const explain = /^\s*EXPLAIN\b\s*(?:ANALYZE\b\s*)?(?:\(\s*(?:ANALYZE|FORMAT)\b[\w\s,]*\)\s*)?/i.exec(query);
  return explain === null ? undefined : query.slice(explain[0].length);
}

async function typeOf(connection: DuckDBConnection, query: string): Promise<StatementType> {
  if (isBlank(query)) {
    throw new WarehouseError(
      "config.sql",
      "The query was refused: nobody knows what is explained; begin with EXPLAIN or EXPLAIN ANALYZE, without a comment before them.",
    );
  }
  return (await connection.prepare(query)).statementType;
}

/** SHOW, DESCRIBE and SUMMARIZE are SELECT to the engine. */
function assertQuestion(type: StatementType): void {
  if (type === StatementType.SELECT) return;
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

async function assertNothingSet(connection: DuckDBConnection, query: string): Promise<void> {
  const name = SETTING.exec(query)?.groups?.name;
  if (name === undefined) return;
  const called = await functionsOf(connection, query);
  if (called?.some((each) => SETTING.test(`${each}(`)) === false) return;
  throw new WarehouseError(
    "config.sql",
    `The query was refused: the function ${name}() changes what the database writes, or can hide that; ask without it.`,
  );
}

/** Names of the functions that a question calls, as the engine's parser reads it; undefined: it is not a question. */
async function functionsOf(connection: DuckDBConnection, query: string): Promise<string[] | undefined> {
  const [row] = await all(connection, "SELECT json_serialize_sql($1::VARCHAR) AS tree", [query]);
  const tree: unknown = JSON.parse(String(row?.tree));
  const names: string[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if ("function_name" in node) names.push(String(node.function_name));
    Object.values(node).forEach(walk);
  };
  walk(tree);
  const failed = typeof tree === "object" && tree !== null && "error" in tree && tree.error === true;
  return failed ? undefined : names;
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
  const why = /^Invalid string length|string longer than/.test(message)
    ? "a row of its answer is longer than 512 MB; ask for fewer columns"
    : message.startsWith("Out of Memory")
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
  { result, isPlan }: Answer,
  options: Options,
  columns: number | undefined,
): AsyncIterable<string> {
  if (isPlan && options.format === "table") return planTexts(result);
  const chunks = rowsOf(result);
  if (options.format === "json") return jsonTexts({ names: result.deduplicatedColumnNames(), chunks });
  if (options.format === "table") return tableTexts(result, columns);
  const form = { raw: options.raw === true, toScreen: columns !== undefined };
  return csvTexts({ names: result.columnNames(), chunks }, form);
}

/** Of cells that were handed over, before garbage is taken away: some ten megabytes. */
const CELLS_KEPT = 250_000;

/**
 * Rows as they are asked for, some thousand at a time. What the engine hands over lies outside of the heap, where it would
 * stay until garbage is looked for: hundreds of megabytes of wide rows.
 */
async function* rowsOf(result: DuckDBResult): AsyncIterable<Rows> {
  let cells = 0;
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; ) {
    yield rowsIn(chunk);
    cells += chunk.rowCount * result.columnCount;
    chunk = await result.fetchChunk();
    if (cells < CELLS_KEPT) continue;
    collectKeepingCode();
    cells = 0;
  }
}

function* rowsIn(chunk: DuckDBDataChunk): Rows {
  for (let row = 0; row < chunk.rowCount; row++) yield chunk.getRowValues(row);
}

/** So many rows, or characters, decide how wide the columns are; those after them are written as they come. */
const ROWS_LAID_OUT = 1000;
const LAID_OUT = 8 * PIECE;

async function* tableTexts(result: DuckDBResult, width: number | undefined): AsyncIterable<string> {
  const columns = result.columnNames().map((name, index) => {
    const isNumber = NUMBERS.has(DuckDBTypeId[result.columnTypeId(index)]);
    return isNumber ? right(name) : left(name);
  });
  let first: string[][] = [];
  let characters = 0;
  let layout: TableLayout | undefined;
  let count = 0;
  const laidOut = () => {
    layout = layOut({ columns, rows: first }, width);
    const drawn = [layout.head, ...first.map(layout.row)];
    first = [];
    return drawn;
  };
  const texts = function* (chunk: Rows): Iterable<string> {
    for (const row of chunk) {
      const cells = row.map((value) => (value === null ? "NULL" : cellText(value)));
      count += 1;
      if (layout !== undefined) {
        yield layout.row(cells);
        continue;
      }
      first.push(cells);
      characters += cells.reduce((sum, cell) => sum + cell.length, 0);
      if (first.length >= ROWS_LAID_OUT || characters >= LAID_OUT) yield* laidOut();
    }
  };
  for await (const chunk of rowsOf(result)) yield* pieces(texts(chunk));
  if (layout === undefined) yield* pieces(laidOut());
  const drawn = layout ?? layOut({ columns, rows: [] }, width);
  yield `${drawn.foot}${counted(count, "row")}, ${counted(columns.length, "column")}\n${leftOutText({ columns }, drawn)}`;
}

async function* planTexts(result: DuckDBResult): AsyncIterable<string> {
  for await (const rows of rowsOf(result)) {
    for (const [, plan] of rows) yield printableText(`${cellText(plan ?? null)}\n`);
  }
}

const NUMBERS: ReadonlySet<string | undefined> = new Set(
  (
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT " +
    "FLOAT DOUBLE DECIMAL BIGNUM"
  ).split(" "),
);

/** Equal column names are told apart as DuckDB's client does, `a` and `a:1`. */
async function* jsonTexts(rows: RowStream): AsyncIterable<string> {
  yield* jsonArray(rows);
  yield "\n";
}
