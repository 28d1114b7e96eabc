/** How a table is declared, once: DDL, Parquet schema, lineage, documentation, checks and the transform follow from it. */
import type { ApiField, Resource } from "../api/fields.ts";

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

/** An API field: `{ resource: "dynamic", path: "attachments[].image_attributes.alt" }`. */
export interface Origin {
  readonly resource: Resource;
  readonly path: string;
}

/** How an API value is written where its JSON type alone does not say: seconds since 1970, or `MM/DD/YY` text. */
export const WIRE_FORMATS = ["plain", "epoch_seconds", "us_date"] as const;
export type WireFormat = (typeof WIRE_FORMATS)[number];

export const EMPTY_DEFAULTS = ["text", "null"] as const;

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
  /**
   * The specification's default is the empty string: then an empty string and null in two views are one. `null`: an empty
   * string is NULL, whoever sends it.
   */
  readonly emptyDefault: (typeof EMPTY_DEFAULTS)[number] | undefined;
}

/** What a column of a type takes: instants in microseconds since 1970, dates in days since 1970. */
export interface CellTypes {
  text: string;
  json: string;
  boolean: boolean;
  integer: number;
  bigint: bigint | number;
  double: number;
  timestamp: number;
  date: number;
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
 * - `view`: SQL over the tables, in the database alone.
 * - `run`: the run's own account of itself.
 */
export type Stage = "item" | "pooled" | "shared" | "derived" | "history" | "query" | "run" | "view";

/**
 * How the transform finds an item's rows.
 * - `item`: one row; `when`: `always`, or only where an answer `given` one of the columns, or for an `event`.
 * - `object`: one row where the wire object at one of `at` is there.
 * - `list`: one row for each element of the list at the first of `at` that is there, in source order.
 * - `program`: the transform has a function of the table's name.
 */
export type RowRule =
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
  readonly rows: RowRule;
}

/** A column as it is shown. */
export interface SchemaColumn extends Pick<Column, "name" | "nullable" | "comment" | "personal" | "origins"> {
  /** A column type, or a list of one, as the views have for the fields of a run: `text[]`. */
  readonly type: string;
}

/** A table or view as it is shown. */
export interface SchemaTable extends Omit<Table, "columns" | "rows"> {
  readonly columns: readonly SchemaColumn[];
}

const DONE_BY_POLICY = { drop: "Dropped", hash: "Hashed", keep: undefined } as const;

/** The table as a run under the policy has it: the comments of its personal columns say what they hold. */
export function addPolicyComments(table: Table, policy: "drop" | "hash" | "keep"): Table {
  const done = DONE_BY_POLICY[policy];
  if (done === undefined || !table.columns.some(({ personal }) => personal)) return table;
  const columns = table.columns.map((column) => {
    const comment = `${column.comment} ${done} by the personal-data policy.`;
    return column.personal ? { ...column, comment } : column;
  });
  return { ...table, columns };
}

export function isView({ stage }: Pick<Table, "stage">): boolean {
  return stage === "view";
}

/** API fields as origins: `["full:title", "dynamic:title"]`. */
export function origins(fields: readonly ApiField[]): Origin[] {
  return fields.map((field) => {
    const colon = field.indexOf(":");
    // The contract types the fields, so that what is before the colon is a resource.
    return { resource: field.slice(0, colon) as Resource, path: field.slice(colon + 1) };
  });
}

/** One attribute below each of `places`: `below(["dynamic:author_details"], "id")`. */
export function attributesOf<const Place extends string, const Attribute extends string>(
  places: readonly Place[],
  attribute: Attribute,
): FieldAt<Place, Attribute>[] {
  return places.map(
    (place) => `${place}${place.endsWith(":") ? "" : "."}${attribute}` as FieldAt<Place, Attribute>,
  );
}

export interface ColumnDeclaration<Field extends ApiField = ApiField, Required extends boolean = boolean> {
  /** API fields that it comes from: of several that an item has, the one of the latest document counts. */
  readonly from?: readonly Field[];
  /** One sentence. */
  readonly comment: string;
  /** Whether each row has a value; false unless given. */
  readonly required?: Required;
  readonly personal?: boolean;
  readonly format?: WireFormat;
  readonly emptyDefault?: (typeof EMPTY_DEFAULTS)[number];
}

/** A column of a table of the package, whose options the compiler checks. Those of users: custom-columns.ts. */
export function column<
  const Name extends string,
  Type extends ColumnType,
  Field extends ApiField,
  Required extends boolean,
>(
  name: Name,
  type: Type,
  options: ColumnDeclaration<Field, Required>,
): Column<Name, Type, IsNullable<Required>> {
  const { from = [], required, comment, personal = false, format = "plain", emptyDefault } = options;
  const nullable = !required as IsNullable<Required>;
  return { name, type, nullable, comment, personal, format, origins: origins(from), emptyDefault };
}

type IsNullable<Required> = Required extends true ? false : true;

/** A maker of columns for each type. `check` throws for options that a column does not have. */
export function columnMakers(check: (name: unknown, options: unknown) => void) {
  const of =
    <const Type extends ColumnType>(type: Type) =>
    <const Name extends string, const Field extends ApiField = never, const Required extends boolean = false>(
      name: Name,
      options: ColumnDeclaration<Field, Required>,
    ) => {
      check(name, options);
      return column(name, type, options);
    };
  return {
    text: of("text"),
    boolean: of("boolean"),
    integer: of("integer"),
    bigint: of("bigint"),
    double: of("double"),
    timestamp: of("timestamp"),
    date: of("date"),
    json: of("json"),
  };
}

export const { text, boolean, integer, bigint, double, timestamp, date, json } = columnMakers(() => {});

/** An attribute of a place, as an API field: `basic:` has fields of its own, every other place attributes. */
type FieldAt<Place extends string, Name extends string> = Place extends `${string}:`
  ? `${Place}${Name}`
  : `${Place}.${Name}`;

/**
 * Makers of columns that come from the attribute of their own name in each of the places:
 * `columnsOf("full:", "dynamic:").text("title", { comment: "Title." })`.
 */
export function columnsOf<const Place extends string>(...places: readonly Place[]) {
  const of =
    (type: ColumnType) =>
    <const Name extends string>(
      name: Name & (FieldAt<Place, Name> extends ApiField ? unknown : never),
      options: Omit<ColumnDeclaration, "from">,
    ): Column =>
      // The type of `name` says that these are API fields.
      column(name, type, { ...options, from: attributesOf(places, name) as ApiField[] });
  return {
    text: of("text"),
    boolean: of("boolean"),
    integer: of("integer"),
    bigint: of("bigint"),
    double: of("double"),
    timestamp: of("timestamp"),
    date: of("date"),
    json: of("json"),
  };
}

/** What the specification does not know, and values that are not of their column's type, by API path. */
export const EXTRA: Column = json("extra", {
  comment:
    "Unknown API fields, and values that do not fit the type of their column, as an object by API path.",
});

/** The instance that something belongs to. */
export function instanceId(from: readonly ApiField[]): Column {
  return text("instance_id", { from, comment: "Instance of the service; instances.instance_id." });
}

export function reference(column: string, table: string, to: string = column): Reference {
  return { columns: [column], table, to: [to] };
}

type TableDeclaration<Name extends string> = Omit<Table<Name>, "rows" | "references"> &
  Partial<Pick<Table, "rows" | "references">>;

/**
 * A table, checked: its key columns exist and are not nullable, and no column name is repeated. Unless declared, its rows
 * are a program's and refer to no other table.
 */
export function defineTable<const Name extends string>(declaration: TableDeclaration<Name>): Table<Name> {
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
export const contentId = text("content_id", { comment: "Item; content.content_id.", required: true });

/** A table of rows of an item: the declaration leaves out `content_id`, first in key and columns, and `extra`. */
export function itemTable<const Name extends string>(
  declaration: Omit<TableDeclaration<Name>, "stage">,
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
  declaration: Omit<TableDeclaration<Name>, "stage">,
): Table<Name> {
  return defineTable({ ...declaration, stage: "shared", columns: [...declaration.columns, EXTRA] });
}
