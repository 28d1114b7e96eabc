import { content } from "./content.ts";
import {
  contentCustomFieldValues,
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

/** Tables that are made from documents of items and of lookups: what the specification's fields land in. */
export const CONTENT_TABLES = [
  content,
  ...ITEM_TABLES,
  ...LIST_TABLES,
  ...ENTITY_TABLES,
  customFields,
  customFieldSelectValues,
  contentCustomFieldValues,
  customFieldFiles,
  destinations,
  customFieldMappings,
  customFieldMappingValues,
] as const satisfies readonly Table[];

export type ContentTableName = (typeof CONTENT_TABLES)[number]["name"];

/** Tables that mapped values are made into. */
export const MAPPED_VALUE_TABLES: readonly Table[] = [contentMappedValues, contentExternalPayloads];

/** Tables of the content. */
export const DATA_TABLES: readonly Table[] = [...CONTENT_TABLES, ...MAPPED_VALUE_TABLES, ...HISTORY_TABLES];

export { RUN_TABLES };

export const TABLES: readonly Table[] = [...DATA_TABLES, ...RUN_TABLES];

/** Whether a table tells of the run itself, not of content. */
export function isRunTable(table: string): boolean {
  return RUN_TABLES.some(({ name }) => name === table);
}
