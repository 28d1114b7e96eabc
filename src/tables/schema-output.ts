/** The declared tables as JSON, and what marks their columns. */
import { isView, type SchemaColumn, type SchemaTable } from "./declare.ts";

/** Tables and views as JSON. `unplaced`: API fields that no column comes from, each with its reason. */
export function schemaDocument(tables: readonly SchemaTable[]) {
  return {
    tables: tables.filter((table) => !isView(table)).map(described),
    views: tables.filter(isView).map(described),
    unplaced: [
      {
        resource: "envelope",
        path: "count",
        reason:
          "Services disagree on whether it is the rows of the page or of the listing, so nothing is taken from it: rows are counted, and pagination.count is the total.",
      } as const,
    ],
  };
}

function described({ name, comment, key, references, columns }: SchemaTable) {
  return {
    name,
    comment,
    key,
    references,
    columns: columns.map(({ name, type, nullable, comment, personal, origins }) => {
      return { name, type, nullable, comment, personal, origins };
    }),
  };
}

/** Marks of a column: `key`, `not null`, `personal`. Its comment says which column it refers to. */
export function columnMarks(table: SchemaTable, { name, nullable, personal }: SchemaColumn): string[] {
  const isKey = table.key.includes(name);
  return [...(isKey ? ["key"] : nullable ? [] : ["not null"]), ...(personal ? ["personal"] : [])];
}
