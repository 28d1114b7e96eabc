/** Metadata of Delta tables: schemas, made from declared tables, and how long earlier versions stay. */
import { z } from "zod";
import { WarehouseError } from "../../../common/errors.ts";
import type { Column, ColumnType } from "../../../tables/declare.ts";
import type { MetaDataAction, TableState } from "./state.ts";

/** Partition column of every table in the lake. Data files do not have it. */
export const INSTANCE = "instance";

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

type DeltaField = Readonly<z.infer<typeof field>>;
type DeltaColumn = Pick<Column, "name" | "type" | "nullable" | "comment">;

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

export const DAY_MS = 24 * 60 * 60 * 1000;

/** How long versions stay in the log, and how long removed data files stay. */
const LOG = "delta.logRetentionDuration";
const FILES = "delta.deletedFileRetentionDuration";

/** Days that apply if a table does not have the property. */
const DEFAULT_DAYS: Readonly<Record<string, number>> = { [LOG]: 30, [FILES]: 7 };

/** Properties with their days; files stay for seven at least. */
const retentionDays = (days: number) => Object.entries({ [LOG]: days, [FILES]: Math.max(days, 7) });

const intervals = (days: ReturnType<typeof retentionDays>) =>
  Object.fromEntries(days.map(([property, count]) => [property, `interval ${count} days`]));

/** Properties of a new table that keeps earlier versions for this number of days. */
export const retentionProperties = (days: number) => intervals(retentionDays(days));

/** Raises the properties to this number of days; gives the same object if they are long enough. */
export function withRetention(metaData: MetaDataAction, days: number): MetaDataAction {
  const short = retentionDays(days).filter(
    ([property, count]) => intervalMs(metaData, property) < count * DAY_MS,
  );
  if (short.length === 0) return metaData;
  return { ...metaData, configuration: { ...metaData.configuration, ...intervals(short) } };
}

/** `filesMs` is at least `logMs`, so that every version in the log can be read. */
export function retentionOf(metaData: MetaDataAction): { readonly logMs: number; readonly filesMs: number } {
  const logMs = intervalMs(metaData, LOG);
  return { logMs, filesMs: Math.max(logMs, intervalMs(metaData, FILES)) };
}

const UNIT_MS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
};

/** Parses `interval 1 week` or `interval 36 hours`; other forms are infinite, so that everything is kept. */
function intervalMs({ configuration }: MetaDataAction, property: string): number {
  const text = configuration[property] ?? `${DEFAULT_DAYS[property]} days`;
  const [, count, unit = ""] = /^(?:interval\s+)?(\d+)\s+([a-z]+?)s?$/.exec(text.trim().toLowerCase()) ?? [];
  const unitMs = UNIT_MS[unit] ?? Number.POSITIVE_INFINITY;
  return count === undefined ? Number.POSITIVE_INFINITY : Number(count) * unitMs;
}
