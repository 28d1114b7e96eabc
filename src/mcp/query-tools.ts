/** Tools about the tables: which there are, what their columns are, and SQL. */
import { z } from "zod";
import { WarehouseError } from "../common/errors.ts";
import { suggestion } from "../common/nearest.ts";
import { quoteLiteral } from "../storage/sql-text.ts";
import { type Commands, wholeAnswer } from "./answer.ts";
import { type McpServer, READS, textResult } from "./tool.ts";

const RELATIONS = `
  SELECT table_name AS name, 'table' AS kind, estimated_size AS rows, comment FROM duckdb_tables()
  UNION ALL
  SELECT view_name, 'view', NULL, comment FROM duckdb_views() WHERE NOT internal
  ORDER BY name`;

const COLUMNS = `
  SELECT column_name AS name, data_type AS type, is_nullable AS nullable, comment FROM duckdb_columns()
  WHERE NOT internal AND table_name = `;

export function registerQueryTools(server: McpServer, commands: Commands): void {
  const { maxRows, maxBytes, maxSeconds } = commands.limits;
  server.registerTool(
    "list_tables",
    {
      description: "List the tables and views of the warehouse, with how many rows each has and what it is.",
      annotations: READS,
    },
    () => textResult(() => wholeAnswer(commands, questionOf(RELATIONS))),
  );
  server.registerTool(
    "describe_table",
    {
      description: "Describe a table or view: its columns with their types and what each of them is.",
      inputSchema: { table: z.string().describe("name of a table or view, as list_tables has it") },
      annotations: READS,
    },
    ({ table }) => textResult(() => columnsOf(commands, table)),
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
      annotations: READS,
    },
    ({ sql, max_rows }) => textResult(() => someRows(commands, sql, max_rows ?? maxRows)),
  );
}

const row = z.record(z.string(), z.unknown());

async function columnsOf(commands: Commands, table: string): Promise<string> {
  const columns = await wholeAnswer(
    commands,
    questionOf(`${COLUMNS}${quoteLiteral(table)} ORDER BY column_index`),
  );
  if (z.array(row).parse(JSON.parse(columns)).length > 0) return columns;
  const relations = z
    .array(z.object({ name: z.string() }))
    .parse(JSON.parse(await wholeAnswer(commands, questionOf(RELATIONS))));
  const names = relations.map(({ name }) => name);
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

function questionOf(sql: string): string[] {
  return ["sql", "--format=json", "--", sql];
}
