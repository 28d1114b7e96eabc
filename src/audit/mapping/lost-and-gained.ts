/** Counts values that lost or gained their external value since the run before. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col } from "../../common/answer.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import { printableLine } from "../../common/printable.ts";
import { TABLES_OF_VIEWS } from "../../load/views.ts";
import { execute } from "../../storage/duckdb.ts";
import { fillMarks } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { createTempTable, loadSql } from "../queries.ts";
import { type AuditScope, scopeCondition } from "../scope.ts";

export type MappedChanges = NonNullable<Manifest["mappedChanges"]>;

const some = { required: true } as const;
const TOTALS = { items: col.count(some), lost: col.count(some), gained: col.count(some) } as const;
const LARGEST = {
  destination: col.text(some),
  field: col.text(some),
  lost: col.count(some),
  cause: col.text(),
} as const;
const RECEPTION = { destination: col.text(some), receives: col.flag(some) } as const;

const SENT =
  "external_field_name IS NOT NULL AND (status = 'mapped' OR (status = 'no_value_mapping' AND $1::BOOLEAN))";

const TOTALS_OF = `
  SELECT count(DISTINCT content_id) FILTER (lost > 0) AS items, coalesce(sum(lost), 0)::BIGINT AS lost,
    coalesce(sum(gained), 0)::BIGINT AS gained
  FROM lost_and_gained`;

const RECEPTIONS_CHANGED = `
  SELECT coalesce(now.identification, before.identification, destination_id) AS destination,
    coalesce(now.receives, false) AS receives
  FROM destinations AS now FULL JOIN before_destinations AS before USING (destination_id)
  WHERE coalesce(now.receives, false) <> coalesce(before.receives, false)
  ORDER BY destination, destination_id`;

const PAYLOADS_CHANGED = `
  SELECT count(DISTINCT content_id) AS changed
  FROM (
    SELECT content_id, destination_id FROM (
      SELECT content_id, destination_id, hash(payload)::HUGEINT AS number FROM content_external_payloads
      UNION ALL
      SELECT content_id, destination_id, -hash(payload)::HUGEINT AS number FROM before_content_external_payloads
    )
    SEMI JOIN (
      SELECT destination_id FROM destinations AS now JOIN before_destinations AS before USING (destination_id)
      WHERE now.receives AND before.receives
    ) USING (destination_id)
    GROUP BY ALL HAVING sum(number) <> 0
  )`;

/** Fields and destinations that the manifest names. */
const LARGEST_KEPT = 10;

/** Whether a run has mapped values, of all items. */
export function hasAllMappedValues({
  rows,
  verdict,
  items,
}: Pick<Manifest, "rows" | "verdict"> & { readonly items: Pick<Manifest["items"], "unread"> }): boolean {
  return (
    TABLES_OF_VIEWS.every((table) => Object.hasOwn(rows, table)) &&
    verdict !== "limited" &&
    items.unread === 0
  );
}

/**
 * Creates the table `lost_and_gained` of mapped values compared with those of the run before, whose views begin with
 * `before_`. `passthrough`: whether this run sends values of fields without value mappings. `showsTexts`: whether texts of
 * the run before may be shown.
 */
export async function readMappedChanges(
  connection: DuckDBConnection,
  {
    passthrough,
    showsTexts,
    scope = {},
  }: { readonly passthrough: boolean; readonly showsTexts: boolean; readonly scope?: AuditScope },
): Promise<MappedChanges> {
  const sql = fillMarks(loadSql("lost_and_gained"), { is_sent: SENT });
  await createTempTable(connection, "lost_and_gained", sql, [passthrough]);
  const isWithin = `content_id IN (SELECT content_id FROM content WHERE ${scopeCondition({ contentTypeIds: scope.contentTypeIds })})`;
  const ofValues = scopeCondition({ ...scope, contentTypeIds: undefined });
  await execute(connection, `DELETE FROM lost_and_gained WHERE NOT (${ofValues} AND ${isWithin})`);
  const [totals] = await readRows(connection, TOTALS, TOTALS_OF);
  const [payloads] = await readRows(connection, { changed: col.count(some) }, PAYLOADS_CHANGED);
  if (totals === undefined || payloads === undefined) throw new TypeError("the comparison has no totals");
  const largest = await readRows(
    connection,
    LARGEST,
    `${loadSql("lost_and_gained_largest")} LIMIT ${LARGEST_KEPT}`,
  );
  const shown = showsTexts ? largest : largest.map((each) => ({ ...each, cause: null }));
  return {
    ...totals,
    ...payloads,
    largest: shown,
    receptions: await readRows(connection, RECEPTION, RECEPTIONS_CHANGED),
  };
}

/** `138 values of 120 items: 64 of market at Web CMS (the entry for "Care & Repair" was removed), ...` */
export function lossText({ lost, items, largest }: MappedChanges): string {
  const named = largest.map(({ field, destination, lost: some, cause }) => {
    const because = cause === null ? "" : ` (${cause})`;
    return `${count(some)} of ${printableLine(field)} at ${printableLine(destination)}${printableLine(because)}`;
  });
  return `${pluralize(lost, "value")} of ${pluralize(items, "item")}: ${joinFirst(named, 2)}`;
}

/** Each loss is new, so its warning names the run before. */
export function lossWarnings(changes: MappedChanges, before: string): string[] {
  if (changes.lost === 0) return [];
  return [
    `External values were lost since run ${before}, ${lossText(changes)}; "content-warehouse diff --values" shows them.`,
  ];
}
