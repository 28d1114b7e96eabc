/** Makes the tables about the run. */
import type { TableFacts } from "../audit/checks/table-checks.ts";
import type { RequestRecord } from "../extract/landing/journal.ts";
import type { TableSource } from "../load/build-warehouse.ts";
import { loadSql } from "../load/load-sql.ts";
import type { MemoryRows } from "../load/staged-rows.ts";
import { type Pipeline, publishes } from "../pipeline.ts";
import type { CountedDrift } from "../raw/drift.ts";
import { excludedItems, type PassRecord } from "../raw/extract-record.ts";
import type { RawFolder } from "../raw/raw-folder.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { fillMarks } from "../storage/sql-text.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Table } from "../tables/declare.ts";
import { tablesOfRun } from "../tables/run.ts";
import type { BuiltStatement } from "../warehouse/manifest.ts";

/**
 * Makes rows for the columns of a table: column `per_page` is the member `perPage` of a record, or of what `besides`
 * adds. Throws a TypeError for a missing member.
 */
export function rowsOf<One extends object>(
  table: Table,
  records: Iterable<One>,
  besides: (record: One, place: number) => Readonly<Record<string, Cell>> = () => ({}),
): MemoryRows {
  const members = table.columns.map(({ name }) =>
    name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
  );
  const rows = function* (): Generator<Cell[]> {
    let place = 0;
    for (const record of records) {
      const cells: Readonly<Record<string, Cell>> = { ...record, ...besides(record, place++) };
      yield members.map((name) => {
        const cell = cells[name];
        if (cell === undefined) throw new TypeError(`a row of ${table.name} has no ${name}`);
        return cell;
      });
    }
  };
  return { table, rows: rows() };
}

/** Start and end in microseconds. */
function interval({ startedMs, endedMs }: { readonly startedMs: number; readonly endedMs: number }) {
  return { startedAt: Math.floor(startedMs * 1000), endedAt: Math.floor(endedMs * 1000) };
}

/** The tables about the run, except `run_checks`: their rows, staged parts or query. */
export function runTables(
  run: Parameters<typeof runRows>[0],
  pipeline: Pipeline,
  landed: RawFolder,
  { loaded, drift }: { readonly loaded: TableFacts; readonly drift: readonly CountedDrift[] },
): TableSource[] {
  const files = {
    raw_files: readParquet(landed.itemFiles),
    request_files: readParquet(landed.requests.map(({ file }) => file)),
  };
  const excluded = [JSON.stringify(excludedItems(landed.facts))];
  const counting = { text: fillMarks(loadSql("run_documents"), files), params: excluded };
  const hasParquet = publishes(pipeline, "parquet");
  const origins = pipeline.tables.flatMap((table) =>
    table.columns.flatMap((column) =>
      column.origins.map((origin) => ({ ...origin, tableName: table.name, columnName: column.name })),
    ),
  );
  return [
    runRows(run, pipeline),
    passRows(landed.facts.found.passes),
    { table: tablesOfRun.requests, parts: landed.requests },
    { table: tablesOfRun.rejects, parts: landed.rejects },
    rowsOf(tablesOfRun.drift, drift, ({ contentId }) => ({ exampleContentId: contentId })),
    rowsOf(tablesOfRun.tables, loaded.tables, ({ table, rows, files: own }) => ({
      tableName: table,
      rowCount: rows,
      parquetFiles: hasParquet ? own.length : 0,
      parquetBytes: hasParquet ? own.reduce((sum, { bytes }) => sum + bytes, 0) : 0,
    })),
    rowsOf(tablesOfRun.lineage, origins),
    // A run may keep no documents.
    landed.itemFiles.length === 0
      ? { table: tablesOfRun.documents, rows: [] }
      : { table: tablesOfRun.documents, query: counting },
  ];
}

/** `endedMs`: milliseconds since 1970. `ignoredDestinations`: IDs. */
function runRows(
  run: Omit<BuiltStatement, "rows" | "emptyColumns" | "columns" | "changes" | "mappedValues"> & {
    readonly endedMs: number;
    readonly ignoredDestinations: readonly string[];
  },
  { passthrough }: Pipeline,
): MemoryRows {
  const { asked, found, reasons, items, versions, instance, endedMs } = run;
  return rowsOf(tablesOfRun.run, [run], () => ({
    pipeline: asked.pipeline.name,
    ...interval({ startedMs: Date.parse(found.startedAt), endedMs }),
    instanceUrl: instance.origin,
    reason: reasons.length === 0 ? null : reasons.join("; "),
    itemsListed: items.listed,
    itemsLoaded: items.loaded,
    itemsRejected: items.rejected,
    itemsRemoved: items.vanished,
    itemsUnread: items.unread,
    passthrough,
    ignoredDestinations: JSON.stringify(run.ignoredDestinations),
    requestsRefused: found.throttled?.refused ?? 0,
    ratePerSecond: found.throttled?.ratePerSecond ?? null,
    personalData: asked.personalData.policy,
    packageVersion: versions.package,
    duckdbVersion: versions.duckdb,
    nodeVersion: versions.node,
  }));
}

export function passRows(records: readonly PassRecord[]): MemoryRows {
  return rowsOf(tablesOfRun.passes, records, (record) => ({ ...interval(record), rowsListed: record.rows }));
}

export function requestRows(records: readonly RequestRecord[]): MemoryRows {
  return rowsOf(tablesOfRun.requests, records, ({ milliseconds }, place) => ({
    request: place + 1,
    milliseconds: Math.round(milliseconds * 1000) / 1000,
  }));
}
