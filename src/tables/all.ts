/** All tables of the package. */
import { content } from "./content.ts";
import {
  contentCustomFieldValues,
  contentTypeCustomFields,
  customFieldFiles,
  customFieldSelectValues,
  customFields,
} from "./custom-fields.ts";
import type { Table } from "./declare.ts";
import {
  contentExternalPayloads,
  contentMappedValues,
  customFieldMappings,
  customFieldMappingValues,
  destinations,
} from "./destinations.ts";
import { ENTITY_TABLES } from "./entities.ts";
import { HISTORY_TABLES } from "./history.ts";
import { ITEM_TABLES } from "./items.ts";
import { LIST_TABLES } from "./lists.ts";
import { RUN_TABLES } from "./run.ts";

/** Tables made from documents of items and lookups. */
export const CONTENT_TABLES = [
  content,
  ...ITEM_TABLES,
  ...LIST_TABLES,
  ...ENTITY_TABLES,
  customFields,
  customFieldSelectValues,
  contentTypeCustomFields,
  contentCustomFieldValues,
  customFieldFiles,
  destinations,
  customFieldMappings,
  customFieldMappingValues,
] as const satisfies readonly Table[];

export type ContentTableName = (typeof CONTENT_TABLES)[number]["name"];

/** Tables that mapped values are made from. */
export const MAPPED_FROM: readonly ContentTableName[] = [
  "content_custom_field_values",
  "custom_fields",
  "custom_field_select_values",
  "custom_field_mappings",
  "custom_field_mapping_values",
  "destinations",
];

export const MAPPED_VALUE_TABLES: readonly Table[] = [contentMappedValues, contentExternalPayloads];

/** All tables except those about the run. */
export const DATA_TABLES: readonly Table[] = [...CONTENT_TABLES, ...MAPPED_VALUE_TABLES, ...HISTORY_TABLES];

export { RUN_TABLES };

export const TABLES: readonly Table[] = [...DATA_TABLES, ...RUN_TABLES];

export function isRunTable(table: string): boolean {
  return RUN_TABLES.some(({ name }) => name === table);
}
