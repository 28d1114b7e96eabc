/** Schemas of Delta tables, made from declared tables. */
import { z } from "zod";
import { WarehouseError } from "../../../common/errors.ts";
import type { Column, ColumnType } from "../../../tables/declare.ts";
import type { MetaDataAction } from "./actions.ts";
import { retentionProperties } from "./retention.ts";
import type { TableState } from "./state.ts";

/** Partition column of every table in the lake. Data files do not have it. */
export const INSTANCE = "instance";

/**
 * Says that no column has bounds in all files. By default readers expect them of the first 32 columns: deltalake's pyarrow
 * dataset, and polars and DuckDB with it, leaves out every row of a file that lacks them.
 */
const NO_INDEXED_COLUMNS = { "delta.dataSkippingNumIndexedCols": "0" };

/** Protocol of the tables that we create. */
export const PROTOCOL = { minReaderVersion: 1, minWriterVersion: 2 } as const;

export const DELTA_TYPES: Readonly<Record<ColumnType, string>> = {
  text: "string",
  json: "string",
  boolean: "boolean",
  integer: "integer",
  bigint: "long",
  double: "double",
  timestamp: "timestamp",
  date: "date",
};

const field = z.object({
  name: z.string(),
  /** A nested type is an object. */
  type: z.union([z.string(), z.looseObject({})]),
  nullable: z.boolean(),
  metadata: z.record(z.string(), z.unknown()),
});
const struct = z.object({ type: z.literal("struct"), fields: z.array(field) });

export type DeltaField = Readonly<z.infer<typeof field>>;
export type DeltaColumn = Pick<Column, "name" | "type" | "nullable" | "comment">;

export interface DeltaTable {
  readonly name: string;
  readonly comment: string;
  /** All columns but `instance`. */
  readonly columns: readonly DeltaColumn[];
}

/** Columns of a table in order. Throws `target.refused` if its schema is unreadable. */
export function fieldsOf({ table, metaData }: Pick<TableState, "table" | "metaData">): readonly DeltaField[] {
  try {
    return struct.parse(JSON.parse(metaData.schemaString)).fields;
  } catch (cause) {
    throw new WarehouseError("target.refused", `The table ${table} of the lake has an unreadable schema.`, {
      cause,
    });
  }
}

/** Metadata of a new table. `retentionDays`: how long it keeps earlier versions. */
export function newMetaData(
  declared: DeltaTable,
  made: { readonly id: string; readonly createdMs: number; readonly retentionDays: number },
): MetaDataAction {
  const partition: DeltaField = {
    name: INSTANCE,
    type: "string",
    nullable: false,
    metadata: { comment: "Name of the instance that the row was exported from." },
  };
  return {
    id: made.id,
    name: declared.name,
    description: declared.comment,
    schemaString: schemaText([partition, ...declared.columns.map((column) => fieldOf(column))]),
    partitionColumns: [INSTANCE],
    configuration: { ...retentionProperties(made.retentionDays), ...NO_INDEXED_COLUMNS },
    createdTime: made.createdMs,
  };
}

/**
 * Metadata of a table that also takes rows with these columns; the same object if it takes them already. New columns come
 * last and are nullable. Columns that are no longer declared, or are nullable now, become nullable.
 */
export function widenMetaData(state: TableState, declared: DeltaTable): MetaDataAction {
  const fields = fieldsOf(state);
  const columns = new Map(declared.columns.map((column) => [column.name, column]));
  const loosened = fields.map((each) =>
    each.nullable || each.name === INSTANCE || columns.get(each.name)?.nullable === false
      ? each
      : { ...each, nullable: true },
  );
  const known = new Set(fields.map(({ name }) => name));
  const joining = declared.columns
    .filter(({ name }) => !known.has(name))
    .map((column) => fieldOf({ ...column, nullable: true }));
  if (joining.length === 0 && loosened.every((each, place) => each === fields[place])) return state.metaData;
  return { ...state.metaData, schemaString: schemaText([...loosened, ...joining]) };
}

function fieldOf({ name, type, nullable, comment }: DeltaColumn): DeltaField {
  return { name, type: DELTA_TYPES[type], nullable, metadata: { comment } };
}

function schemaText(fields: readonly DeltaField[]): string {
  return JSON.stringify({ type: "struct", fields });
}
