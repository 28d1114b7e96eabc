import type { Column, Table } from "../../tables/declare.ts";
import { marksOf } from "../../tables/render.ts";
import { paragraph } from "./terminal.ts";

/** A block a table: its comment, then its columns, each with its meaning and the API fields that it comes from. */
export function schemaText(tables: readonly Table[], width: number | undefined): string {
  return tables.map((table) => tableText(table, width)).join("\n");
}

function tableText(table: Table, width: number | undefined): string {
  const names = Math.max(...table.columns.map(({ name }) => name.length));
  const columns = table.columns.map((column) => columnText(table, column, { names, width }));
  return [paragraph("", `${table.name}: ${table.comment}`, width), ...columns].join("");
}

interface Layout {
  /** Width of the longest column name. */
  readonly names: number;
  readonly width: number | undefined;
}

function columnText(table: Table, column: Column, { names, width }: Layout): string {
  const marks = marksOf(table, column);
  const meaning = `${column.comment}${marks.length === 0 ? "" : ` [${marks.join(", ")}]`}`;
  const lead = `  ${column.name.padEnd(names)}  ${column.type.padEnd("timestamp".length)}  `;
  const from = column.origins.map(({ resource, path }) => `${resource}:${path}`).join(", ");
  const origins = from === "" ? "" : paragraph(" ".repeat(lead.length), `from ${from}`, width);
  return paragraph(lead, meaning, width) + origins;
}
