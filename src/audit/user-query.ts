/** Prepares a user's SQL: one statement that only reads. */
import { type DuckDBConnection, type DuckDBResult, StatementType } from "@duckdb/node-api";
import { WarehouseError } from "../common/errors.ts";
import { all } from "../storage/duckdb.ts";
import { duckdbError } from "../storage/duckdb-error.ts";
import { quoteLiteral } from "../storage/sql-text.ts";
import { MACRO_NAMES } from "../tables/views.ts";

/**
 * Prepares a statement that only reads, or EXPLAIN of one. Throws `config.sql` if the text is neither. `noPrevious`: why
 * there is no catalog `previous`. `mayPivot`: whether PIVOT may find its columns in the rows.
 */
export async function prepareQuery(
  connection: DuckDBConnection,
  query: string,
  {
    noPrevious,
    mayPivot = false,
  }: { readonly noPrevious?: string | undefined; readonly mayPivot?: boolean } = {},
) {
  const statements = await connection.extractStatements(query).catch((thrown: unknown) => {
    throw isBlank(query) ? statementCountError(0) : queryError(thrown);
  });
  const last = statements.count - 1;
  if (last !== 0 && !(mayPivot && last > 0 && isOneStatement(query)))
    throw statementCountError(statements.count);
  assertNoPreviousMacro(query);
  try {
    // For a PIVOT without IN, DuckDB first creates a type with the values of each column.
    for (let index = 0; index < last; index++) {
      const type = await statements.prepare(index);
      if (type.statementType !== StatementType.CREATE)
        throw refuseQuery("EXPLAIN needs the values of a PIVOT; add IN (...) to it.");
      await type.run();
    }
    const prepared = await statements.prepare(last);
    const isPlan = prepared.statementType === StatementType.EXPLAIN;
    // ANALYZE executes the explained statement. It counts as EXPLAIN itself if a comment hides it.
    const explained = isPlan ? await connection.prepare(query.replace(EXPLAIN, "")) : prepared;
    const type = explained.statementType;
    // SHOW, DESCRIBE and SUMMARIZE are SELECT for DuckDB.
    if (type !== StatementType.SELECT)
      throw refuseQuery(
        "Only reading is allowed: begin with SELECT, FROM, WITH, SHOW, DESCRIBE, SUMMARIZE or EXPLAIN.",
      );
    return {
      /** Whether the result is text for people. */
      isPlan,
      stream: (): Promise<DuckDBResult> =>
        prepared.stream().catch((thrown: unknown) => {
          throw queryError(thrown);
        }),
      copyTo: (file: string) => copyToParquet(connection, query, file),
    };
  } catch (thrown) {
    if (noPrevious !== undefined && NO_PREVIOUS.test(String(thrown))) throw refuseQuery(noPrevious, thrown);
    throw queryError(thrown);
  }
}

const EXPLAIN = /^\s*EXPLAIN\b\s*(?:ANALYZE\b\s*)?(?:\(\s*(?:ANALYZE|FORMAT)\b[\w\s,]*\)\s*)?/i;

const NO_PREVIOUS = /(?:schema|catalog) "previous" does not exist/i;

const MACRO_OF_PREVIOUS = new RegExp(
  `\\bprevious"?\\s*\\.\\s*(?:"?main"?\\s*\\.\\s*)?"?(${MACRO_NAMES.join("|")})\\b`,
  "i",
);

/**
 * A macro reads the tables of the current catalog, even if called as `previous.macro()`: the answer would be
 * about this run.
 */
function assertNoPreviousMacro(query: string): void {
  const [, name] = MACRO_OF_PREVIOUS.exec(query.replace(COMMENTS, "")) ?? [];
  if (name === undefined) return;
  throw refuseQuery(
    `previous.${name}() would read the tables of this run; leave out "previous" (the history has earlier values too), or query the run before with --run.`,
  );
}

/** Writes the result to a new Parquet file in a folder that the database may write. */
async function copyToParquet(connection: DuckDBConnection, query: string, file: string): Promise<void> {
  try {
    const answer = await withoutTrailingComments(connection, query);
    await connection.run(
      `COPY (FROM (\n${answer}\n)) TO ${quoteLiteral(file)} (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)`,
    );
  } catch (thrown) {
    throw queryError(thrown);
  }
}

/**
 * Returns the query in parentheses, for use after FROM. Throws `config.sql` for parameters, and for a statement that does
 * not only read.
 */
export async function subqueryOf(connection: DuckDBConnection, query: string): Promise<string> {
  await prepareQuery(connection, query);
  const subquery = `(\n${await withoutTrailingComments(connection, query)}\n)`;
  const prepared = await connection.prepare(`SELECT count(*) FROM ${subquery}`).catch((thrown: unknown) => {
    // The statement is valid, but not as a subquery.
    if (!String(thrown).includes("Parser Error")) throw queryError(thrown);
    throw refuseQuery("it gives no rows to count; begin with SELECT, FROM or WITH.", thrown);
  });
  if (prepared.parameterCount === 0) return subquery;
  throw refuseQuery("it has parameters without values; write the values into it.");
}

/** The statement without its `;` and trailing comments. */
async function withoutTrailingComments(connection: DuckDBConnection, query: string): Promise<string> {
  for (const { index } of query.matchAll(/;/g)) {
    if (!isBlank(query.slice(index))) continue;
    const statement = query.slice(0, index);
    // A `;` in a text or comment is not the end; what precedes it does not parse.
    const parsed = await connection.extractStatements(statement).catch(() => undefined);
    if (parsed !== undefined && parsed.count > 0) return statement;
  }
  return query;
}

/**
 * Tables in a query, by DuckDB's parser. Parts of a name that the query omits are empty; names defined in WITH
 * are included. Returns undefined if DuckDB cannot serialize the statement (PIVOT).
 */
export async function readTableNames(connection: DuckDBConnection, query: string) {
  const nodes = await readParseNodes(connection, query);
  return nodes?.flatMap(({ table_name: table, schema_name: schema, catalog_name: catalog }) =>
    [table, schema, catalog].every((name) => typeof name === "string")
      ? [{ catalog: String(catalog), schema: String(schema), table: String(table) }]
      : [],
  );
}

/**
 * Columns that conditions of a query compare with something, without their tables. Columns that are only shown,
 * sorted by or tested for NULL are left out.
 */
export async function readComparedColumns(connection: DuckDBConnection, query: string): Promise<string[]> {
  const isPassedOver = ({ type }: ParseNode, member: string) =>
    ["select_list", "modifiers"].includes(member) ||
    ["OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL"].includes(String(type));
  const nodes = await readParseNodes(connection, query, isPassedOver);
  return (nodes ?? []).flatMap(({ column_names: names }) =>
    Array.isArray(names) ? [String(names.at(-1)).toLowerCase()] : [],
  );
}

type ParseNode = Readonly<Record<string, unknown>>;

/** All nodes of the parse tree, without those below skipped members. */
async function readParseNodes(
  connection: DuckDBConnection,
  query: string,
  isPassedOver: (node: ParseNode, member: string) => boolean = () => false,
): Promise<ParseNode[] | undefined> {
  const [row] = await all(connection, "SELECT json_serialize_sql($1::VARCHAR) AS tree", [query]);
  const tree: unknown = JSON.parse(String(row?.tree));
  const nodes: ParseNode[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if (!Array.isArray(node)) nodes.push(node as ParseNode);
    for (const [member, value] of Object.entries(node))
      if (!isPassedOver(node as ParseNode, member)) walk(value);
  };
  walk(tree);
  return nodes[0]?.error === true ? undefined : nodes;
}

const COMMENTS = /--[^\n]*|\/\*[\s\S]*?\*\//g;
const COMMENTS_AND_TEXTS = new RegExp(`'[^']*'|"[^"]*"|${COMMENTS.source}`, "g");

/** Whether the text, outside of comments and texts, has no `;` but at its end. */
function isOneStatement(query: string): boolean {
  return !/;[\s;]*[^\s;]/.test(query.replace(COMMENTS_AND_TEXTS, ""));
}

function isBlank(query: string): boolean {
  return query.replace(COMMENTS, "").replaceAll(";", "").trim() === "";
}

function statementCountError(count: number): WarehouseError {
  return new WarehouseError(
    "config.sql",
    count === 0
      ? "The query has no SQL statement."
      : `There are ${count} SQL statements in the query; give one at a time.`,
  );
}

/** Reports errors while a query is running like those before it started. */
export async function* withQueryErrors(texts: AsyncIterable<string>): AsyncIterable<string> {
  try {
    yield* texts;
  } catch (thrown) {
    throw queryError(thrown);
  }
}

function refuseQuery(why: string, cause?: unknown): WarehouseError {
  return new WarehouseError("config.sql", `The query was refused: ${why}`, { cause });
}

/** DuckDB's message as one sentence; `verify.failed` for a damaged file. */
function queryError(thrown: unknown): WarehouseError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const isSpilled = message.includes("max_temp_directory_size");
  const error = duckdbError(thrown);
  if (error === thrown || (error.code !== "internal" && !isSpilled)) return error;
  // The message without the excerpt of the query, as one line.
  const lines = (message.split(/\n+LINE \d+:/, 1)[0] ?? "")
    .replace(/^Failed to extract statements: /, "")
    .split("\n");
  const parts = lines.map((line) => line.trim().replace(/[.!]+$/, "")).filter((line) => line !== "");
  const why = /^Invalid string length|string longer than/.test(message)
    ? "a row of its answer is longer than 512 MB; ask for fewer columns"
    : isSpilled || message.startsWith("Out of Memory")
      ? "the database needs more memory than it has for it and cannot spill the rest to disk; select fewer rows or columns at a time; --max-memory sets the limit"
      : parts.join("; ");
  return refuseQuery(`${why}${why.endsWith("?") ? "" : "."}`, thrown);
}
