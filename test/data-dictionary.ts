import type { Table } from "../src/tables/declare.ts";
import { columnMarks } from "../src/tables/schema-output.ts";

/** The data dictionary of the documents: a heading for each table, then its columns. */
export function dataDictionary(tables: readonly Table[]): string {
  const blocks = tables.map((table) => {
    const rows = table.columns.map((column) => {
      const from = column.origins.map(({ resource, path }) => `\`${resource}: ${path}\``).join(", ");
      const comment = column.comment.replaceAll("|", "\\|");
      return `| \`${column.name}\` | ${column.type} | ${columnMarks(table, column).join(", ")} | ${comment} | ${from} |`;
    });
    return [
      `## ${table.name}`,
      "",
      table.comment,
      "",
      "| Column | Type | | Meaning | API fields |",
      "|---|---|---|---|---|",
      ...rows,
    ].join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}
