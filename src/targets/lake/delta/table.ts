/** What a Delta Lake table's log says: https://github.com/delta-io/delta/blob/master/PROTOCOL.md, reader 1 and writer 2. */
import type { Column } from "../../../tables/declare.ts";

/** A data file that readers see. `path` is relative to the table's folder, not encoded. */
export interface AddedFile {
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
  /** Of the key's first column, as Delta's statistics have them; null: the file has no rows. */
  readonly range: FirstColumnRange | null;
}

export interface FirstColumnRange {
  readonly column: string;
  readonly min: string | number | boolean;
  readonly max: string | number | boolean;
  readonly nulls: number;
}

/** Columns of a table in the lake, `instance` not among them: it partitions every table. */
export interface DeclaredTable {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly Pick<Column, "name" | "type" | "nullable" | "comment">[];
}

/** A replacement of all files that one instance has in a table. */
export interface Replacement {
  readonly table: DeclaredTable;
  readonly instance: string;
  /** Number of the run: the version of the instance's `txn`. */
  readonly sequence: number;
  readonly run: string;
  readonly files: readonly AddedFile[];
  /** ID of the attempt, for whoever reads the table's history. */
  readonly attempt: string;
  /** When the files were made, in milliseconds since 1970. */
  readonly atMs: number;
  /** Days that other programs keep earlier versions, where this makes the table. */
  readonly retentionDays: number;
}

/** `done`: this or an earlier attempt made the commit at `version`. `fenced`: the table has a later run of the instance. */
export type CommitOutcome =
  | { readonly kind: "done"; readonly version: number }
  | { readonly kind: "fenced"; readonly sequence: number };
