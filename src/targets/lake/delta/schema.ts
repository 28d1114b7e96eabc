/** Schemas of Delta tables: made from declarations, compared with them, and widened by them. */
import { z } from "zod";
import { WarehouseError } from "../../../common/errors.ts";
import type { ColumnType } from "../../../tables/declare.ts";
import type { ClaimedTable } from "../claim.ts";
import type { MetaDataAction, ProtocolAction } from "./actions.ts";
import { type RetentionSetting, retentionProperties } from "./retention.ts";
import type { TableState } from "./state.ts";

/** The partition column of every table in the lake; no file has it. */
export const INSTANCE = "instance";

/** What we write, and all that we read. */
export const PROTOCOL = { minReaderVersion: 1, minWriterVersion: 2 } as const;

const DELTA_TYPES: Readonly<Record<ColumnType, string>> = {
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
  /** A word, or an object where the type is nested. */
  type: z.union([z.string(), z.looseObject({})]),
  nullable: z.boolean(),
  metadata: z.record(z.string(), z.unknown()),
});
const struct = z.object({ type: z.literal("struct"), fields: z.array(field) });

export type Field = Readonly<z.infer<typeof field>>;
export type DeclaredTable = Omit<ClaimedTable, "files">;
type DeclaredColumn = DeclaredTable["columns"][number];

/** Columns of a table in the order of its schema. Throws `target.refused` where its log has no schema. */
export function fieldsOf({ table, metaData }: Pick<TableState, "table" | "metaData">): readonly Field[] {
  try {
    return struct.parse(JSON.parse(metaData.schemaString)).fields;
  } catch (cause) {
    throw refused(table, "has no schema that we can read", cause);
  }
}

/**
 * Metadata of a table that is not there yet. Other programs keep removed files and the log as long as we do: our vacuum
 * needs what their checkpoints would leave out.
 */
export function newMetaData(
  declared: DeclaredTable,
  id: string,
  createdMs: number,
  retention: RetentionSetting,
): MetaDataAction {
  const partition: Field = {
    name: INSTANCE,
    type: "string",
    nullable: false,
    metadata: { comment: "Name of the instance that the row was exported from." },
  };
  return {
    id,
    name: declared.name,
    description: declared.comment,
    schemaString: schemaText([partition, ...declared.columns.map((column) => fieldOf(column))]),
    partitionColumns: [INSTANCE],
    configuration: retentionProperties(retention),
    createdTime: createdMs,
  };
}

/**
 * The metadata that a table needs for rows of these columns beside those that it has: what is declared anew joins at the
 * end, nullable; a column that is not declared any more, or is nullable now, becomes so. The same object: it has all.
 */
export function widened(state: TableState, declared: DeclaredTable): MetaDataAction {
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

/**
 * Refuses, as `target.refused`, a table whose rows we could not write as its log demands; the sentence names the table,
 * and the column or feature.
 */
export function assertWritable(state: TableState | null, declared: DeclaredTable): void {
  if (state === null) return;
  assertProtocol(state.table, state.protocol);
  assertProperties(state);
  const fields = new Map(fieldsOf(state).map((each) => [each.name.toLowerCase(), each]));
  for (const each of fields.values()) assertPlain(state.table, each);
  for (const column of declared.columns) {
    const there = fields.get(column.name.toLowerCase());
    if (there !== undefined) assertSameColumn(state.table, there, column);
  }
}

/** What another program has made of a table ends with this. */
const WAY_OUT = "deliver into another lake, or move this table out of it";

function assertProtocol(table: string, protocol: ProtocolAction): void {
  const { minReaderVersion, minWriterVersion, readerFeatures, writerFeatures } = protocol;
  if (minReaderVersion <= PROTOCOL.minReaderVersion && minWriterVersion <= PROTOCOL.minWriterVersion) return;
  const features = [...new Set([...(readerFeatures ?? []), ...(writerFeatures ?? [])])];
  const named = features.length === 0 ? "" : ` (${features.toSorted().join(", ")})`;
  throw refused(
    table,
    `demands reader version ${minReaderVersion} and writer version ${minWriterVersion}${named}, and we write for 1 and 2; ${WAY_OUT}`,
  );
}

/** Refuses, as `target.refused`, a table that cannot be read by the rules of reader version 1. */
export function assertReadable(table: string, protocol: ProtocolAction): void {
  if (protocol.minReaderVersion > PROTOCOL.minReaderVersion) assertProtocol(table, protocol);
}

function assertProperties({ table, metaData }: TableState): void {
  if (metaData.configuration["delta.appendOnly"] === "true") {
    throw refused(table, `has the property delta.appendOnly; remove it, or ${WAY_OUT}`);
  }
  const { partitionColumns } = metaData;
  if (partitionColumns.length === 1 && partitionColumns[0] === INSTANCE) return;
  const by =
    partitionColumns.length === 0 ? "not partitioned" : `partitioned by ${partitionColumns.join(", ")}`;
  throw refused(table, `is ${by} instead of by ${INSTANCE}; ${WAY_OUT}`);
}

/** Marks in a column's metadata of what a writer must do for it. */
const DEMANDS = ["delta.invariants", "delta.generationExpression", "delta.identity.start"] as const;

function assertPlain(table: string, { name, metadata }: Field): void {
  const demand = DEMANDS.find((mark) => Object.hasOwn(metadata, mark));
  if (demand !== undefined) throw refused(table, `has ${demand} on its column ${name}; ${WAY_OUT}`);
}

function assertSameColumn(table: string, there: Field, column: DeclaredColumn): void {
  if (there.name !== column.name) {
    throw refused(table, `has a column ${there.name} where the run has ${column.name}; ${WAY_OUT}`);
  }
  const type = DELTA_TYPES[column.type];
  if (there.type === type) return;
  const found = typeof there.type === "string" ? there.type : JSON.stringify(there.type);
  throw refused(
    table,
    `has the column ${column.name} as ${found} where the run has ${type}, and no column changes its type; rename it in the pipeline, or deliver into another lake`,
  );
}

function fieldOf({ name, type, nullable, comment }: DeclaredColumn): Field {
  return { name, type: DELTA_TYPES[type], nullable, metadata: { comment } };
}

function schemaText(fields: readonly Field[]): string {
  return JSON.stringify({ type: "struct", fields });
}

function refused(table: string, what: string, cause?: unknown): WarehouseError {
  return new WarehouseError("target.refused", `The table ${table} of the lake ${what}.`, { cause });
}
