/** The declared tables as JSON. */
import { isView, type Origin, type SchemaColumn, type SchemaTable } from "./declare.ts";

/** API fields that no column comes from. */
const UNPLACED: readonly (Origin & {
  /** One sentence. */
  readonly reason: string;
})[] = [
  {
    resource: "envelope",
    path: "count",
    reason:
      "Services disagree on whether it is the rows of the page or of the listing, so nothing is taken from it: rows are counted, and pagination.count is the total.",
  },
];

/** Tables and views as JSON. `unplaced`: API fields that no column comes from, each with its reason. */
export function schemaDocument(tables: readonly SchemaTable[]) {
  return {
    tables: tables.filter((table) => !isView(table)).map(described),
    views: tables.filter(isView).map(described),
    unplaced: UNPLACED,
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

/** Marks of a column: `key`, `not null`, `personal`, `→ users`. */
export function columnMarks(table: SchemaTable, { name, nullable, personal }: SchemaColumn): string[] {
  const isKey = table.key.includes(name);
  const references = table.references.flatMap(({ columns, table }) =>
    columns.includes(name) ? [`→ ${table}`] : [],
  );
  return [
    ...(isKey ? ["key"] : nullable ? [] : ["not null"]),
    ...(personal ? ["personal"] : []),
    ...references,
  ];
}
