import { BASIC_DEFAULTS } from "../../api/defaults.ts";
import { toSecond } from "../instant.ts";
import { addressOf, nextTask, preferredTitle } from "./facts.ts";
import { type Computed, viewColumns } from "./view.ts";

/** How the fields of `detail=basic` are computed. */
const BASIC: Computed<keyof typeof BASIC_DEFAULTS> = {
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

export const BASIC_VIEW = viewColumns(BASIC, BASIC_DEFAULTS);
