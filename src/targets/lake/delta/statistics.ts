/**
 * Statistics of data files: what their `add` says of them, and of which columns readers expect it. Readers take the first
 * 32 columns of a table to have bounds in every file, and some take bounds that are not there for those of a file without
 * rows: deltalake's pyarrow dataset, and with it polars and DuckDB, leave out every row then. So the table names the
 * columns that have some: the first key column, see `described-tables.ts`.
 */
import { z } from "zod";
import { parseIfJson } from "../../../common/json.ts";
import { quoteIdentifier } from "../../../storage/sql-text.ts";
import type { AddAction, MetaDataAction } from "./actions.ts";
import { type Field, fieldsOf, INSTANCE } from "./schema.ts";
import type { TableState } from "./state.ts";

/** Names, separated by commas; where there are none, the count of the first columns says so. */
const COLUMNS = "delta.dataSkippingStatsColumns";
const COLUMN_COUNT = "delta.dataSkippingNumIndexedCols";

/** Bounds and NULLs of one column of a file. */
export interface ColumnStatistics {
  readonly column: string;
  readonly min: string | number | boolean;
  readonly max: string | number | boolean;
  readonly nulls: number;
}

export interface FileStatistics {
  readonly rows: number;
  /** A column without known bounds is left out. */
  readonly statistics: readonly ColumnStatistics[];
}

/** As JSON, for an `add`. */
export function statisticsText({ rows, statistics }: FileStatistics): string {
  if (statistics.length === 0) return JSON.stringify({ numRecords: rows });
  const byColumn = (figure: (of: ColumnStatistics) => unknown) =>
    Object.fromEntries(statistics.map((of) => [of.column, figure(of)]));
  return JSON.stringify({
    numRecords: rows,
    minValues: byColumn(({ min }) => min),
    maxValues: byColumn(({ max }) => max),
    nullCount: byColumn(({ nulls }) => nulls),
  });
}

const values = z.record(z.string(), z.unknown()).nullish();
const statistics = z.object({
  numRecords: z.int().nonnegative(),
  minValues: values,
  maxValues: values,
  nullCount: values,
});

type Statistics = z.infer<typeof statistics> | undefined;

function statisticsOf({ stats }: Pick<AddAction, "stats">): Statistics {
  return statistics.safeParse(parseIfJson(stats ?? "")).data;
}

/** Rows of a file, as the log says; null: it does not. */
export function recordsOf(add: Pick<AddAction, "stats">): number | null {
  return statisticsOf(add)?.numRecords ?? null;
}

/** Types that Spark takes in the property, as DuckDB has them; Spark fails where a column of another is named. */
const NAMEABLE: Readonly<Record<string, string>> = {
  string: "VARCHAR",
  integer: "INTEGER",
  long: "BIGINT",
  double: "DOUBLE",
  timestamp: "TIMESTAMPTZ",
  date: "DATE",
};

/**
 * Metadata that name the columns of which all these files, the active ones of a version, have whole statistics. The same
 * object: it names them already.
 */
export function namingStatistics(
  table: string,
  metaData: MetaDataAction,
  adds: readonly Pick<AddAction, "stats">[],
): MetaDataAction {
  const found = adds.map(statisticsOf).filter(hasRows);
  // Of files without rows nothing can be left out.
  if (found.length === 0) return metaData;
  const { [COLUMNS]: named, [COLUMN_COUNT]: count, ...others } = metaData.configuration;
  const columns = wholeColumns(fieldsOf({ table, metaData }), found)
    .map(({ name }) => quoted(name))
    .join(",");
  if (columns === "" ? named === undefined && count === "0" : named === columns) return metaData;
  const said = columns === "" ? { [COLUMN_COUNT]: "0" } : { [COLUMNS]: columns };
  return { ...metaData, configuration: { ...others, ...said } };
}

/** Or may have some. */
function hasRows(found: Statistics): boolean {
  return found?.numRecords !== 0;
}

/** In the order of the schema, with DuckDB's types. */
function wholeColumns(fields: readonly Field[], found: readonly Statistics[]) {
  return fields.flatMap(({ name, type }) => {
    const nameable = typeof type === "string" ? NAMEABLE[type] : undefined;
    if (nameable === undefined || !found.every((each) => isWhole(each, name))) return [];
    return [{ name, type: nameable }];
  });
}

function isWhole(found: Statistics, column: string): boolean {
  const [min, max] = [found?.minValues?.[column], found?.maxValues?.[column]];
  return isValue(min) && isValue(max) && typeof found?.nullCount?.[column] === "number";
}

function isValue(bound: unknown): boolean {
  return typeof bound === "string" || typeof bound === "number";
}

function quoted(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}

/** Members that an `add` has in a checkpoint whose readers do not want to parse texts, and their types. */
export interface Parsed {
  readonly types: Readonly<Record<string, string>>;
  readonly of: (add: AddAction) => object;
}

/** What the table wants of its checkpoints besides texts: by `delta.checkpoint.writeStatsAsStruct`. */
export function parsedMembers(state: TableState): Parsed {
  const { metaData, files } = state;
  if (metaData.configuration["delta.checkpoint.writeStatsAsStruct"] !== "true")
    return { types: {}, of: () => ({}) };
  const columns = wholeColumns(
    fieldsOf(state),
    [...files.values()].map(({ add }) => statisticsOf(add)).filter(hasRows),
  );
  return {
    types: {
      partitionValues_parsed: `STRUCT(${quoteIdentifier(INSTANCE)} VARCHAR)`,
      stats_parsed: statisticsType(columns),
    },
    of: (add) => ({
      partitionValues_parsed: { [INSTANCE]: add.partitionValues[INSTANCE] ?? null },
      stats_parsed: statisticsOf(add) ?? null,
    }),
  };
}

function statisticsType(columns: ReturnType<typeof wholeColumns>): string {
  if (columns.length === 0) return "STRUCT(numRecords BIGINT)";
  const bounds = columns.map(({ name, type }) => `${quoteIdentifier(name)} ${type}`).join(", ");
  const nulls = columns.map(({ name }) => `${quoteIdentifier(name)} BIGINT`).join(", ");
  return `STRUCT(numRecords BIGINT, minValues STRUCT(${bounds}), maxValues STRUCT(${bounds}), nullCount STRUCT(${nulls}))`;
}
