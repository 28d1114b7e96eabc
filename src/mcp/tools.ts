/** The tools: about tables and their columns, SQL, what an item produces, what the mappings cover, and what changed. */

import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { suggestion } from "../common/nearest.ts";
import { quoteLiteral } from "../storage/sql-text.ts";
import { CAUSES } from "../tables/history.ts";

/** What a question may take before it is ended. */
export interface AnswerLimits {
  readonly maxRows: number;
  /** Of the answer's text. */
  readonly maxBytes: number;
  readonly maxSeconds: number;
}

/** A question in SQL. With `maxRows`, its answer is a page; without, all rows in a JSON array. */
export interface RowsQuestion {
  readonly sql: string;
  readonly maxRows: number | undefined;
}

/** A command of the program, with its arguments. */
export interface CommandQuestion {
  readonly command: "audit" | "diff" | "explain";
  readonly args: readonly string[];
}

export type Question = RowsQuestion | CommandQuestion;

export interface Questions {
  readonly limits: AnswerLimits;
  /** The whole answer. Throws a WarehouseError for whatever keeps it from being given, also for one that is too long. */
  answer(question: Question, signal: AbortSignal): Promise<string>;
}

/** What the command line calls otherwise than the tools do. */
const NAMES: readonly (readonly [atCommandLine: RegExp, here: string])[] = [
  [/ with "sql"/g, " with `query`"],
  [/"--as-of (\d+)"/g, "`as_of` $1"],
  [/, with --as-of\b/g, ", with `as_of`"],
  [/\braise (--max-\w+)/g, 'start "content-warehouse mcp" with a higher $1'],
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

/** Ends the question where the client asks for that. */
type Extra = { readonly signal: AbortSignal };

export function registerTools(server: McpServer, questions: Questions): void {
  const { maxRows, maxBytes, maxSeconds } = questions.limits;
  const queried = ({ signal }: Extra, sql: string, rows?: number) =>
    textResult(questions.answer({ sql, maxRows: rows }, signal));
  /** Words after `--` are arguments of the command. */
  const answered = (
    { signal }: Extra,
    command: CommandQuestion["command"],
    options: OptionValues,
    ...args: string[]
  ) => textResult(questions.answer({ command, args: [...optionsOf(options), "--", ...args] }, signal));
  server.registerTool(
    "list_tables",
    {
      description: "List the tables and views of the warehouse, with how many rows each has and what it is.",
      annotations,
    },
    (extra) => queried(extra, RELATIONS),
  );
  server.registerTool(
    "describe_table",
    {
      description: "Describe a table or view: its columns with their types and what each of them is.",
      inputSchema: { table: z.string().describe("name of a table or view, as list_tables has it") },
      annotations,
    },
    ({ table }, { signal }) =>
      textResult(columnsOf(table, (sql) => questions.answer({ sql, maxRows: undefined }, signal))),
  );
  server.registerTool(
    "query",
    {
      description:
        `Ask the warehouse one question in DuckDB's SQL. It is read-only and reaches nothing but the warehouse. ` +
        `At most ${maxRows} rows, ${maxBytes} bytes and ${maxSeconds} seconds; "whole" says whether those are all rows, ` +
        `"left_out" which rows are too long to be among them.`,
      inputSchema: {
        sql: z.string().describe("one statement: SELECT, FROM, WITH, SHOW, DESCRIBE, SUMMARIZE or EXPLAIN"),
        max_rows: z.int().min(1).max(maxRows).optional().describe(`rows at most (default: ${maxRows})`),
      },
      annotations,
    },
    ({ sql, max_rows }, extra) => queried(extra, sql, max_rows ?? maxRows),
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
    ({ item, as_of, ...options }, extra) => answered(extra, "explain", { ...options, "as-of": as_of }, item),
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
    ({ run, ...options }, extra) =>
      answered(extra, "audit", { ...options, format: "json" }, run ?? "current"),
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
    ({ before = "previous", after = "current", max_lines: limit = LINES, ...options }, extra) =>
      answered(extra, "diff", { ...options, format: "json", limit }, before, after),
  );
}

type OptionValues = Readonly<Record<string, string | number | boolean | undefined>>;

/** `--name=value`: a value that begins with a hyphen is no option. Nothing of one that is not given. */
function optionsOf(values: OptionValues): string[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`));
}

const named = z.array(z.looseObject({ name: z.string() }));

async function columnsOf(table: string, ask: (sql: string) => Promise<string>): Promise<string> {
  const columns = await ask(`${COLUMNS}${quoteLiteral(table)} ORDER BY column_index`);
  if (named.parse(JSON.parse(columns)).length > 0) return columns;
  const names = named.parse(JSON.parse(await ask(RELATIONS))).map(({ name }) => name);
  throw new WarehouseError(
    "config.not_found",
    `There is no table "${table}" in the warehouse.${suggestion(table, names, "list_tables shows those that there are.")}`,
  );
}
