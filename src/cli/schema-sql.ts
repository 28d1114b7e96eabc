/** The tables as DDL with their keys, for tools that read these: the warehouse's own have none, see `createTable`. */
import { keyColumns, tableDdl } from "../storage/ddl.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import type { Reference, Table } from "../tables/declare.ts";

/** Statements of DuckDB, each table after those that it refers to. */
export function schemaSql(tables: readonly Table[]): string {
  const statements = inOrder(tables).flatMap((table) =>
    tableDdl(table, {
      constraints: [
        `PRIMARY KEY (${keyColumns(table)})`,
        ...table.references.filter(isIn(tables)).map(foreignKey),
      ],
    }),
  );
  return `${statements.join(";\n")};\n`;
}

const isIn =
  (tables: readonly Table[]) =>
  ({ table }: Reference): boolean =>
    tables.some(({ name }) => name === table);

function foreignKey({ columns, table, to }: Reference): string {
  const list = (names: readonly string[]) => names.map(quoteIdentifier).join(", ");
  return `FOREIGN KEY (${list(columns)}) REFERENCES ${quoteIdentifier(table)} (${list(to)})`;
}

function inOrder(tables: readonly Table[]): readonly Table[] {
  const ordered = new Set<Table>();
  const place = (table: Table): void => {
    if (ordered.has(table)) return;
    for (const other of tables) {
      const isNeeded = table.references.some((reference) => reference.table === other.name);
      if (isNeeded && other !== table) place(other);
    }
    ordered.add(table);
  };
  tables.forEach(place);
  return [...ordered];
}
