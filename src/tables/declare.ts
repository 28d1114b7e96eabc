/** Declares tables. DDL, Parquet schemas, lineage, documentation, checks and the transform follow from a declaration. */
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

/** Format of an API value, beyond its JSON type: seconds since 1970, or `MM/DD/YY` text. */
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
  /** Has values only under the personal-data policies `keep` and, keyed, `hash`. */
  readonly personal: boolean;
  readonly origins: readonly Origin[];
  readonly format: WireFormat;
  /**
   * For fields whose default is the empty string. `text`: empty string and null are equal when documents are compared.
   * `null`: an empty string becomes NULL.
   */
  readonly emptyDefault: (typeof EMPTY_DEFAULTS)[number] | undefined;
}

/** JavaScript types of cells. Instants are microseconds since 1970, dates days since 1970. */
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

/** Foreign key. Rows without a parent are counted in `run_checks`; they are not an error. */
export interface Reference {
  readonly columns: readonly string[];
  readonly table: string;
  readonly to: readonly string[];
}

/**
 * How the transform finds the rows of an item.
 * - `item`: one row; `always`, or only if a document has one of the columns (`given`), or for an `event`.
 * - `object`: one row if the JSON object at one of `at` exists.
 * - `list`: one row for each element of the list at the first of `at` that exists, in source order.
 * - `program`: a function of the transform.
 */
type RowRule =
  | { readonly kind: "item"; readonly when: "always" | "given" | "event" }
  | { readonly kind: "object"; readonly at: readonly Origin[] }
  | { readonly kind: "list"; readonly at: readonly Origin[] }
  | { readonly kind: "program" };

export interface Table<Name extends string = string> {
  readonly name: Name;
  /** One sentence. */
  readonly comment: string;
  /**
   * Source of its rows.
   * - `item`: the transform of each content item; `content_id` is the first key column.
   * - `pooled`: objects that several items may have: staged like `item`, loaded once per key.
   * - `shared`: entities, which many items and lookups describe. They are few; memory holds them all.
   * - `derived`: SQL steps over other tables.
   * - `history`: SQL steps over other tables and the history of the run before.
   * - `query`: a user's query over other tables.
   * - `view`: SQL in the database file only.
   * - `run`: facts about the run.
   */
  readonly stage: "item" | "pooled" | "shared" | "derived" | "history" | "query" | "run" | "view";
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  readonly references: readonly Reference[];
  readonly rows: RowRule;
}

/** A column in `schema` and reports. */
export interface SchemaColumn extends Pick<Column, "name" | "nullable" | "comment" | "personal" | "origins"> {
  /** A column type, or a list of one, such as `text[]`. */
  readonly type: string;
}

/** A table or view in `schema` and reports. */
export interface SchemaTable extends Omit<Table, "columns" | "rows"> {
  readonly columns: readonly SchemaColumn[];
}

const POLICY_WORDS = { drop: "Dropped", hash: "Hashed", keep: undefined } as const;

/** The table with a sentence on the personal-data policy in the comments of personal columns. */
export function addPolicyComments(table: Table, policy: "drop" | "hash" | "keep"): Table {
  const done = POLICY_WORDS[policy];
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
    // By the type `ApiField`, a resource is before the colon.
    return { resource: field.slice(0, colon) as Resource, path: field.slice(colon + 1) };
  });
}

export interface ColumnDeclaration<Field extends ApiField = ApiField, Required extends boolean = boolean> {
  /** API fields of the column. If an item has several of them, the latest document wins. */
  readonly from?: readonly Field[];
  /** One sentence. */
  readonly comment: string;
  /** Whether each row has a value; false by default. */
  readonly required?: Required;
  readonly personal?: boolean;
  readonly format?: WireFormat;
  readonly emptyDefault?: (typeof EMPTY_DEFAULTS)[number];
}

/** A column. The compiler checks its options; custom-tables.ts checks those of custom tables. */
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

/** A column maker for each type. `check` throws for unknown options. */
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
  type Makers = { readonly [Type in ColumnType]: ReturnType<typeof of<Type>> };
  return Object.fromEntries(COLUMN_TYPES.map((type) => [type, of(type)])) as unknown as Makers;
}

export const { text, boolean, integer, bigint, double, timestamp, date, json } = columnMakers(() => {});

/** An API field by the object that has it: `dynamic:` and `title`, or `dynamic:author_details` and `id`. */
type FieldAt<Place extends string, Name extends string> = Place extends `${string}:`
  ? `${Place}${Name}`
  : `${Place}.${Name}`;

/**
 * Column makers whose API field has the name of the column, in each of these objects:
 * `columnsOf("full:", "dynamic:").text("title", { comment: "Title." })` comes from `full:title` and `dynamic:title`.
 * `fields` gives the API fields of an attribute.
 */
export function columnsOf<const Place extends string>(...places: readonly Place[]) {
  const fields = <const Name extends string>(name: Name) =>
    places.map((place) => `${place}${place.endsWith(":") ? "" : "."}${name}` as FieldAt<Place, Name>);
  const of =
    (type: ColumnType) =>
    <const Name extends string>(
      name: Name & (FieldAt<Place, Name> extends ApiField ? unknown : never),
      options: Omit<ColumnDeclaration, "from">,
    ): Column =>
      // The type of `name` says that these are API fields.
      column(name, type, { ...options, from: fields(name) as ApiField[] });
  const makers = Object.fromEntries(COLUMN_TYPES.map((type) => [type, of(type)]));
  return { ...(makers as Record<ColumnType, ReturnType<typeof of>>), fields };
}

export const EXTRA: Column = json("extra", {
  comment:
    "Unknown API fields, and values that do not fit the type of their column, as an object by API path.",
});

export function instanceId(from: readonly ApiField[]): Column {
  return text("instance_id", { from, comment: "Instance of the service → instances.instance_id." });
}

export function reference(column: string, table: string, to: string = column): Reference {
  return { columns: [column], table, to: [to] };
}

type TableDeclaration<Name extends string> = Omit<Table<Name>, "rows" | "references"> &
  Partial<Pick<Table, "rows" | "references">>;

/** A table with its defaults. A test holds that keys are required columns, and that no column is declared twice. */
export function defineTable<const Name extends string>(declaration: TableDeclaration<Name>): Table<Name> {
  return { rows: { kind: "program" }, references: [], ...declaration };
}

const ITEM = reference("content_id", "content");
export const contentId = text("content_id", { comment: "Item → content.content_id.", required: true });

/** A table of rows of an item. Adds `content_id`, first in key and columns, and `extra`. */
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

/** A table of entities, which many items or lookups describe. Adds `extra`. */
export function sharedTable<const Name extends string>(
  declaration: Omit<TableDeclaration<Name>, "stage">,
): Table<Name> {
  return defineTable({ ...declaration, stage: "shared", columns: [...declaration.columns, EXTRA] });
}
