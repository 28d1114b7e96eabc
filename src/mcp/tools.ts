/** The tools: about tables and their columns, SQL, what an item produces, what the mappings cover, and what changed. */

import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { DiffRequest } from "../audit/diff/diff-answer.ts";
import type { CoverageRequest } from "../audit/questions/coverage.ts";
import type { ExplainRequest } from "../audit/questions/explain-answer.ts";
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

/** A question to published runs, by its name. Its answer is the JSON form. */
export type RunQuestion =
  | { readonly question: "explain"; readonly request: ExplainRequest }
  | { readonly question: "coverage"; readonly request: CoverageRequest }
  | { readonly question: "diff"; readonly request: DiffRequest };

export type AssistantQuestion = RowsQuestion | RunQuestion;

export interface Questions {
  readonly limits: AnswerLimits;
  /** The whole answer. Throws a WarehouseError for whatever keeps it from being given, also for one that is too long. */
  answer(question: AssistantQuestion, signal: AbortSignal): Promise<string>;
}

/** The answer as text; a failure is an error of the tool. */
async function textResult(answer: Promise<string>): Promise<CallToolResult> {
  try {
    return { content: [{ type: "text", text: await answer }] };
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    return { content: [{ type: "text", text: message }], isError: true };
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
  const answered = ({ signal }: Extra, question: RunQuestion) =>
    textResult(questions.answer(question, signal));
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
        `Ask the warehouse one question in DuckDB's SQL. It is read-only and reaches nothing but the warehouse; the run ` +
        `before is the catalog previous: FROM content EXCEPT FROM previous.content. ` +
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
        "Explain an item: what each destination receives, what became of each value, why, and since when. With steps: " +
        "each rule, the mapping entry and the document behind every value.",
      inputSchema: {
        item: z.string().describe("ID or slug of an item"),
        destination,
        field,
        steps: z.boolean().optional().describe("tell the rules too, one by one"),
        run,
      },
      annotations,
    },
    (request, extra) => answered(extra, { question: "explain", request }),
  );
  server.registerTool(
    "audit_mappings",
    {
      description:
        "Say how far the mappings cover the values of a run: per destination and field how many values are mapped, " +
        "or without an external value (unmapped or unknown), which destinations receive values at all, which values " +
        "those are, and which mapping entries no item uses.",
      inputSchema: { run, destination, field },
      annotations,
    },
    ({ run = "current", ...request }, extra) =>
      answered(extra, { question: "coverage", request: { run, ...request } }),
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
    ({ before = "previous", after = "current", max_lines: limit = LINES, ...request }, extra) =>
      answered(extra, { question: "diff", request: { before, after, limit, ...request } }),
  );
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
