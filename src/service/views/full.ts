import { FULL_DEFAULTS } from "../../api/defaults.ts";
import { BASIC_VIEW } from "./basic.ts";
import { fullCustomFields } from "./custom-fields.ts";
import { firstPublishedUrl, userOf } from "./facts.ts";
import { type Compute, viewColumns } from "./view.ts";

/** How each field that `detail=full` adds to basic is computed. */
const ADDED: Readonly<Record<keyof typeof FULL_DEFAULTS, Compute>> = {
  last_updated_by_details: (item) => userOf(item, item.document.last_updated_by)?.extended,
  owner_details: (item) => userOf(item, item.document.owner)?.extended,
  owner: ({ document }) => document.owner,
  attachments: ({ document }) => document.attachments,
  content: ({ document }) => document.content,
  custom_fields: fullCustomFields,
  last_updated_by: (item) => userOf(item, item.document.last_updated_by)?.plain,
  library_tracking_url: ({ document }) => document.library_tracking_url,
  media_url: ({ document }) => document.media_url,
  persona_ids: ({ document }) => document.personas,
  published_url: ({ document }) => firstPublishedUrl(document),
  stage_ids: ({ document }) => document.stages,
  tags: ({ document }) => document.tags,
};

export const FULL_VIEW = [...BASIC_VIEW, ...viewColumns(ADDED, FULL_DEFAULTS)];
