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
 * - An {@link Extractor} says what is read. Its documents land as raw documents, and passes certify that none is missing.
 * - A {@link Transformer} gives tables: declared columns, and how the rows are made from each item or by a query.
 * - A {@link Loader} gets the checked tables of a run and makes them visible, after everything else went well.
 * - A {@link Test} says what these tables must hold before they are published.
 *
 * A pipeline that is run by the command is a module whose default export is what `definePipeline` gives: worker
 * threads import it too, since functions do not cross threads.
 */
import type { RecordBatch } from "apache-arrow";
import type { DestinationName } from "./api/destination.ts";
import type { DynamicItem } from "./api/dynamic.ts";
import type { FullItem } from "./api/full.ts";
import type { FullVerdict } from "./common/verdict.ts";
import type { Shape } from "./raw/document.ts";
import type { Cell } from "./storage/table-builder.ts";
import type { CellTypes, Column, ColumnType, Table } from "./tables/declare.ts";

/** What a run reads. Made by `listing`, `singleItems`, `destinations` and `customFields`. */
export type Extractor =
  /** All items of a listing with their documents. */
  | { readonly extract: "listing"; readonly mode: Shape }
  /** Items that are asked for singly after the dynamic listing, for the fields that no list gives. */
  | { readonly extract: "single_items"; readonly of: "events" | "all" }
  /** Destinations by name; undefined: those of the configuration. */
  | { readonly extract: "destinations"; readonly names: readonly DestinationName[] | undefined }
  /** Definitions of the custom fields that items carry, and of these. */
  | { readonly extract: "custom_fields"; readonly names: readonly string[] };

/** A row by column name: what it leaves out, or has no value, is NULL. */
export type Row = Readonly<Record<string, Cell | undefined>>;

/** An item as a transformer sees it: its documents of either shape that count, the later over the earlier. */
export interface ItemDocuments {
  readonly contentId: string;
  /** Undefined: the pipeline does not read the dynamic listing, or the item is not in it. */
  readonly dynamic: DynamicDocument | undefined;
  readonly full: FullDocument | undefined;
}

/**
 * Documents as the specification has them, by its names. Nothing checks them: where a service departs from it, a value
 * may be of another type. They cannot be changed, because other tables are made from them too.
 */
export type DynamicDocument = KnownFields<DynamicItem>;
export type FullDocument = KnownFields<FullItem>;

/** A type without room for fields that are not declared. */
type KnownFields<Value> = Value extends readonly (infer Element)[]
  ? readonly KnownFields<Element>[]
  : Value extends object
    ? { readonly [Key in keyof Value as string extends Key ? never : Key]: KnownFields<Value[Key]> }
    : Value;

type CellOfColumn<Given> =
  Given extends Column<string, infer Type, infer Nullable>
    ? (Type extends ColumnType ? CellTypes[Type] : never) | (Nullable extends false ? never : null)
    : never;

type Named<Columns extends readonly Column[], Nullable extends boolean> = Extract<
  Columns[number],
  { readonly nullable: Nullable }
>;

/** A row of declared columns: required ones must be there, others may. Of columns that the types do not know, any row. */
export type RowOf<Columns extends readonly Column[]> = string extends Columns[number]["name"]
  ? Row
  : {
      readonly [Each in Named<Columns, false> as Each["name"]]: CellOfColumn<Each>;
    } & { readonly [Each in Named<Columns, true> as Each["name"]]?: CellOfColumn<Each> | undefined };

/** Tables of a run, and how their rows are made. */
export interface Transformer {
  /** For messages: what it is called in the pipeline. */
  readonly name: string;
  readonly tables: readonly Table[];
  /** Names of tables that it is made from. */
  readonly reads: readonly string[];
  /** Rows of its only table, of each item. Runs in worker threads, so it is a function of the item alone. */
  readonly rows?: (item: ItemDocuments) => Iterable<Row>;
  /** Rows of its only table, by a query over the tables that it reads. */
  readonly sql?: string;
  /** Whether values of fields without value mappings join the payload under their external field name. */
  readonly passthrough?: boolean;
  /** Whether tables that the extractors cannot fill are left out; otherwise they are a fault. */
  readonly takesWhatThereIs?: boolean;
}

/** A table of a run, checked, for a loader. */
export interface LoadTable {
  readonly table: Table;
  readonly rows: number;
  /** Absolute paths of its Parquet files, sorted by key; at least one. They lie there while `stage` is at work. */
  readonly files: readonly string[];
  /**
   * Its rows in the order of the key, cell by cell in the order of the columns. Instants are microseconds since 1970, as
   * BigInt where a number would round them; dates are days since 1970; of a `bigint` column all cells are BigInt.
   */
  readonly cells: () => AsyncIterable<readonly Cell[]>;
  /**
   * The same as Arrow record batches of a few thousand rows. `apache-arrow` itself leaves out a U+FEFF at the beginning of a
   * text that it reads from them; its bytes are there.
   */
  readonly batches: () => AsyncIterable<RecordBatch>;
}

/** A run whose tables are built and checked, before anybody can see them. */
export interface LoadRun {
  readonly run: string;
  readonly sequence: number;
  readonly pipeline: string;
  readonly verdict: FullVerdict;
  /** Tables of the pipeline and those about the run. */
  readonly tables: readonly LoadTable[];
  /** Aborted when the run is to end. */
  readonly signal: AbortSignal;
}

/** A run that a loader has written where no reader looks. */
export interface StagedLoad {
  /** Makes it visible in one step. Called after the run was published in the warehouse folder. */
  readonly commit: () => Promise<void>;
  /** Takes it back: something else failed. */
  readonly abort: () => Promise<void>;
  /** Of a target: sentences that name a table, and what of it the place does not have as it is in the run. */
  readonly warnings?: readonly string[];
}

/** Makes a run visible, in two phases, so that a failure publishes nothing. */
export interface Loader {
  readonly name: string;
  /** What is published in the run's own folder: made while the tables are built, and visible when the run is. */
  readonly publishes?: "duckdb" | "parquet";
  /**
   * Writes a run elsewhere. Whatever it throws ends the run with nothing published. When its signal is aborted it is not
   * waited for: what it gives then is taken back if the process lives long enough, and the command ends a second later.
   * A run that is killed takes nothing back, so begin by clearing what an earlier one has left.
   */
  readonly stage?: (run: LoadRun) => Promise<StagedLoad>;
}

/** What the tables of a run must hold before it is published. Made by `test` and `mappingCoverage`. */
export type Test = QueryTest | CoverageTest;

interface TestOfTables {
  /** Its own among the tests of a pipeline; `run_checks` has it behind `test: `. */
  readonly name: string;
  /** `error`: nothing is published where there is more than is allowed. `warning`: the run says so. */
  readonly severity: Severity;
}

export interface QueryTest extends TestOfTables {
  /** A question whose rows are those that fail, over the tables of the run and, as `previous.content`, of the run before. */
  readonly sql: string;
  /** Failing rows that are allowed. */
  readonly limit: number;
}

export interface CoverageTest extends TestOfTables {
  /** By kind, as `audit --fail-on` names them: values that are allowed at destinations that receive values. */
  readonly failOn: Readonly<Record<string, number>>;
}

export type Severity = "error" | "warning";

/** The service that a run was read from. `origin`: scheme, host and port. */
export interface InstanceIdentity {
  readonly id: string | null;
  readonly origin: string;
}

/** A run of an instance, which its number and its manifest tell from all others. */
export interface TargetRun {
  readonly run: string;
  readonly sequence: number;
  /**
   * Of the manifest that it was published with: two machines may begin runs of one name in the same second. Undefined: the
   * target does not know.
   */
  readonly sha256?: string | undefined;
  /**
   * Where somebody rolled a target back to this run: the latest run that was there. That, and what goes on from it, is
   * delivered no more, unless somebody rolls back to it.
   */
  readonly rollbackOf?: TargetRun | undefined;
}

/** The last run of a target. */
export interface LastRun extends TargetRun {
  /** Whether a later delivery began and never finished: readers may see parts of it, until a run is delivered again. */
  readonly isUnfinished?: boolean | undefined;
}

/** A file of a published run. `path` is relative to the run's folder, with slashes; SHA-256 in lower-case hexadecimal. */
export interface DeliveredFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A run that is published in the warehouse folder, for a target. Its tables have Parquet files. */
export interface DeliveredRun extends LoadRun {
  readonly instance: InstanceIdentity;
  /** Absolute path of the run's folder. */
  readonly directory: string;
  /** All files of the folder, but the manifest. */
  readonly files: readonly DeliveredFile[];
  /** The manifest itself, last. */
  readonly manifest: DeliveredFile;
  /** Of the manifest that it was published with: another than its own where the run was restored without its DuckDB file. */
  readonly sha256: string;
  /** Runs that it goes on from, the newest first, as far as that is known without doubt. */
  readonly past: readonly TargetRun[];
  /** All runs of its warehouse folder. */
  readonly known: readonly TargetRun[];
  /** Whether somebody rolled back to it: then it also takes the place of a later run, if that is one of `known`. */
  readonly isRollback: boolean;
  /** Told as the work goes on, in units of the target's own. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * A place outside the warehouse folder that published runs are delivered to. It may be told the same run again, by this
 * process or by another: a run that it has already is left as it is. Each method throws a sentence that names the cause
 * and the way out; credentials are in none.
 */
export interface Target {
  /** Its own among the targets of a configuration: `lake`, `postgres`. */
  readonly name: string;
  /**
   * The last run that readers see whole. `null` for the instance: it is not known yet. Throws if the place belongs to
   * another instance.
   */
  readonly last: (instance: InstanceIdentity | null, signal: AbortSignal) => Promise<LastRun | null>;
  /**
   * Writes the run where no reader looks; `commit` shows it to readers as one step. Throws where it has a later run. That
   * may be for a rollback: then `last` gives the later one as `rollbackOf` from then on, until a run after that is here.
   */
  readonly stage: (run: DeliveredRun) => Promise<StagedLoad>;
  /** Proves, without delivering anything, that a run of these tables could be delivered now. */
  readonly check?: (signal: AbortSignal, tables: readonly Table[]) => Promise<void>;
  /**
   * Copies the files of its last run, the manifest among them, into an empty folder; the DuckDB file may be left out, and
   * is made again from the Parquet files. `run` is the one that `last` gave.
   */
  readonly restore?: (run: TargetRun, directory: string, signal: AbortSignal) => Promise<void>;
  /** The bytes of the manifest of the run that `restore` would give. */
  readonly manifest?: (run: TargetRun, signal: AbortSignal) => Promise<Uint8Array>;
}

export interface PipelineSpec {
  /** Lower-case letters, digits and `-`. */
  readonly name: string;
  /** One sentence, for `--help` and `runs`. */
  readonly description?: string;
  /** One listing, or both, which certify each other; one alone is certified by a pass without documents. */
  readonly extract: readonly Extractor[];
  readonly transform: readonly Transformer[];
  readonly load: readonly Loader[];
  /** None unless given. */
  readonly audit?: readonly Test[];
}

/** A pipeline with nothing left open. */
export interface Pipeline {
  readonly name: string;
  readonly description: string;
  /** Listings whose documents are read, in the order of their passes. */
  readonly listings: readonly Shape[];
  /** Which items are asked for singly. */
  readonly singleItems: "events" | "all" | "none";
  /** Destinations that are asked for; undefined: those of the configuration. */
  readonly destinations: readonly DestinationName[] | undefined;
  /** Custom fields that are asked for, besides those that items carry; undefined: none is asked for. */
  readonly customFields: readonly string[] | undefined;
  /** Of all transformers. */
  readonly tables: readonly Table[];
  /** Functions that give a table's rows from each item, by its name. */
  readonly rows: Readonly<Record<string, (item: ItemDocuments) => Iterable<Row>>>;
  /** Queries that give a table's rows, by its name, in the order in which they are made. */
  readonly queries: Readonly<Record<string, string>>;
  readonly passthrough: boolean;
  readonly loaders: readonly Loader[];
  readonly tests: readonly Test[];
}

/** Whether a pipeline publishes the file or the folder in the run's own folder. */
export function publishes({ loaders }: Pick<Pipeline, "loaders">, what: "duckdb" | "parquet"): boolean {
  return loaders.some((loader) => loader.publishes === what);
}
