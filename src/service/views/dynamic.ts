import type { DynamicColumnName } from "../../api/dynamic.ts";
import { DYNAMIC_COLUMN_NAMES, DYNAMIC_COLUMNS, isDynamicColumn } from "../../api/dynamic.ts";
import type { Document } from "../content-set.ts";
import { sortableInstant, toSecond } from "../instant.ts";
import { availableActions, canDestroy, canModify } from "../permissions.ts";
import {
  customFields,
  customFieldsDetails,
  customFieldValueIds,
  customFieldValues,
  previewableCustomFieldValues,
} from "./custom-fields.ts";
import { addressOf, campaignsOf, firstPublishedUrl, nextTask, preferredTitle, userOf } from "./facts.ts";
import { type Compute, type Item, type ViewColumn, viewColumn } from "./view.ts";

/** What a request of the dynamic set says about its columns. */
export interface ColumnRequest {
  /** As asked for by `columns[]`; names that the contract does not know are passed over. */
  readonly columns: readonly string[];
  /** `gallery=true`. */
  readonly gallery: boolean;
  readonly singleItem: boolean;
}

/** The default set, then the requested columns that this request may have. */
export function dynamicView({ columns, gallery, singleItem }: ColumnRequest): ViewColumn[] {
  const asked = columns.filter(isDynamicColumn).filter((name) => {
    const { galleryOnly, singleItemOnly } = DYNAMIC_COLUMNS[name];
    return (gallery || !galleryOnly) && (singleItem || !singleItemOnly);
  });
  return [...new Set([...DEFAULT_SET, ...asked])].map((name) =>
    viewColumn(name, DYNAMIC[name], DYNAMIC_COLUMNS[name].default),
  );
}

const DEFAULT_SET = DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name].defaultSet);

/** A fact of the document as it is, under its own name. */
function fact(name: keyof Document): Compute {
  return ({ document }) => document[name];
}

function gallery(name: keyof NonNullable<Document["gallery"]>): Compute {
  return ({ document }) => document.gallery?.[name];
}

/** A fact of events; other items have null, whatever their document says. */
function event(name: keyof NonNullable<Document["event"]>): Compute {
  return ({ document, type }) => (type?.bodyType === "event" ? document.event?.[name] : undefined);
}

function collections({ document }: Item) {
  return document.gallery?.collections ?? [];
}

/** Deadlines of all tasks, earliest first. */
function deadlines({ document }: Item): string[] {
  const known = (document.tasks ?? []).map(({ deadline }) => deadline).filter((at) => at !== null);
  return known.sort((a, b) => (sortableInstant(a) < sortableInstant(b) ? -1 : 1));
}

/** How each column is computed. */
const DYNAMIC: Readonly<Record<DynamicColumnName, Compute>> = {
  acl: fact("acl"),
  added_to_collection_date: (item) =>
    Object.fromEntries(collections(item).map((one) => [one.collection_id, one.added_date])),
  added_to_collection_dates: (item) =>
    collections(item).map(({ collection_id, added_date }) => ({ collection_id, added_date })),
  archived: fact("archived"),
  assigned_date: fact("assigned_date"),
  attachments: fact("attachments"),
  author: fact("author"),
  author_details: (item) => userOf(item, item.document.author)?.dynamic,
  available_actions: ({ actor, document }) => availableActions(actor, document),
  body_fragment: fact("body_fragment"),
  body_type: ({ type }) => type?.bodyType ?? "no_body",
  campaign_details: campaignsOf,
  campaigns: fact("campaigns"),
  can_destroy: ({ actor, document }) => canDestroy(actor, document),
  can_modify: ({ actor, document }) => canModify(actor, document),
  categories: fact("categories"),
  categories_array: fact("categories"),
  collection_uids: (item) => collections(item).map(({ collection_id }) => collection_id),
  completed_date: fact("completed_date"),
  content: fact("content"),
  content_file: fact("content_file"),
  content_file_format: ({ type }) => type?.fileFormat,
  content_number: fact("content_number"),
  content_thumbnail_url: fact("content_thumbnail_url"),
  content_type: fact("content_type"),
  content_type_details: ({ type }) => type?.json,
  created_at: fact("created_at"),
  creator: fact("creator"),
  creator_details: (item) => userOf(item, item.document.creator)?.dynamic,
  currently_editing: fact("currently_editing"),
  custom_field_value_ids: customFieldValueIds,
  custom_field_values: customFieldValues,
  custom_fields: customFields,
  custom_fields_details: customFieldsDetails,
  deleted_at: fact("deleted_at"),
  discussion_url: (item) => item.document.discussion_url ?? addressOf.discussion(item),
  download_url: gallery("download_url"),
  event_end_date: event("event_end_date"),
  event_start_date: event("event_start_date"),
  excerpt: fact("excerpt"),
  favorite: ({ actor, document }) => document.favorites?.some(({ user_id }) => user_id === actor.id),
  favorite_count: ({ document }) => document.favorites?.length,
  favorite_dates: ({ document }) => document.favorites?.map(({ date }) => date),
  favorited_by_users: ({ document }) => document.favorites?.map(({ user_id }) => user_id),
  field_locks: ({ document }) => document.field_locks ?? {},
  full_content_type: ({ type }) => type?.json,
  gallery_bundle_can_download: gallery("gallery_bundle_can_download"),
  gallery_bundle_can_share: gallery("gallery_bundle_can_share"),
  gallery_bundle_settings_overridden: gallery("gallery_bundle_settings_overridden"),
  gallery_can_bundle: gallery("gallery_can_bundle"),
  gallery_can_download: gallery("gallery_can_download"),
  gallery_can_share: gallery("gallery_can_share"),
  gallery_preview_revision: gallery("gallery_preview_revision"),
  gallery_preview_revision_id: ({ document }) => document.gallery?.gallery_preview_revision?.id,
  gallery_share_settings: gallery("gallery_share_settings"),
  gallery_viewer_compatibility: gallery("gallery_viewer_compatibility"),
  doc_provider_file_id: gallery("doc_provider_file_id"),
  doc_provider_preview_url: gallery("doc_provider_preview_url"),
  id: fact("id"),
  initiatives_details: campaignsOf,
  instance: ({ set }) => set.instance,
  service_url: addressOf.service,
  latitude: event("latitude"),
  library_tracking_url: fact("library_tracking_url"),
  localized_from_id: fact("localized_from_id"),
  locked: fact("locked"),
  longitude: event("longitude"),
  marketing_automation_url: fact("marketing_automation_url"),
  media_url: fact("media_url"),
  newsroom_id: ({ set }) => set.instance.id,
  next_task: ({ document }) => nextTask(document),
  next_task_deadline: ({ document }) => nextTask(document)?.deadline,
  next_task_owner: ({ document }) => nextTask(document)?.owner_ids,
  next_task_title: ({ document }) => nextTask(document)?.description,
  payment: fact("payment"),
  personas: fact("personas"),
  pinned: gallery("pinned"),
  pinned_collection_rank: (item) =>
    Object.fromEntries(
      collections(item)
        .filter(({ rank }) => rank !== undefined)
        .map(({ collection_id, rank }) => [collection_id, rank]),
    ),
  place_id: event("place_id"),
  preferred_title: preferredTitle,
  preferred_title_sort: (item) => preferredTitle(item).toLowerCase(),
  previewable_custom_field_values: previewableCustomFieldValues,
  progress_stage: fact("progress_stage"),
  publish_destination: fact("publish_destination"),
  published: fact("published"),
  published_date: fact("published_date"),
  published_url: ({ document }) => firstPublishedUrl(document),
  published_urls: fact("published_urls"),
  repository_notes: fact("repository_notes"),
  crm_shared_with_ids: fact("crm_shared_with_ids"),
  slug: fact("slug"),
  stages: fact("stages"),
  synced_to_gallery_date: fact("synced_to_gallery_date"),
  tags: fact("tags"),
  task_deadlines: ({ document }) =>
    document.tasks?.map(({ description, deadline, deadline_offset }) => ({
      description,
      deadline,
      // A deadline that is an offset from something else moves with it.
      smart_deadline: deadline_offset !== null,
    })),
  tasks_begin_at: (item) => deadlines(item)[0],
  tasks_end_at: (item) => deadlines(item).at(-1),
  thumbnail_url: fact("thumbnail_url"),
  timezone_name: event("timezone_name"),
  title: fact("title"),
  updated: ({ document }) => toSecond(document.updated_at),
  updated_at: fact("updated_at"),
  url: addressOf.canonical,
  viewer_compatibility: fact("viewer_compatibility"),
  webinar_playback_url: fact("webinar_playback_url"),
  wordcount: fact("wordcount"),
  social_media_channel: fact("social_media_channel"),
  status: fact("status"),
};
