/** Counts values that lost or gained their external value since the run before. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col } from "../../common/answer.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import { printableLine } from "../../common/printable.ts";
import { TABLES_OF_VIEWS } from "../../load/views.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Accounting, Manifest } from "../../warehouse/manifest.ts";
import { createTempTable, loadSql } from "../queries.ts";
import { type AuditScope, scopeCondition } from "../scope.ts";
import { removalText } from "./definition-changes.ts";

type MappedChanges = NonNullable<Manifest["mappedChanges"]>;

const some = { required: true } as const;
const counted = col.count(some);
const TOTALS = { items: counted, changed: counted, lost: counted, gained: counted } as const;
const LARGEST = {
  destination: col.text(some),
  field: col.text(some),
  lost: counted,
  removed: col.text({ of: ["mapping", "entry"] }),
  text: col.text(),
} as const;
const RECEPTION = { destination: col.text(some), receives: col.flag(some) } as const;

const RECEPTIONS_CHANGED = `
  SELECT coalesce(now.identification, before.identification, destination_id) AS destination,
    coalesce(now.receives, false) AS receives
  FROM destinations AS now FULL JOIN before_destinations AS before USING (destination_id)
  WHERE coalesce(now.receives, false) <> coalesce(before.receives, false)
  ORDER BY destination, destination_id`;

/** Whether a run has mapped values, of all its items. */
export function hasAllMappedValues(
  tables: readonly string[],
  { unread }: Pick<Accounting, "unread">,
): boolean {
  return unread === 0 && TABLES_OF_VIEWS.every((table) => tables.includes(table));
}

/**
 * Compares mapped values with those of the run before, whose views begin with `before_`. `passthrough`: whether this run
 * sends values of fields without value mappings. `showsTexts`: whether texts of the run before may be shown.
 */
export async function readMappedChanges(
  connection: DuckDBConnection,
  {
    passthrough,
    showsTexts,
    scope = {},
  }: { readonly passthrough: boolean; readonly showsTexts: boolean; readonly scope?: AuditScope },
): Promise<MappedChanges> {
  const sql = `${loadSql("lost_and_gained")} AND ${scopeCondition(scope)}`;
  await createTempTable(connection, "lost_and_gained", sql, [passthrough]);
  const [totals] = await readRows(connection, TOTALS, loadSql("lost_and_gained_totals"));
  if (totals === undefined) throw new TypeError("the comparison has no totals");
  const largest = await readRows(connection, LARGEST, loadSql("lost_and_gained_largest"));
  return {
    ...totals,
    largest: largest.map(({ removed, text, ...each }) => ({
      ...each,
      cause: showsTexts && removed !== null ? removalText(removed, text) : null,
    })),
    receptions: await readRows(connection, RECEPTION, RECEPTIONS_CHANGED),
  };
}

/** `138 values of 126 items (70 of region at Web CMS: the entry for "UK & Ireland" was removed and 3 more)`. */
export function lossText({ lost, items, largest }: MappedChanges): string {
  const named = largest.map(({ field, destination, lost: some, cause }) =>
    printableLine(`${count(some)} of ${field} at ${destination}${cause === null ? "" : `: ${cause}`}`),
  );
  const where = named.length === 0 ? "" : ` (${joinFirst(named, 1)})`;
  return `${pluralize(lost, "value")} of ${pluralize(items, "item")}${where}`;
}
