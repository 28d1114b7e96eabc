/** The declared tables as JSON and as a Mermaid diagram. */
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

/** An entity-relationship diagram of keys and references. Views have neither, and are left out. */
export function schemaMermaid(tables: readonly SchemaTable[]): string {
  const shown = tables.filter((table) => !isView(table));
  const entities = shown.flatMap(({ name, key, references, columns }) => {
    const referring = new Set(references.flatMap((reference) => reference.columns));
    const roles = (column: string) => [
      ...(key.includes(column) ? ["PK"] : []),
      ...(referring.has(column) ? ["FK"] : []),
    ];
    const rows = columns.filter((column) => roles(column.name).length > 0);
    return [
      `  ${name} {`,
      ...rows.map((column) => `    ${column.type} ${column.name} ${roles(column.name).join(",")}`),
      "  }",
    ];
  });
  const lines = shown.flatMap(({ name, references }) =>
    references
      .filter(({ table }) => shown.some((each) => each.name === table))
      .map(({ table, columns }) => `  ${table} ||--o{ ${name} : "${columns.join(", ")}"`),
  );
  return ["erDiagram", ...entities, ...lines, ""].join("\n");
}
