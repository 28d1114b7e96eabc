/** Makes the rows of the tables about the run. */

import type { RequestRecord } from "../extract/landing/journal.ts";
import type { MemoryRows } from "../load/staged-rows.ts";
import type { ExtractRecord, PassRecord } from "../raw/extract-record.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Table } from "../tables/declare.ts";
import { passes, requests, run } from "../tables/run.ts";
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

/** `endedMs`: milliseconds since 1970. `ignoredDestinations`: IDs. */
export function runRows(
  statement: Omit<BuiltStatement, "rows" | "emptyColumns" | "columns">,
  more: {
    readonly endedMs: number;
    readonly passthrough: boolean;
    readonly ignoredDestinations: readonly string[];
    readonly throttled: ExtractRecord["throttled"];
  },
): MemoryRows {
  const { reasons, items, versions, instance, startedAt } = statement;
  return rowsOf(run, [{ ...statement, ...more }], () => ({
    ...interval({ startedMs: Date.parse(startedAt), endedMs: more.endedMs }),
    instanceUrl: instance.origin,
    reason: reasons.length === 0 ? null : reasons.join("; "),
    itemsListed: items.listed,
    itemsLoaded: items.loaded,
    itemsRejected: items.rejected,
    itemsRemoved: items.vanished,
    itemsUnread: items.unread,
    ignoredDestinations: JSON.stringify(more.ignoredDestinations),
    requestsRefused: more.throttled?.refused ?? 0,
    ratePerSecond: more.throttled?.ratePerSecond ?? null,
    replayOf: statement.replayOf ?? null,
    personalData: statement.personalData.policy,
    packageVersion: versions.package,
    duckdbVersion: versions.duckdb,
    nodeVersion: versions.node,
  }));
}

export function passRows(records: readonly PassRecord[]): MemoryRows {
  return rowsOf(passes, records, (record) => ({ ...interval(record), rowsListed: record.rows }));
}

export function requestRows(records: readonly RequestRecord[]): MemoryRows {
  return rowsOf(requests, records, ({ milliseconds }, place) => ({
    request: place + 1,
    milliseconds: Math.round(milliseconds * 1000) / 1000,
  }));
}
