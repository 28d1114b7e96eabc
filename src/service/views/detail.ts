import { BASIC_FIELDS } from "../../api/basic.ts";
import { FULL_FIELDS } from "../../api/full.ts";
import { toSecond } from "../instant.ts";
import { fullCustomFields } from "./custom-fields.ts";
import { addressOf, firstPublishedUrl, nextTask, preferredTitle, userOf } from "./facts.ts";
import { type ColumnFunctions, viewColumns } from "./view.ts";

/** How the fields of `detail=basic` are computed. */
const BASIC: ColumnFunctions<keyof typeof BASIC_FIELDS> = {
  assignee_id: ({ document }) => document.author,
  campaign_ids: ({ document }) => document.campaigns,
  content_type: ({ document, type }) => type?.json ?? document.content_type,
  creator_id: ({ document }) => document.creator,
  factory_url: addressOf.factory,
  next_task: ({ document }) => nextTask(document)?.description,
  preferred_title: preferredTitle,
  updated_at: ({ document }) => toSecond(document.updated_at),
  categories: ({ document }) => document.categories ?? [],
};

/** How the fields that `detail=full` adds are computed. */
const ADDED: ColumnFunctions<keyof typeof FULL_FIELDS> = {
  last_updated_by_details: (item) => userOf(item, item.document.last_updated_by)?.extended,
  owner_details: (item) => userOf(item, item.document.owner)?.extended,
  custom_fields: fullCustomFields,
  last_updated_by: (item) => userOf(item, item.document.last_updated_by)?.plain,
  persona_ids: ({ document }) => document.personas,
  published_url: ({ document }) => firstPublishedUrl(document),
  stage_ids: ({ document }) => document.stages,
};

export const BASIC_VIEW = viewColumns(BASIC, BASIC_FIELDS);
export const FULL_VIEW = [...BASIC_VIEW, ...viewColumns(ADDED, FULL_FIELDS)];
