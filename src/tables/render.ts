/** The declared tables as text, JSON, Markdown and a Mermaid diagram. */
import type { ColumnType, Origin, Table } from "./declare.ts";
import { UNPLACED, type UnplacedField } from "./unplaced.ts";

/** The form that programs read. `unplaced`: API fields that no column comes from, each with its reason. */
export interface SchemaDocument {
  readonly tables: readonly {
    readonly name: string;
    readonly comment: string;
    readonly key: readonly string[];
    readonly columns: readonly {
      readonly name: string;
      readonly type: ColumnType;
      readonly nullable: boolean;
      readonly comment: string;
      readonly personal: boolean;
      readonly origins: readonly Origin[];
    }[];
  }[];
  readonly unplaced: readonly UnplacedField[];
}

export function schemaDocument(tables: readonly Table[]): SchemaDocument {
  return {
    tables: tables.map(({ name, comment, key, columns }) => ({
      name,
      comment,
      key,
      columns: columns.map((column) => ({
        name: column.name,
        type: column.type,
        nullable: column.nullable,
        comment: column.comment,
        personal: column.personal,
        origins: column.origins,
      })),
    })),
    unplaced: UNPLACED,
  };
}

function marks(table: Table, name: string): string {
  const column = table.columns.find((each) => each.name === name);
  const all = [
    table.key.includes(name) ? "key" : "",
    column?.nullable === false && !table.key.includes(name) ? "not null" : "",
    column?.personal === true ? "personal" : "",
  ];
  return all.filter((mark) => mark !== "").join(", ");
}

/** One block a table: name, comment, then a line a column. */
export function schemaText(tables: readonly Table[]): string {
  const blocks = tables.map((table) => {
    const width = Math.max(...table.columns.map((column) => column.name.length));
    const lines = table.columns.map((column) => {
      const mark = marks(table, column.name);
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
      return `| \`${column.name}\` | ${column.type} | ${marks(table, column.name)} | ${cell(column.comment)} | ${from} |`;
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
