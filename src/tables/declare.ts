/**
 * How a table is declared: once. From a declaration come the Arrow schema, the DuckDB DDL with its comments, the
 * Parquet schema, `_lineage`, the `schema` command, the checks on keys and references, and the transform itself.
 */

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

/** Resources of the specification, as `fields.json` names them. */
export type Resource = "destination" | "custom_field_definition" | "envelope" | "basic" | "full" | "dynamic";

/** A wire field: `{ resource: "dynamic", path: "attachments[].image_attributes.alt" }`. */
export interface Origin {
  readonly resource: Resource;
  readonly path: string;
}

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly comment: string;
  /** Written only where the personal-data policy says `keep` (or, keyed, `hash`). */
  readonly personal: boolean;
  readonly origins: readonly Origin[];
}

/** Columns of this table that name a row of another: a dangling one is counted in `_checks`, never an error. */
export interface Reference {
  readonly columns: readonly string[];
  readonly table: string;
  readonly to: readonly string[];
}

/**
 * Where the rows of a table come from.
 * - `item`: the transform of each content item; `content_id` is the first key column; staged in parts by ID range.
 * - `shared`: described many times over in the items and lookups, kept once.
 * - `derived`: SQL steps over the other tables.
 * - `run`: the run's own account of itself.
 */
export type Stage = "item" | "shared" | "derived" | "run";

export interface Table {
  readonly name: string;
  /** One sentence. */
  readonly comment: string;
  readonly stage: Stage;
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  readonly references: readonly Reference[];
}
