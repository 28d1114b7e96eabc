/** The catalogue of columns: those of the run's tables and views, with the API fields that each comes from. */
import type { RunColumn } from "../../audit/run-columns.ts";
import { col, type Section } from "../../common/answer.ts";
import { count, counted } from "../../common/figures.ts";
import { type PagePart, partOf } from "./page.ts";

/** Columns in a page: each custom field has one too. */
const COLUMNS_LIMIT = 1200;

const COLUMNS = {
  table: col.name({ required: true }),
  column: col.name({ required: true }),
  type: col.name({ required: true }),
  comment: col.text(),
  from: col.text(),
} as const;

export function columnsPart(columns: readonly RunColumn[]): PagePart {
  const tables = new Set(columns.map(({ table }) => table)).size;
  const section: Section<typeof COLUMNS> = {
    key: "columns",
    title: "Columns",
    lead: `${counted(columns.length, "column")} of ${count(tables)} tables and views, with the API fields that each comes from.`,
    columns: COLUMNS,
    rows: columns
      .slice(0, COLUMNS_LIMIT)
      .map(({ origins, ...column }) => ({ ...column, from: origins.join(", ") })),
    total: columns.length,
    limit: 0,
  };
  return { ...partOf("columns", "Columns", "schema", [section]), rowsLimit: COLUMNS_LIMIT };
}
