/**
 * START HERE. A pipeline is a value: lists of stages, each made by a factory with typed options.
 *
 *     service ──pages──▶ extract ──documents──▶ transform ──parts──▶ load ──tables──▶ audit ──▶ publish
 *
 *     definePipeline({
 *       name: "nightly",
 *       extract: [destinations(), customFields(), listing("dynamic"), singleItems({ of: "events" }), listing("full")],
 *       transform: [contentTables(), mappedValues(), history()],
 *       load: [duckdb(), parquet()],
 *       audit: [test({ name: "titles", sql: "SELECT content_id FROM content WHERE title = ''", severity: "warning" })],
 *     });
 *
 * - An {@link Extractor} names what to read. Documents land as raw documents; passes certify that none is missing.
 * - A {@link Transformer} declares tables and makes their rows, from each item or by a query.
 * - A {@link Loader} receives the checked tables of a run and makes them visible at the end.
 * - A {@link Test} must hold before the tables are published.
 *
 * The command runs a module whose default export is the result of `definePipeline`. Worker threads import the module too,
 * because functions cannot cross threads.
 */
import type { RecordBatch } from "apache-arrow";
import type { z } from "zod";
import type { DestinationName } from "./api/destination.ts";
import type { dynamicItem } from "./api/dynamic.ts";
import type { fullItem } from "./api/full.ts";
import type { Verdict } from "./common/verdict.ts";
import type { Shape } from "./raw/document.ts";
import type { Cell } from "./storage/table-builder.ts";
import type { CellTypes, Column, ColumnType, Table } from "./tables/declare.ts";

/** Something that a run reads. Made by `listing`, `singleItems`, `destinations` and `customFields`. */
export type Extractor =
  /** All items of a listing. */
  | { readonly extract: "listing"; readonly mode: Shape }
  /** Items requested singly after the dynamic listing, for fields that no listing has. */
  | { readonly extract: "single_items"; readonly of: "events" | "all" }
  /** Destinations by name; `undefined` means those of the configuration. */
  | { readonly extract: "destinations"; readonly names: readonly DestinationName[] | undefined }
  /** Definitions of the custom fields that items have, and of those in `names`. */
  | { readonly extract: "custom_fields"; readonly names: readonly string[] };

/** A row by column name. A missing or undefined column is NULL. */
export type Row = Readonly<Record<string, Cell | undefined>>;

/** The documents of an item, for a transformer. If several were read, the latest counts. */
export interface ItemDocuments {
  readonly contentId: string;
  /** `undefined` if the pipeline does not read the dynamic listing or the item is not in it. */
  readonly dynamic: DynamicDocument | undefined;
  readonly full: FullDocument | undefined;
}

/**
 * A document with the names and types of the specification. It is not checked: a service may send values of other types.
 * It is read-only, because other tables are made from it too.
 */
export type DynamicDocument = KnownFields<z.infer<typeof dynamicItem>>;
export type FullDocument = KnownFields<z.infer<typeof fullItem>>;

/** Removes index signatures, so that only declared fields compile. */
type KnownFields<Value> = Value extends readonly (infer Element)[]
  ? readonly KnownFields<Element>[]
  : Value extends object
    ? { readonly [Key in keyof Value as string extends Key ? never : Key]: KnownFields<Value[Key]> }
    : Value;

type CellOfColumn<Given> =
  Given extends Column<string, infer Type, infer Nullable>
    ? (Type extends ColumnType ? CellTypes[Type] : never) | (Nullable extends false ? never : null)
    : never;

type ColumnsByNullability<Columns extends readonly Column[], Nullable extends boolean> = Extract<
  Columns[number],
  { readonly nullable: Nullable }
>;

/** A row of declared columns; required ones must be present. Without known columns it is any row. */
export type RowOf<Columns extends readonly Column[]> = string extends Columns[number]["name"]
  ? Row
  : {
      readonly [Each in ColumnsByNullability<Columns, false> as Each["name"]]: CellOfColumn<Each>;
    } & {
      readonly [Each in ColumnsByNullability<Columns, true> as Each["name"]]?: CellOfColumn<Each> | undefined;
    };

/** Declares tables and makes their rows. */
export interface Transformer {
  /** Name in messages. */
  readonly name: string;
  readonly tables: readonly Table[];
  /** Names of the tables that its query reads. */
  readonly reads: readonly string[];
  /** Makes the rows of its only table from an item. Runs in worker threads, so it must depend only on the item. */
  readonly rows?: (item: ItemDocuments) => Iterable<Row>;
  /** Query that makes the rows of its only table. */
  readonly sql?: string;
  /** Whether payloads include values of fields without value mappings, under the external field name. */
  readonly passthrough?: boolean;
  /** Whether tables that the extractors cannot fill are left out instead of refused. */
  readonly omitsUnfillableTables?: boolean;
}

/** A checked table of a run, for a loader. */
export interface LoadTable {
  readonly table: Table;
  readonly rows: number;
  /** Absolute paths of its Parquet files, sorted by key; at least one. They exist until `stage` is done. */
  readonly files: readonly string[];
  /**
   * Rows in key order, with cells in column order. Instants are microseconds since 1970, as BigInt if a number would round
   * them. Dates are days since 1970. All cells of a `bigint` column are BigInt.
   */
  readonly cells: () => AsyncIterable<readonly Cell[]>;
  /** Rows as Arrow record batches of some thousand rows. `apache-arrow` drops a U+FEFF at the start of texts it decodes. */
  readonly batches: () => AsyncIterable<RecordBatch>;
}

/** A run whose tables are built and checked, but not visible yet. */
export interface LoadRun {
  readonly run: string;
  readonly sequence: number;
  readonly pipeline: string;
  readonly verdict: Exclude<Verdict, "limited">;
  /** Tables of the pipeline and about the run. */
  readonly tables: readonly LoadTable[];
  /** Aborted when the run must end. */
  readonly signal: AbortSignal;
}

/** A run that a loader has written, but that is not visible yet. */
export interface StagedLoad {
  /** Makes the run visible in one step. Called after the run is published in the warehouse folder. */
  readonly commit: () => Promise<void>;
  /** Removes the run, because something else failed. */
  readonly abort: () => Promise<void>;
  /** For a target: sentences on tables that it could not store exactly. */
  readonly warnings?: readonly string[];
}

/** Makes a run visible in two phases, so that a failure publishes nothing. */
export interface Loader {
  readonly name: string;
  /** What it publishes in the folder of the run. Made while the tables are built. */
  readonly publishes?: "duckdb" | "parquet";
  /**
   * Writes a run elsewhere. If it throws, nothing is published. After its signal is aborted the command ends within a
   * second; a result that still comes is aborted. A killed run aborts nothing, so first remove what an earlier run left.
   */
  readonly stage?: (run: LoadRun) => Promise<StagedLoad>;
}

/** A condition that a run must meet to be published. Made by `test`, `mappingCoverage` and `lostValues`. */
export type Test = QueryTest | CoverageTest | LossTest;

interface TestBase {
  /** Unique in the pipeline; `run_checks` has it after `test: `. */
  readonly name: string;
  /** `error`: a failed test publishes nothing. `warning`: it is reported. */
  readonly severity: Severity;
}

export interface QueryTest extends TestBase {
  /** Query for the failing rows, over tables of the run and, as `previous.content`, of the run before. */
  readonly sql: string;
  /** Number of failing rows that are allowed. */
  readonly limit: number;
}

export interface CoverageTest extends TestBase {
  /** Allowed values by kind, as for `audit --fail-on`, at destinations that receive values. */
  readonly failOn: Readonly<Record<string, number>>;
}

export interface LossTest extends TestBase {
  /** Values that may lose their external value from one run to the next. */
  readonly max: number;
}

export type Severity = "error" | "warning";

/** The service that a run was read from. `origin`: scheme, host, port and path. */
export interface InstanceIdentity {
  readonly id: string | null;
  readonly origin: string;
}

/** A run of an instance, identified by its number and manifest. */
export interface TargetRun {
  readonly run: string;
  readonly sequence: number;
  /**
   * SHA-256 of the manifest that it was published with, because two machines can make runs of the same name. `undefined` if
   * the target does not know it.
   */
  readonly sha256?: string | undefined;
  /**
   * After a rollback to this run: the latest run that the target had. That run and its successors are no longer delivered,
   * unless somebody rolls back to them.
   */
  readonly rollbackOf?: TargetRun | undefined;
}

/** The last run of a target. */
export interface LastRun extends TargetRun {
  /** Whether a later delivery began but did not finish. Until the next delivery, readers may see parts of it. */
  readonly isUnfinished?: boolean | undefined;
}

/** A file of a published run. `path` is relative to the folder of the run, with slashes; `sha256` is hexadecimal. */
export interface DeliveredFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Rows of a Parquet file; `null` for other files. */
  readonly rows: number | null;
}

/** A published run, for a target. Its tables have Parquet files. */
export interface DeliveredRun extends LoadRun {
  readonly instance: InstanceIdentity;
  /** Absolute path of its folder. */
  readonly directory: string;
  /** All files of the folder except the manifest. */
  readonly files: readonly DeliveredFile[];
  /** The manifest, which is to be written last. */
  readonly manifest: Omit<DeliveredFile, "rows">;
  /** SHA-256 of the original manifest. The present one differs if the run was restored without its DuckDB file. */
  readonly sha256: string;
  /** Runs that it continues from, newest first, as far as known for certain. */
  readonly past: readonly TargetRun[];
  /** All runs of its warehouse folder. */
  readonly known: readonly TargetRun[];
  /** Whether it is a rollback, which may also replace a later run, if that is in `known`. */
  readonly isRollback: boolean;
  /** Reports progress, in units that the target chooses. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * A place outside the warehouse folder that receives published runs. It may get the same run again, also from another
 * process, and then keeps what it has. Methods throw sentences with the cause and what to do, without credentials.
 */
export interface Target {
  /** Unique among the targets of a configuration: `lake`, `postgres`. */
  readonly name: string;
  /** The last run that readers see whole. `instance` is `null` if still unknown. Throws if it has another instance. */
  readonly last: (instance: InstanceIdentity | null, signal: AbortSignal) => Promise<LastRun | null>;
  /**
   * Writes the run invisibly; `commit` shows it in one step. Throws if the target has a later run, except for a rollback.
   * After a rollback, `last` returns the later run as `rollbackOf` until a run after that is delivered.
   */
  readonly stage: (run: DeliveredRun) => Promise<StagedLoad>;
  /** Checks that a run of these tables could be delivered now, without delivering anything. */
  readonly check?: (signal: AbortSignal, tables: readonly Table[]) => Promise<void>;
  /**
   * Copies all files of the run that `last` returned into an empty folder. The DuckDB file may be missing; it is built again
   * from the Parquet files.
   */
  readonly restore?: (run: TargetRun, directory: string, signal: AbortSignal) => Promise<void>;
  /** Bytes of the manifest that `restore` would copy. */
  readonly manifest?: (run: TargetRun, signal: AbortSignal) => Promise<Uint8Array>;
}

export interface PipelineSpec {
  /** Lower-case letters, digits and `-`. */
  readonly name: string;
  /** One sentence, for `--help` and `runs`. */
  readonly description?: string;
  /** One or both listings. Two certify each other; a single one is certified by a pass without documents. */
  readonly extract: readonly Extractor[];
  readonly transform: readonly Transformer[];
  readonly load: readonly Loader[];
  /** Default: none. */
  readonly audit?: readonly Test[];
}

/** A pipeline that is checked and complete. */
export interface Pipeline {
  readonly name: string;
  readonly description: string;
  /** Listings in the order of their passes. */
  readonly listings: readonly Shape[];
  /** Items to request singly. */
  readonly singleItems: "events" | "all" | "none";
  /** Destinations to look up; `undefined` means those of the configuration. */
  readonly destinations: readonly DestinationName[] | undefined;
  /** Custom fields to look up besides those that items have; `undefined` means none at all. */
  readonly customFields: readonly string[] | undefined;
  /** Tables of all transformers. */
  readonly tables: readonly Table[];
  /** Functions that make rows from an item, by table. */
  readonly rows: Readonly<Record<string, (item: ItemDocuments) => Iterable<Row>>>;
  /** Queries that make tables, by table, in the order of their execution. */
  readonly queries: Readonly<Record<string, string>>;
  readonly passthrough: boolean;
  readonly loaders: readonly Loader[];
  readonly tests: readonly Test[];
}

/** Whether a pipeline publishes a DuckDB file or Parquet files. */
export function publishes({ loaders }: Pick<Pipeline, "loaders">, what: "duckdb" | "parquet"): boolean {
  return loaders.some((loader) => loader.publishes === what);
}
