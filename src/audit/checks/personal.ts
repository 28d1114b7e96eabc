/** Custom fields that look personal and are published all the same, because `personalFields` does not name them. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import type { ExtractRecord } from "../../raw/extract-record.ts";
import { ADDRESS } from "../../raw/personal/addresses.ts";
import { looksPersonal } from "../../raw/personal/names.ts";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import type { Table } from "../../tables/declare.ts";
import { type Judged, noneExpected } from "./checks.ts";

const PERSONAL_FIELDS_CHECK = "custom fields that look personal and are published";
const FIELDS_NAMED = 5;
const FIELDS = "custom_fields";

/** Where texts of custom fields stand, and what such a text is called. */
const SOURCES = [
  { table: "content_custom_field_values", column: "value", noun: "value", from: "" },
  {
    table: "custom_field_mapping_values",
    column: "external_value",
    noun: "external value",
    from: "JOIN custom_field_mappings USING (mapping_id)",
  },
] as const;

/** `$1`: IDs of the fields that the policy covers, as JSON; `$2`: pattern of an e-mail address. */
function countsIn(sources: readonly (typeof SOURCES)[number][]): string {
  const counts = sources.map(
    ({ table, column, noun, from }) => `
      SELECT custom_field_id, '${noun}' AS noun, count(*) AS filled,
        count(*) FILTER (contains(${column}, '@') AND regexp_matches(${column}, $2)) AS addresses
      FROM ${table} ${from} GROUP BY ALL`,
  );
  return `
    SELECT custom_field_id AS id, coalesce(name, custom_field_id) AS name, noun, filled, addresses
    FROM (${counts.join(" UNION ALL ")}) LEFT JOIN ${FIELDS} USING (custom_field_id)
    WHERE NOT list_contains(from_json($1, '["VARCHAR"]'), custom_field_id)
    ORDER BY name, id, noun DESC`;
}

export function personalFieldsSentence(found: readonly string[]): string {
  const named = joinFirst(found, FIELDS_NAMED);
  return `Custom fields that look personal are published: ${named}. If they hold personal data, name them in \`personalFields\`.`;
}

/** Judges by names, as the policy does API fields, and by values that are e-mail addresses. */
export async function judgePersonalFields(
  connection: DuckDBConnection,
  tables: readonly Table[],
  { policy, customFieldIds }: ExtractRecord["personalData"],
): Promise<Judged> {
  const names = new Set(tables.map(({ name }) => name));
  const sources = SOURCES.filter(({ table }) => names.has(table));
  if (policy === "keep" || sources.length === 0 || !names.has(FIELDS)) return { checks: [], warnings: [] };
  const rows = await all(connection, countsIn(sources), [JSON.stringify(customFieldIds), ADDRESS.source]);
  const fields = Map.groupBy(rows, ({ id }) => String(id));
  const found = [...fields.values()].flatMap((counts) => {
    const name = String(counts[0]?.name);
    const addresses = counts.filter((row) => toSafeInteger(row.addresses ?? null) > 0);
    if (addresses.length === 0 && !looksPersonal(name)) return [];
    const told = (addresses.length > 0 ? addresses : counts).map(({ noun, filled, addresses: some }) => {
      const texts = pluralize(toSafeInteger(filled ?? null), String(noun));
      return addresses.length === 0
        ? texts
        : `e-mail addresses in ${toSafeInteger(some ?? null)} of ${texts}`;
    });
    return `${printable(name, 60)} (${told.join(", ")})`;
  });
  const detail = found.length === 0 ? "" : `${found.join(", ")}; the setting is personalFields`;
  const text = personalFieldsSentence(found);
  return {
    checks: [noneExpected(PERSONAL_FIELDS_CHECK, found.length, detail)],
    warnings: found.length === 0 ? [] : [{ text, check: PERSONAL_FIELDS_CHECK }],
  };
}
