/** The tools: about tables and their columns, SQL, what an item produces, what the mappings cover, and what changed. */

import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { suggestion } from "../common/nearest.ts";
import { quoteLiteral } from "../storage/sql-text.ts";
import { CAUSES } from "../tables/history.ts";

/** What a command may take before it is ended. */
export interface AnswerLimits {
  readonly maxRows: number;
  /** Of the answer's text. */
  readonly maxBytes: number;
  readonly maxSeconds: number;
}

/** The program's commands, one at a time. */
export interface Commands {
  readonly limits: AnswerLimits;
  /**
   * What a command prints into a pipe; `maxLines`: it is ended after so many. Throws a WarehouseError for whatever the
   * command ends with, and where it takes too long.
   */
  answer(args: readonly string[], maxLines?: number): Promise<CommandAnswer>;
}

export interface CommandAnswer {
  readonly text: string;
  /** False: the command was ended because its answer grew too long; `text` is its beginning. */
  readonly isWhole: boolean;
}

/** An answer that is of use only in full. Throws `config.invalid` where it is too long. */
async function wholeAnswer({ answer, limits }: Commands, args: readonly string[]): Promise<string> {
  const { text, isWhole } = await answer(args);
  if (isWhole) return text;
  throw new WarehouseError(
    "config.invalid",
    `The answer is longer than ${limits.maxBytes} bytes; narrow the question, or start "content-warehouse mcp" with --max-bytes.`,
  );
}

/** What the command line calls otherwise than the tools do. */
const NAMES: readonly (readonly [atCommandLine: RegExp, here: string])[] = [
  [/ with "sql"/g, " with `query`"],
  [/"--as-of (\d+)"/g, "`as_of` $1"],
  [/, with --as-of\b/g, ", with `as_of`"],
  [/; "runs list" shows them| "runs list" shows those that exist\./g, ""],
];

/** The answer as text; a failure is an error of the tool, with the command line's sentence in the words of the tools. */
async function textResult(answer: Promise<string>): Promise<CallToolResult> {
  try {
    return { content: [{ type: "text", text: await answer }] };
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    const text = NAMES.reduce(
      (sentence, [atCommandLine, here]) => sentence.replace(atCommandLine, here),
      message,
    );
    return { content: [{ type: "text", text }], isError: true };
  }
}

/** Of all tools: the warehouse is only read, and asking again gives the same until the next run is published. */
const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

const RELATIONS = `
  SELECT table_name AS name, 'table' AS kind, estimated_size AS rows, comment FROM duckdb_tables()
  UNION ALL
  SELECT view_name, 'view', NULL, comment FROM duckdb_views() WHERE NOT internal
  ORDER BY name`;

const COLUMNS = `
  SELECT column_name AS name, data_type AS type, is_nullable AS nullable, comment FROM duckdb_columns()
  WHERE NOT internal AND table_name = `;

const destination = z.string().optional().describe("only this destination, by name or ID");
const field = z.string().optional().describe("only this custom field, by name or ID");
const run = z.string().optional().describe("name or number of a run (default: the current one)");

/** Changes that an answer lists unless it is asked for more. */
const LINES = 50;

export function registerTools(server: McpServer, commands: Commands): void {
  const { maxRows, maxBytes, maxSeconds } = commands.limits;
  /** Words after `--` are arguments of the command. */
  const answered = (command: string, options: OptionValues, ...args: string[]) =>
    textResult(wholeAnswer(commands, [command, ...optionsOf(options), "--", ...args]));
  server.registerTool(
    "list_tables",
    {
      description: "List the tables and views of the warehouse, with how many rows each has and what it is.",
      annotations,
    },
    () => textResult(wholeAnswer(commands, questionOf(RELATIONS))),
  );
  server.registerTool(
    "describe_table",
    {
      description: "Describe a table or view: its columns with their types and what each of them is.",
      inputSchema: { table: z.string().describe("name of a table or view, as list_tables has it") },
      annotations,
    },
    ({ table }) => textResult(columnsOf(commands, table)),
  );
  server.registerTool(
    "query",
    {
      description:
        `Ask the warehouse one question in DuckDB's SQL. It is read-only and reaches nothing but the warehouse. ` +
        `At most ${maxRows} rows, ${maxBytes} bytes and ${maxSeconds} seconds; "whole" says whether those are all rows.`,
      inputSchema: {
        sql: z.string().describe("one statement: SELECT, FROM, WITH, SHOW, DESCRIBE, SUMMARIZE or EXPLAIN"),
        max_rows: z.int().min(1).max(maxRows).optional().describe(`rows at most (default: ${maxRows})`),
      },
      annotations,
    },
    ({ sql, max_rows }) => textResult(someRows(commands, sql, max_rows ?? maxRows)),
  );
  server.registerTool(
    "explain_item",
    {
      description:
        "Explain an item: what each destination receives, which values are not sent and why. With steps: each rule, " +
        "the mapping entry and the document behind every value, and since when it is so.",
      inputSchema: {
        item: z.string().describe("ID or slug of an item"),
        destination,
        field,
        steps: z.boolean().optional().describe("tell the rules too, one by one"),
        as_of: z
          .string()
          .optional()
          .describe("a run, or an instant such as 2026-11-20T02:00:00Z (default: the current run)"),
      },
      annotations,
    },
    ({ item, as_of, ...options }) => answered("explain", { ...options, "as-of": as_of }, item),
  );
  server.registerTool(
    "mapping_coverage",
    {
      description:
        "Say how far the mappings cover the values of a run: per destination and field how many values are mapped, " +
        "unmapped or unknown, which values those are, and which mapping entries no item uses.",
      inputSchema: { run, destination, field },
      annotations,
    },
    ({ run, ...options }) => answered("audit", { ...options, format: "json" }, run ?? "current"),
  );
  server.registerTool(
    "diff_runs",
    {
      description:
        "Compare two runs: which external values changed, for how many items, and by which cause. A line is one change " +
        "however many items it touches.",
      inputSchema: {
        before: z.string().optional().describe("the earlier run: name or number (default: the previous one)"),
        after: z.string().optional().describe("the later run: name or number (default: the current one)"),
        cause: z.enum(CAUSES).optional().describe("only changes with this cause"),
        destination,
        field,
        max_lines: z.int().min(1).optional().describe(`lines at most (default: ${LINES})`),
      },
      annotations,
    },
    ({ before = "previous", after = "current", max_lines: limit = LINES, ...options }) =>
      answered("diff", { ...options, format: "json", limit }, before, after),
  );
}

type OptionValues = Readonly<Record<string, string | number | boolean | undefined>>;

/** `--name=value`: a value that begins with a hyphen is no option. Nothing of one that is not given. */
function optionsOf(values: OptionValues): string[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`));
}

function questionOf(sql: string): string[] {
  return ["sql", "--format=json", "--", sql];
}

const named = z.array(z.looseObject({ name: z.string() }));

async function columnsOf(commands: Commands, table: string): Promise<string> {
  const ask = (sql: string) => wholeAnswer(commands, questionOf(sql));
  const columns = await ask(`${COLUMNS}${quoteLiteral(table)} ORDER BY column_index`);
  if (named.parse(JSON.parse(columns)).length > 0) return columns;
  const names = named.parse(JSON.parse(await ask(RELATIONS))).map(({ name }) => name);
  throw new WarehouseError(
    "config.not_found",
    `There is no table "${table}" in the warehouse.${suggestion(table, names, "list_tables shows those that there are.")}`,
  );
}

/** The first rows: each is a line, and the list's beginning and end are two more. */
async function someRows(commands: Commands, sql: string, maxRows: number): Promise<string> {
  const { text, isWhole } = await commands.answer(questionOf(sql), maxRows + 2);
  if (isWhole && linesOf(text).length <= maxRows) return `{"whole":true,"rows":${text.trim()}}`;
  const rows = linesOf(text).slice(0, maxRows);
  return `{"whole":false,"rows":[\n${rows.join(",\n")}\n]}`;
}

/** Rows that are there in full. */
function linesOf(text: string): string[] {
  return text
    .split("\n")
    .slice(1, -1)
    .filter((line) => line !== "]")
    .map((line) => line.replace(/,$/, ""));
}
