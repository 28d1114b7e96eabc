/** Made-up tables of a night, the ledger included, in a database file: what the step of the history is given. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { fillDerivedTables, LEDGER_ROWS_PER_RANGE } from "../../src/load/steps.ts";
import { createTable } from "../../src/storage/ddl.ts";
import { execute, openForBuilding } from "../../src/storage/duckdb.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";
import { HISTORY_TABLES } from "../../src/tables/history.ts";
import { FIELDS, type HistoryNight, itemBounds, itemId } from "./history-nights.ts";

const DESTINATIONS = 3;
/** The first of them take several values, the last of them texts. */
const MULTISELECTS = 6;
const SELECTS = 24;

const night: HistoryNight = JSON.parse(process.argv[2] ?? "");
await using database = await openForBuilding({
  file: night.database,
  staging: night.directory,
  temporaryDirectory: night.temporaryDirectory,
  memoryLimitMb: 1000,
  previous: undefined,
});
await makeTables(database.connection);
await database.close();
process.stdout.write("{}\n");

async function makeTables(connection: DuckDBConnection): Promise<void> {
  for (const table of DATA_TABLES.filter((table) => !HISTORY_TABLES.includes(table))) {
    await createTable(connection, table);
  }
  const insert = (table: string, select: string) =>
    execute(connection, `INSERT INTO ${table} BY NAME SELECT ${select}`);
  await insert("content", `${itemId("item")} AS content_id FROM range(${night.items}) i(item)`);
  await insert("content_custom_field_values", givenValues());
  await insert(
    "custom_fields",
    `${id("field")} AS custom_field_id, 'field ' || field AS name, true AS from_lookup,
     CASE WHEN field < ${MULTISELECTS} THEN 'multiselect' WHEN field < ${SELECTS} THEN 'select' ELSE 'text' END
     AS field_type FROM range(${FIELDS}) f(field)`,
  );
  await insert(
    "custom_field_select_values",
    `${id("field")} AS custom_field_id, ${id("field * 100 + value")} AS value_id, value AS ordinal,
     'text of ' || value AS display, 'text of ' || value AS value, false AS archived
     FROM range(${SELECTS}) f(field), range(10) v(value)`,
  );
  await insert(
    "destinations",
    `'d' || d AS destination_id, d > 0 OR ${night.supported} AS supports_custom_field_mappings
     FROM range(${DESTINATIONS}) t(d)`,
  );
  await insert(
    "custom_field_mappings",
    `'m' || field || ' ' || d AS mapping_id, ${id("field")} AS custom_field_id, 'd' || d AS destination_id,
     d AS ordinal, CASE field WHEN 9 THEN '${night.name}' ELSE 'external field ' || field END AS external_field_name
     FROM range(${FIELDS}) f(field), range(${DESTINATIONS}) t(d)`,
  );
  await insert(
    "custom_field_mapping_values",
    `'e' || field || ' ' || d || ' ' || value AS mapping_value_id, 'm' || field || ' ' || d AS mapping_id,
     value AS ordinal, ${id("field * 100 + value")} AS value_id, 'external ' || value AS external_value
     FROM range(${SELECTS}) f(field), range(${DESTINATIONS}) t(d), range(9) v(value)`,
  );
  await fillDerivedTables([connection], {
    passthrough: false,
    itemBounds: itemBounds(night.items),
    rowsPerRange: LEDGER_ROWS_PER_RANGE,
  });
}

/** In as many of a hundred fields as the share says; two values in some of the multiselects that have any. */
function givenValues(): string {
  const { everyItem } = night;
  const changed = everyItem === 0 ? "0" : `CASE WHEN item % ${everyItem} = 7 THEN 1 ELSE 0 END`;
  return `content_id, ${id("field")} AS custom_field_id, ordinal,
    CASE WHEN field < ${SELECTS} THEN ${id("field * 100 + value")} END AS value_id,
    CASE WHEN field < ${SELECTS} THEN 'text of ' || value ELSE 'free text ' || item || ' ' || value END AS value,
    CASE WHEN field < ${SELECTS} THEN ${id("field * 100 + value")} ELSE 'free text ' || item || ' ' || value END
      AS mapping_input,
    field < ${SELECTS} AS mapping_input_is_id
    FROM (
      SELECT ${itemId("item")} AS content_id, item, field, ordinal,
        (item * 7 + field + ordinal + ${changed}) % 10 AS value
      FROM range(${night.items}) i(item), range(${FIELDS}) f(field), range(2) o(ordinal)
      WHERE hash(item, field) % 100 < ${night.share}
        AND (ordinal = 0 OR (field < ${MULTISELECTS} AND hash(item, field, 1) % 10 < 4))
    )
    ORDER BY content_id, field, ordinal`;
}

function id(expression: string): string {
  return `printf('%024x', ${expression})`;
}
