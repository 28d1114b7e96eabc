/** The views of an item at the three levels of detail: how each column is computed. */
import { BASIC_FIELDS } from "../../api/basic.ts";
import {
  DYNAMIC_COLUMN_NAMES,
  DYNAMIC_COLUMNS,
  type DynamicColumnName,
  isDynamicColumn,
} from "../../api/dynamic.ts";
import { FULL_FIELDS } from "../../api/full.ts";
import { sortableInstant, toSecond } from "../content-set.ts";
import { availableActions, canDestroy, canModify } from "../permissions.ts";
import type { ViewRequest } from "../query.ts";
import { CUSTOM_FIELD_COLUMNS, fullCustomFields } from "./custom-fields.ts";
import {
  addressOf,
  type ColumnFunction,
  campaignsOf,
  firstPublishedUrl,
  nextTask,
  preferredTitle,
  userOf,
  type ViewColumn,
  type ViewItem,
  viewColumns,
} from "./view.ts";

type ColumnFunctions<Name extends string> = Readonly<Partial<Record<Name, ColumnFunction>>>;

/** Columns of `detail=basic`; a column that is not named here shows the document's fact of the same name. */
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

/** Columns that `detail=full` adds. */
const FULL: ColumnFunctions<keyof typeof FULL_FIELDS> = {
  last_updated_by_details: (item) => userOf(item, item.document.last_updated_by)?.extended,
  owner_details: (item) => userOf(item, item.document.owner)?.extended,
  custom_fields: fullCustomFields,
  last_updated_by: (item) => userOf(item, item.document.last_updated_by)?.plain,
  persona_ids: ({ document }) => document.personas,
  published_url: ({ document }) => firstPublishedUrl(document),
  stage_ids: ({ document }) => document.stages,
};

const BASIC_VIEW = viewColumns(BASIC, BASIC_FIELDS);
const FULL_VIEW = [...BASIC_VIEW, ...viewColumns(FULL, FULL_FIELDS)];

/** Columns of the view that a request asks for. */
export function viewOf(request: ViewRequest, singleItem: boolean): readonly ViewColumn[] {
  if (request.detail === "basic") return BASIC_VIEW;
  return request.detail === "full" ? FULL_VIEW : dynamicView(request, singleItem);
}

/** The default set, then the requested columns that the request may have. */
function dynamicView({ columns, gallery }: ViewRequest, singleItem: boolean): ViewColumn[] {
  const asked = columns.filter(isDynamicColumn).filter((name) => {
    const { galleryOnly, singleItemOnly } = DYNAMIC_COLUMNS[name];
    return (gallery || !galleryOnly) && (singleItem || !singleItemOnly);
  });
  return [...new Set([...DEFAULT_SET, ...asked])].flatMap((name) => COLUMNS.get(name) ?? []);
}

const DEFAULT_SET = DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name].defaultSet);

function collections({ document }: ViewItem) {
  return document.gallery?.collections ?? [];
}

/** Deadlines of all tasks, earliest first. */
function deadlines({ document }: ViewItem): string[] {
  const known = (document.tasks ?? []).map(({ deadline }) => deadline).filter((at) => at !== null);
  return known.sort((a, b) => (sortableInstant(a) < sortableInstant(b) ? -1 : 1));
}

/** Columns of the dynamic set. */
const DYNAMIC: ColumnFunctions<DynamicColumnName> = {
  added_to_collection_date: (item) =>
    Object.fromEntries(collections(item).map(({ collection_id, added_date }) => [collection_id, added_date])),
  added_to_collection_dates: (item) =>
    collections(item).map(({ collection_id, added_date }) => ({ collection_id, added_date })),
  author_details: (item) => userOf(item, item.document.author)?.dynamic,
  available_actions: ({ actor, document }) => availableActions(actor, document),
  body_type: ({ type }) => type?.bodyType ?? "no_body",
  campaign_details: campaignsOf,
  can_destroy: ({ actor, document }) => canDestroy(actor, document),
  can_modify: ({ actor, document }) => canModify(actor, document),
  categories_array: ({ document }) => document.categories,
  collection_uids: (item) => collections(item).map(({ collection_id }) => collection_id),
  content_file_format: ({ type }) => type?.fileFormat,
  content_type_details: ({ type }) => type?.json,
  creator_details: (item) => userOf(item, item.document.creator)?.dynamic,
  ...CUSTOM_FIELD_COLUMNS,
  discussion_url: addressOf.discussion,
  favorite: ({ actor, document }) => document.favorites?.some(({ user_id }) => user_id === actor.id),
  favorite_count: ({ document }) => document.favorites?.length,
  favorite_dates: ({ document }) => document.favorites?.map(({ date }) => date),
  favorited_by_users: ({ document }) => document.favorites?.map(({ user_id }) => user_id),
  field_locks: () => ({}),
  full_content_type: ({ type }) => type?.json,
  gallery_preview_revision_id: ({ document }) => document.gallery?.gallery_preview_revision?.id,
  initiatives_details: campaignsOf,
  instance: ({ set }) => set.instance,
  service_url: addressOf.service,
  newsroom_id: ({ set }) => set.instance.id,
  next_task: ({ document }) => nextTask(document),
  next_task_deadline: ({ document }) => nextTask(document)?.deadline,
  next_task_owner: ({ document }) => nextTask(document)?.owner_ids,
  next_task_title: ({ document }) => nextTask(document)?.description,
  pinned_collection_rank: (item) =>
    Object.fromEntries(
      collections(item)
        .filter(({ rank }) => rank !== undefined)
        .map(({ collection_id, rank }) => [collection_id, rank]),
    ),
  preferred_title: preferredTitle,
  preferred_title_sort: (item) => preferredTitle(item)?.toLowerCase(),
  published_url: ({ document }) => firstPublishedUrl(document),
  task_deadlines: ({ document }) =>
    document.tasks?.map(({ description, deadline, deadline_offset }) => ({
      description,
      deadline,
      // A deadline with an offset moves with the task that it depends on.
      smart_deadline: deadline_offset !== null,
    })),
  tasks_begin_at: (item) => deadlines(item)[0],
  tasks_end_at: (item) => deadlines(item).at(-1),
  updated: ({ document }) => toSecond(document.updated_at),
  url: addressOf.canonical,
};

/** Names of the columns that a document does not state, because they follow from it. */
export const COMPUTED_COLUMNS: ReadonlySet<string> = new Set(Object.keys(DYNAMIC));

const COLUMNS = new Map(viewColumns(DYNAMIC, DYNAMIC_COLUMNS).map((column) => [column.name, column]));
