/** The declared tables as text, JSON, Markdown and a Mermaid diagram. */
import type { Column, Origin, Table } from "./declare.ts";

/** An API field that no column comes from, and why. */
interface UnplacedField extends Origin {
  /** One sentence. */
  readonly reason: string;
}

const UNPLACED: readonly UnplacedField[] = [
  {
    resource: "envelope",
    path: "count",
    reason:
      "Services disagree on whether it is the rows of the page or of the listing, so nothing is taken from it: rows are counted, and pagination.count is the total.",
  },
];

type SchemaColumn = Pick<Column, "name" | "type" | "nullable" | "comment" | "personal" | "origins">;

/** The form that programs read. `unplaced`: API fields that no column comes from, each with its reason. */
export interface SchemaDocument {
  readonly tables: readonly (Pick<Table, "name" | "comment" | "key"> & {
    readonly columns: readonly SchemaColumn[];
  })[];
  readonly unplaced: readonly UnplacedField[];
}

export function schemaDocument(tables: readonly Table[]): SchemaDocument {
  return {
    tables: tables.map(({ name, comment, key, columns }) => ({
      name,
      comment,
      key,
      columns: columns.map(({ format: _format, emptyDefault: _default, ...column }) => column),
    })),
    unplaced: UNPLACED,
  };
}

function marks(table: Table, { name, nullable, personal }: Column): string {
  const required = nullable ? [] : ["not null"];
  return [...(table.key.includes(name) ? ["key"] : required), ...(personal ? ["personal"] : [])].join(", ");
}

/** One block a table: name, comment, then a line a column. */
export function schemaText(tables: readonly Table[]): string {
  const blocks = tables.map((table) => {
    const width = Math.max(...table.columns.map((column) => column.name.length));
    const lines = table.columns.map((column) => {
      const mark = marks(table, column);
      const type = column.type.padEnd(9);
      return `  ${column.name.padEnd(width)}  ${type}  ${column.comment}${mark === "" ? "" : ` [${mark}]`}`;
    });
    return [`${table.name}: ${table.comment}`, ...lines].join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

export function schemaMarkdown(tables: readonly Table[]): string {
  const blocks = tables.map((table) => {
    const rows = table.columns.map((column) => {
      const from = column.origins.map(({ resource, path }) => `\`${resource}: ${path}\``).join(", ");
      return `| \`${column.name}\` | ${column.type} | ${marks(table, column)} | ${cell(column.comment)} | ${from} |`;
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
  return `# Tables\n\n${blocks.join("\n\n")}\n`;
}

/** An entity-relationship diagram: keys and references; the other columns would make it unreadable. */
export function schemaMermaid(tables: readonly Table[]): string {
  const entities = tables.map((table) => {
    const referring = new Set(table.references.flatMap((reference) => reference.columns));
    const columns = table.columns
      .filter((column) => table.key.includes(column.name) || referring.has(column.name))
      .map((column) => {
        const role = [table.key.includes(column.name) ? "PK" : "", referring.has(column.name) ? "FK" : ""];
        return `    ${column.type} ${column.name} ${role.filter((mark) => mark !== "").join(",")}`;
      });
    return [`  ${table.name} {`, ...columns, "  }"].join("\n");
  });
  const names = new Set(tables.map((table) => table.name));
  const lines = tables.flatMap((table) =>
    table.references
      .filter((reference) => names.has(reference.table))
      .map((reference) => `  ${reference.table} ||--o{ ${table.name} : "${reference.columns.join(", ")}"`),
  );
  return `erDiagram\n${[...entities, ...lines].join("\n")}\n`;
}
