import { BASIC_DEFAULTS } from "../../api/defaults.ts";
import { toSecond } from "../instant.ts";
import { addressOf, nextTask, preferredTitle } from "./facts.ts";
import { type Compute, viewColumns } from "./view.ts";

type BasicName = keyof typeof BASIC_DEFAULTS;

/** How each field of `detail=basic` is computed. */
const BASIC: Readonly<Record<BasicName, Compute>> = {
  archived: ({ document }) => document.archived,
  assignee_id: ({ document }) => document.author,
  campaign_ids: ({ document }) => document.campaigns,
  content_type: ({ document, type }) => type?.json ?? document.content_type,
  creator_id: ({ document }) => document.creator,
  factory_url: addressOf.factory,
  id: ({ document }) => document.id,
  next_task: ({ document }) => nextTask(document)?.description,
  preferred_title: preferredTitle,
  progress_stage: ({ document }) => document.progress_stage,
  published_date: ({ document }) => document.published_date,
  slug: ({ document }) => document.slug,
  state: ({ document }) => document.state,
  title: ({ document }) => document.title,
  updated_at: ({ document }) => toSecond(document.updated_at),
  categories: ({ document }) => document.categories ?? [],
};

export const BASIC_VIEW = viewColumns(BASIC, BASIC_DEFAULTS);
