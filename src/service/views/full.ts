import { FULL_DEFAULTS } from "../../api/defaults.ts";
import { BASIC_VIEW } from "./basic.ts";
import { fullCustomFields } from "./custom-fields.ts";
import { firstPublishedUrl, userOf } from "./facts.ts";
import { type Computed, viewColumns } from "./view.ts";

/** How the fields that `detail=full` adds to basic are computed. */
const ADDED: Computed<keyof typeof FULL_DEFAULTS> = {
  last_updated_by_details: (item) => userOf(item, item.document.last_updated_by)?.extended,
  owner_details: (item) => userOf(item, item.document.owner)?.extended,
  custom_fields: fullCustomFields,
  last_updated_by: (item) => userOf(item, item.document.last_updated_by)?.plain,
  persona_ids: ({ document }) => document.personas,
  published_url: ({ document }) => firstPublishedUrl(document),
  stage_ids: ({ document }) => document.stages,
};

export const FULL_VIEW = [...BASIC_VIEW, ...viewColumns(ADDED, FULL_DEFAULTS)];
