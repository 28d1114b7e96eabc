/** x */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col } from "../../common/answer.ts";
import { readRows } from "../../storage/typed-rows.ts";
import {
  DESTINATION,
  type Definitions,
  ENTRY,
  FIELD,
  indexDefinitions,
  MAPPING,
  SELECT_VALUE,
} from "../mapping/definitions.ts";

const required = { required: true } as const;
const ENTRY_OF_MAPPING = { ...ENTRY, mappingId: col.text(required) } as const;
const MAPPING_OF_FIELD = { ...MAPPING, customFieldId: col.text(required) } as const;
const VALUE_OF_FIELD = { ...SELECT_VALUE, customFieldId: col.text(required) } as const;

const ENTRIES = "FROM custom_field_mapping_values ORDER BY ordinal, mapping_value_id";
const MAPPINGS = "FROM custom_field_mappings ORDER BY ordinal, mapping_id";
const SELECT_VALUES = "FROM custom_field_select_values ORDER BY ordinal, value_id";

/** Definitions, mappings and destinations of the run. */
export async function readDefinitions(connection: DuckDBConnection): Promise<Definitions> {
  const entryRows = await readRows(connection, ENTRY_OF_MAPPING, ENTRIES);
  const entries = Map.groupBy(entryRows, ({ mappingId }) => mappingId);
  const mappingRows = await readRows(connection, MAPPING_OF_FIELD, MAPPINGS);
  const mappings = Map.groupBy(mappingRows, ({ customFieldId }) => customFieldId);
  const valueRows = await readRows(connection, VALUE_OF_FIELD, SELECT_VALUES);
  const selectValues = Map.groupBy(valueRows, ({ customFieldId }) => customFieldId);
  const fields = await readRows(
    connection,
    FIELD,
    `SELECT custom_field_id, name, field_type FROM custom_fields
     UNION ALL BY NAME
     SELECT DISTINCT custom_field_id FROM custom_field_mappings ANTI JOIN custom_fields USING (custom_field_id)`,
  );
  return indexDefinitions(
    fields.map((field) => ({
      ...field,
      selectValues: selectValues.get(field.customFieldId) ?? [],
      mappings: (mappings.get(field.customFieldId) ?? []).map((mapping) => ({
        ...mapping,
        entries: entries.get(mapping.mappingId) ?? [],
      })),
    })),
    await readRows(
      connection,
      DESTINATION,
      "SELECT destination_id, identification, supports_custom_field_mappings AS supports_mappings FROM destinations",
    ),
  );
}

