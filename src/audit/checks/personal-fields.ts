/** Warns of what looks personal and is published: custom fields that `personalFields` does not name, and URLs in free text. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import type { RunAsked } from "../../raw/extract-record.ts";
import { ADDRESS } from "../../raw/personal/addresses.ts";
import { looksPersonal } from "../../raw/personal/names.ts";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import type { Table } from "../../tables/declare.ts";
import { type Check, type CheckResults, checkWithWarning, NO_CHECKS, noneExpected } from "./checks.ts";

const FIELDS = "custom_fields";

/** Columns that hold texts of custom fields. */
const SOURCES = [
  { table: "content_custom_field_values", column: "value", noun: "value", from: "" },
  {
    table: "custom_field_mapping_values",
    column: "external_value",
    noun: "external value",
    from: "JOIN custom_field_mappings USING (mapping_id)",
  },
] as const;

/** `$1`: JSON list of the field IDs that the policy covers; `$2`: pattern of an e-mail address. */
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

export function personalFieldsSentence(fields: readonly string[]): string {
  return `Custom fields that look personal are published: ${joinFirst(fields, 5)}. If they hold personal data, name them in \`personalFields\`.`;
}

/** Looks at the names of fields, by the rule for API fields, and for values that are e-mail addresses. */
export async function checkPersonalFields(
  connection: DuckDBConnection,
  tables: readonly Table[],
  { policy, customFieldIds }: RunAsked["personalData"],
): Promise<CheckResults> {
  const names = new Set(tables.map(({ name }) => name));
  const sources = SOURCES.filter(({ table }) => names.has(table));
  if (policy === "keep" || sources.length === 0 || !names.has(FIELDS)) return NO_CHECKS;
  const rows = await all(connection, countsIn(sources), [JSON.stringify(customFieldIds), ADDRESS.source]);
  const fields = Map.groupBy(rows, ({ id }) => String(id));
  const found = [...fields.values()].flatMap((counts) => {
    const name = String(counts[0]?.name);
    const withAddresses = counts.filter((row) => toSafeInteger(row.addresses ?? null) > 0);
    if (withAddresses.length === 0 && !looksPersonal(name)) return [];
    const reasons = (withAddresses.length > 0 ? withAddresses : counts).map(({ noun, filled, addresses }) => {
      const texts = pluralize(toSafeInteger(filled ?? null), String(noun));
      const number = toSafeInteger(addresses ?? null);
      return number === 0 ? texts : `e-mail addresses in ${number} of ${texts}`;
    });
    return `${printable(name, 60)} (${reasons.join(", ")})`;
  });
  const detail = found.length === 0 ? "" : `${found.join(", ")}; the setting is personalFields`;
  const check = noneExpected("custom fields that look personal and are published", found.length, detail);
  return checkWithWarning(check, personalFieldsSentence(found));
}

const CREDENTIALS = "//[^/?#@\\s\"'<>]+@";

/** Counts texts that name a user in a URL, also with a password. The policy leaves them in free text. */
export async function checkUrlCredentials(
  connection: DuckDBConnection,
  tables: readonly Table[],
  { policy }: RunAsked["personalData"],
): Promise<readonly Check[]> {
  const counts = tables.flatMap(({ name, columns }) =>
    columns
      .filter(({ type }) => type === "text" || type === "json")
      .map((column) => {
        const text = quoteIdentifier(column.name);
        return `SELECT ${quoteLiteral(`${name}.${column.name}`)} AS place, count(*) AS texts FROM ${quoteIdentifier(name)}
          WHERE contains(${text}, '@') AND regexp_matches(${text}, $1)`;
      }),
  );
  if (policy === "keep" || counts.length === 0) return [];
  const found = await all(connection, `FROM (${counts.join(" UNION ALL ")}) WHERE texts > 0 ORDER BY place`, [
    CREDENTIALS,
  ]);
  const total = found.reduce((sum, { texts = null }) => sum + toSafeInteger(texts), 0);
  const detail = found.map(({ place, texts }) => `${place} (${texts})`).join(", ");
  return [noneExpected("texts with credentials in a URL", total, detail)];
}
