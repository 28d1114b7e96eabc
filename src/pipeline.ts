/**
 * READ FIRST. A pipeline says which extractors, tables and loaders make an export, as values.
 *
 *     service ─pages─▶ extract ─documents─▶ transform ─Arrow─▶ load ─▶ audit ─▶ publish
 *
 * - A **document** is one answer's JSON of one item. `dynamic` and `full` are its two shapes.
 * - A **page** is one answer of a listing; a **sweep** is one pass over all its pages; a **group** is a run of pages
 *   whose documents are staged together.
 * - A **view** is a document with its place in the order of observation. The transform merges the views of an item.
 * - A **part** is a staged Parquet file of one table; a **bucket** is a range of item IDs, loaded at a time.
 * - A **run** is one export from lock to publication; its **verdict** is `complete` or `unsettled`.
 *
 * Workers import a pipeline by its URL, since functions do not cross threads: a pipeline is a module whose default
 * export is what {@link definePipeline} gives.
 */
import { WarehouseError } from "./common/errors.ts";
import { DATA_TABLES } from "./tables/all.ts";
import { content } from "./tables/content.ts";
import { type Column, defineTable, type Table, text } from "./tables/declare.ts";
import { HISTORY_TABLES } from "./tables/history.ts";
import type { OwnRows } from "./transform/item.ts";

/** Listings that a pipeline reads, in this order; two that agree make a run complete. */
export type Listing = "dynamic" | "full";

/** `duckdb`: `warehouse.duckdb`. `parquet`: `parquet/<table>/*.parquet`. */
export type Loader = "duckdb" | "parquet";

/**
 * A table of the user's own, made from each item: `content_id`, then `columns`. `rows` runs in worker threads, so it is
 * a function of the item alone. It gives a row as an object by column name: text and `json` as a string, instants as
 * microseconds since 1970, dates as days since 1970; `content_id` is filled in, and what a row leaves out is NULL.
 */
export interface OwnTable {
  /** Not the name of a table that exists, not `run`, and not beginning with `run_`. */
  readonly name: string;
  /** One sentence. */
  readonly comment: string;
  /** Key columns, the first of them `content_id`; those after it are columns that are `required`. */
  readonly key: readonly string[];
  /** Columns after `content_id`, which every own table has first. */
  readonly columns: readonly Column[];
  readonly rows: OwnRows;
}

export interface PipelineSpec {
  readonly name: string;
  /** One sentence, for `--help` and `runs`. */
  readonly description: string;
  readonly extract: { readonly listings: readonly Listing[] };
  /** Tables of the package; the run's own (`run`, `run_passes`, ...) are always there. */
  readonly tables: readonly Table[];
  readonly ownTables?: readonly OwnTable[];
  readonly load: readonly Loader[];
  /** Whether values of fields without value mappings join the payload under their external field name. */
  readonly passthrough?: boolean;
}

/** A pipeline with nothing left open. */
export interface Pipeline {
  readonly name: string;
  readonly description: string;
  readonly listings: readonly Listing[];
  /** The package's and the user's tables. */
  readonly tables: readonly Table[];
  /** Programs of the user's own tables, by name. */
  readonly own: Readonly<Record<string, OwnRows>>;
  readonly load: readonly Loader[];
  readonly passthrough: boolean;
}

/** Checks a specification and fills in what it leaves open. Errors: `config.invalid`. */
export function definePipeline(spec: PipelineSpec): Pipeline {
  checkShape(spec);
  const ownTables = (spec.ownTables ?? []).map(ownTable);
  const tables = [...spec.tables, ...ownTables];
  const names = new Set(tables.map((table) => table.name.toLowerCase()));
  if (names.size !== tables.length) throw invalid(spec, "two of its tables have one name");
  if (!/^[a-z][a-z0-9-]*$/.test(spec.name))
    throw invalid(spec, "its name is not in lower-case letters, digits and -");
  if (!spec.extract.listings.includes("dynamic") || !spec.extract.listings.includes("full")) {
    throw invalid(spec, "it does not read both listings, dynamic and full: without both no run is complete");
  }
  const derived = spec.tables.filter((table) => table.stage === "derived").length;
  const missing = DATA_TABLES.filter((table) => MAPPED.has(table.name) && !spec.tables.includes(table));
  if (derived > 0 && missing.length > 0) {
    throw invalid(
      spec,
      `its mapped values need the tables ${missing.map(({ name }) => name).join(", ")} too`,
    );
  }
  const history = HISTORY_TABLES.filter((table) => spec.tables.includes(table)).length;
  if (history > 0 && (history < HISTORY_TABLES.length || derived === 0 || !spec.tables.includes(content))) {
    throw invalid(
      spec,
      "the history needs all of its tables, content, content_mapped_values and content_external_payloads",
    );
  }
  if (spec.load.length === 0) throw invalid(spec, "it names no loader: duckdb, parquet or both");
  return {
    name: spec.name,
    description: spec.description,
    listings: ["dynamic", "full"],
    tables,
    own: Object.fromEntries((spec.ownTables ?? []).map((table) => [table.name, table.rows])),
    load: spec.load,
    passthrough: spec.passthrough === true,
  };
}

const LOADERS: readonly Loader[] = ["duckdb", "parquet"];
const VIEWS = ["content_wide", "content_mapped_wide", "mapping_coverage", "mapped_value_intervals"];

/** A module in plain JavaScript has no types to keep it from this. */
function checkShape(spec: PipelineSpec): void {
  const lists = [spec.extract?.listings, spec.tables, spec.load].every(Array.isArray);
  if (typeof spec.name !== "string" || !lists) {
    throw invalid(spec, "it needs a name, extract: { listings }, tables and load");
  }
  const stranger = spec.load.find((loader) => !LOADERS.includes(loader));
  if (stranger !== undefined) throw invalid(spec, `there is no loader ${JSON.stringify(stranger)}`);
  if (new Set(spec.load).size !== spec.load.length) throw invalid(spec, "it names a loader twice");
  const viewed = spec.ownTables?.find(({ name }) => VIEWS.includes(name));
  if (viewed !== undefined) throw invalid(spec, `${viewed.name} is the name of a view of the package`);
}

/** Tables that mapped values are made from, and both that they make. */
const MAPPED: ReadonlySet<string> = new Set([
  "content_custom_field_values",
  "custom_fields",
  "custom_field_select_values",
  "custom_field_mappings",
  "custom_field_mapping_values",
  "destinations",
  "content_mapped_values",
  "content_external_payloads",
]);

function invalid(spec: PipelineSpec, why: string): WarehouseError {
  return new WarehouseError("config.invalid", `Pipeline ${JSON.stringify(spec.name)} cannot be run: ${why}.`);
}

function ownTable(own: OwnTable): Table {
  if (
    DATA_TABLES.some((table) => table.name === own.name) ||
    !/^(?!run(?:_|$))[a-z][a-z0-9_]*$/.test(own.name)
  ) {
    throw new WarehouseError(
      "config.invalid",
      `A table of your own cannot be called ${JSON.stringify(own.name)}: use lower-case letters, digits and _, begin with a letter, and take no name of the package and none that is run or begins with run_.`,
    );
  }
  if (own.key[0] !== "content_id") {
    throw new WarehouseError(
      "config.invalid",
      `The key of the table ${own.name} does not begin with content_id.`,
    );
  }
  try {
    return defineTable({
      name: own.name,
      comment: own.comment,
      stage: "item",
      key: own.key,
      rows: { kind: "program" },
      references: [{ columns: ["content_id"], table: "content", to: ["content_id"] }],
      columns: [
        text("content_id", "", "Item; content.content_id.", { required: true }),
        ...own.columns.filter((column) => column.name !== "content_id"),
      ],
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new WarehouseError(
      "config.invalid",
      `The table ${own.name} of your own is not well declared: ${why}.`,
      {
        cause,
      },
    );
  }
}
