/** How a table is declared, once: DDL, Parquet schema, lineage, documentation, checks and the transform follow from it. */

/**
 * Column types. `timestamp`: microseconds since 1970 UTC (TIMESTAMPTZ). `date`: days since 1970 (DATE).
 * `integer`: 32 bit. `bigint`: 64 bit. `json`: text that DuckDB shows as JSON.
 */
export const COLUMN_TYPES = [
  "text",
  "boolean",
  "integer",
  "bigint",
  "double",
  "timestamp",
  "date",
  "json",
] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

/** Resources of the specification. */
export const RESOURCES = [
  "destination",
  "custom_field_definition",
  "envelope",
  "basic",
  "full",
  "dynamic",
] as const;
export type Resource = (typeof RESOURCES)[number];

/** An API field: `{ resource: "dynamic", path: "attachments[].image_attributes.alt" }`. */
export interface Origin {
  readonly resource: Resource;
  readonly path: string;
}

/** How an API value is written where its JSON type alone does not say: seconds since 1970, or `MM/DD/YY` text. */
export type WireFormat = "plain" | "epoch_seconds" | "us_date";

export interface Column<
  Name extends string = string,
  Type extends ColumnType = ColumnType,
  Nullable extends boolean = boolean,
> {
  readonly name: Name;
  readonly type: Type;
  readonly nullable: Nullable;
  readonly comment: string;
  /** Written only where the personal-data policy says `keep` (or, keyed, `hash`). */
  readonly personal: boolean;
  readonly origins: readonly Origin[];
  readonly format: WireFormat;
  /** The specification's default is the empty string: then an empty string and null in two views are one. */
  readonly emptyDefault: boolean;
}

/** Columns of this table that name a row of another: a dangling one is counted in `run_checks`, never an error. */
export interface Reference {
  readonly columns: readonly string[];
  readonly table: string;
  readonly to: readonly string[];
}

/**
 * Where the rows of a table come from.
 * - `item`: the transform of each content item; `content_id` is the first key column; staged in parts by ID range.
 * - `pooled`: met in items, but not theirs alone: staged like `item`, kept once per key at load.
 * - `shared`: described many times over in the items and lookups, few, kept once.
 * - `derived`: SQL steps over the other tables.
 * - `history`: SQL steps over the other tables and the history of the run before.
 * - `query`: a query of the user's own over the other tables.
 * - `run`: the run's own account of itself.
 */
export type Stage = "item" | "pooled" | "shared" | "derived" | "history" | "query" | "run";

/**
 * How the transform finds an item's rows.
 * - `item`: one row; `when`: `always`, or only where an answer `given` one of the columns, or for an `event`.
 * - `object`: one row where the wire object at one of `at` is there.
 * - `list`: one row for each element of the list at the first of `at` that is there, in source order.
 * - `program`: the transform has a function of the table's name.
 */
export type Rows =
  | { readonly kind: "item"; readonly when: "always" | "given" | "event" }
  | { readonly kind: "object"; readonly at: readonly Origin[] }
  | { readonly kind: "list"; readonly at: readonly Origin[] }
  | { readonly kind: "program" };

export interface Table<Name extends string = string> {
  readonly name: Name;
  /** One sentence. */
  readonly comment: string;
  readonly stage: Stage;
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  readonly references: readonly Reference[];
  readonly rows: Rows;
}

/**
 * `"basic:title dynamic:title"` as origins. In those of a column, `*` is the column's name, and so is the path of a
 * resource that has none: of a column `url`, `"dynamic full:attachments[].*"` is `"dynamic:url full:attachments[].url"`.
 */
export function origins(text: string, column = ""): Origin[] {
  return text.split(" ").flatMap((part) => {
    if (part === "") return [];
    const [named, path = "*"] = part.split(":");
    const resource = RESOURCES.find((name) => name === named);
    if (resource === undefined) throw new TypeError(`no such resource: ${part}`);
    return { resource, path: path.replace("*", column) };
  });
}

/** Origins of one attribute below each of `places`: `at(["dynamic:author_details"], "id")`. */
export function at(places: readonly string[], attribute: string): string {
  return places.map((place) => `${place}.${attribute}`).join(" ");
}

type ColumnOptions = Partial<Pick<Column, "personal" | "format" | "emptyDefault">> & { required?: boolean };

/** Whether a column of these options takes NULL. */
type IsNullable<Options> = Options extends { readonly required: true } ? false : true;

/** A column; `from` lists its API fields as {@link origins} reads them. */
export function column<
  const Name extends string,
  const Type extends ColumnType,
  const Options extends ColumnOptions = Record<never, never>,
>(
  name: Name,
  type: Type,
  from: string,
  comment: string,
  options?: Options,
): Column<Name, Type, IsNullable<Options>> {
  const {
    required = false,
    personal = false,
    format = "plain",
    emptyDefault = false,
  }: ColumnOptions = options ?? {};
  const nullable = !required as IsNullable<Options>;
  return { name, type, nullable, comment, personal, origins: origins(from, name), format, emptyDefault };
}

const of =
  <const Type extends ColumnType>(type: Type) =>
  <const Name extends string, const Options extends ColumnOptions = Record<never, never>>(
    name: Name,
    from: string,
    comment: string,
    options?: Options,
  ): Column<Name, Type, IsNullable<Options>> =>
    column(name, type, from, comment, options);

export const text = of("text");
export const boolean = of("boolean");
export const integer = of("integer");
export const bigint = of("bigint");
export const double = of("double");
export const timestamp = of("timestamp");
export const date = of("date");
export const json = of("json");

export const REQUIRED = { required: true } as const;

type ColumnsOfOneOrigin = Readonly<Record<ColumnType, (name: string, comment: string) => Column>>;

/** For columns that come from the same API fields: `columnsFrom("dynamic").text("title", "Title.")`. */
export function columnsFrom(from: string, options?: ColumnOptions): ColumnsOfOneOrigin {
  const makers = COLUMN_TYPES.map((type) => [
    type,
    (name: string, comment: string) => column(name, type, from, comment, options),
  ]);
  return Object.fromEntries(makers);
}

/** Columns that no API field fills. */
export const required = columnsFrom("", REQUIRED);
export const optional = columnsFrom("");

/** What the specification does not know, and values that are not of their column's type, by API path. */
export const EXTRA: Column = json(
  "extra",
  "",
  "Unknown API fields, and values that do not fit the type of their column, as an object by API path.",
);

/** The instance that something belongs to. */
export function instanceId(from: string): Column {
  return text("instance_id", from, "Instance of the service; instances.instance_id.");
}

export function reference(columns: string, table: string, to: string = columns): Reference {
  return { columns: columns.split(" "), table, to: to.split(" ") };
}

type Declaration<Name extends string> = Omit<Table<Name>, "rows" | "references"> &
  Partial<Pick<Table, "rows" | "references">>;

/**
 * A table, checked: its key columns exist and are not nullable, and no column name is repeated. Unless declared, its rows
 * are a program's and refer to no other table.
 */
export function defineTable<const Name extends string>(declaration: Declaration<Name>): Table<Name> {
  const table: Table<Name> = { rows: { kind: "program" }, references: [], ...declaration };
  const names = new Set(table.columns.map((each) => each.name.toLowerCase()));
  if (names.size !== table.columns.length) throw new TypeError(`${table.name}: duplicate column`);
  for (const name of table.key) {
    const found = table.columns.find((each) => each.name === name);
    if (found === undefined || found.nullable) throw new TypeError(`${table.name}: bad key column ${name}`);
  }
  return table;
}

const ITEM = reference("content_id", "content");
export const contentId = text("content_id", "", "Item; content.content_id.", REQUIRED);

/** A table of rows of an item: the declaration leaves out `content_id`, first in key and columns, and `extra`. */
export function itemTable<const Name extends string>(
  declaration: Omit<Declaration<Name>, "stage">,
): Table<Name> {
  const { key, columns, references = [] } = declaration;
  return defineTable({
    ...declaration,
    stage: "item",
    key: ["content_id", ...key],
    references: [ITEM, ...references],
    columns: [contentId, ...columns, EXTRA],
  });
}

/** A table of what many items or lookups describe: the declaration leaves out `extra`. */
export function sharedTable<const Name extends string>(
  declaration: Omit<Declaration<Name>, "stage">,
): Table<Name> {
  return defineTable({ ...declaration, stage: "shared", columns: [...declaration.columns, EXTRA] });
}
