import { content, contentEvents, contentFiles, contentGallery, contentNextTasks } from "./content.ts";
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
import { HISTORY_TABLES } from "./history.ts";
import {
  contentAclPrincipals,
  contentAttachments,
  contentAvailableActions,
  contentCampaigns,
  contentCategories,
  contentCollections,
  contentCrmShares,
  contentCurrentEditors,
  contentFavorites,
  contentFileExtensions,
  contentGalleryShareChannels,
  contentNextTaskOwners,
  contentPersonas,
  contentPublishedUrls,
  contentStages,
  contentTags,
  contentTaskDeadlines,
} from "./lists.ts";
import { checks, drift, lineage, passes, rejects, requests, run, tablesTable } from "./run.ts";
import { campaigns, contentTypes, instances, userGroups, users, userToursSeen } from "./shared.ts";

/** Tables that are made from documents of items and of lookups: what the specification's fields land in. */
export const CONTENT_TABLES = [
  content,
  contentGallery,
  contentEvents,
  contentFiles,
  contentNextTasks,
  contentTags,
  contentCategories,
  contentCampaigns,
  contentPersonas,
  contentStages,
  contentAttachments,
  contentPublishedUrls,
  contentTaskDeadlines,
  contentNextTaskOwners,
  contentAvailableActions,
  contentCurrentEditors,
  contentCrmShares,
  contentGalleryShareChannels,
  contentFileExtensions,
  contentFavorites,
  contentCollections,
  contentAclPrincipals,
  contentTypes,
  users,
  userGroups,
  userToursSeen,
  campaigns,
  instances,
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

/** The run's own account of itself; in every warehouse, whatever the pipeline. */
export const RUN_TABLES: readonly Table[] = [
  run,
  passes,
  requests,
  rejects,
  drift,
  checks,
  tablesTable,
  lineage,
];

export const TABLES: readonly Table[] = [...DATA_TABLES, ...RUN_TABLES];

/** Whether a table tells of the run itself, not of content. */
export function isAboutTheRun(table: string): boolean {
  return RUN_TABLES.some(({ name }) => name === table);
}
