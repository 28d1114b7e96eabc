/** What the data tables of a run are like, before anybody can see them. */

import type { WarehouseBuild } from "../../load/build-warehouse.ts";
import type { LoadedTable } from "../../load/load-table.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { Table } from "../../tables/declare.ts";
import { type Check, keyChecks, referenceChecks } from "./checks.ts";
import { columnValues, emptyColumns } from "./columns.ts";
import { type Misfits, misfitsIn } from "./contract.ts";
import { valueChecks } from "./values.ts";

/** What is known when the data tables are loaded. */
export interface Loaded {
  readonly tables: readonly LoadedTable[];
  /** Bytes of a table's Parquet files, by table. */
  readonly parquetBytes: ReadonlyMap<string, number>;
  readonly checks: readonly Check[];
  /** Columns that have no value, though their tables have rows. */
  readonly emptyColumns: readonly string[];
  /** Columns of which some values are not of their type. */
  readonly misfits: readonly Misfits[];
}

export interface Inspected {
  /** Tables of the pipeline. */
  readonly tables: readonly Table[];
  readonly loaded: readonly LoadedTable[];
  /** Folder of their files. */
  readonly directory: string;
  /** Of all answers. */
  readonly drift: readonly DriftEntry[];
}

export async function inspect(build: WarehouseBuild, inspected: Inspected): Promise<Loaded> {
  const { tables, loaded, directory, drift } = inspected;
  const [connection] = build.connections;
  const checks = [
    ...keyChecks(loaded),
    ...(await referenceChecks(build.connections, tables, build.boundsOfChecks)),
    ...(await valueChecks(connection, tables)),
  ];
  const values = await columnValues(connection, loaded, directory);
  return {
    tables: loaded,
    parquetBytes: await build.parquetBytes(loaded),
    checks,
    emptyColumns: emptyColumns(tables, values),
    misfits: await misfitsIn(connection, tables, values, drift),
  };
}
