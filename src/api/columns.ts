import type { BasicItem } from "./basic.ts";
import type { DynamicColumnName } from "./dynamic.ts";
import type { FullItem } from "./full.ts";

/**
 * What a field is when the service has nothing for it: a JSON value, or `required` where the specification gives
 * no default because every item has one.
 */
export type Default = { readonly required: true } | { readonly value: DefaultValue };
export type DefaultValue =
  | null
  | boolean
  | number
  | string
  | readonly string[]
  | Readonly<Record<string, never>>;

/** How a column of the dynamic set is sent. */
export interface DynamicColumn {
  readonly default: Default;
  /** Sent without being asked for by `columns[]`. */
  readonly defaultSet: boolean;
  /** Sent only where the request says `gallery=true`. */
  readonly galleryOnly: boolean;
  /** Sent only by single-item requests, never in a list. */
  readonly singleItemOnly: boolean;
  /** null on items whose body type is not `event`. */
  readonly eventOnly: boolean;
}

const required: Default = { required: true };
const nothing: Default = { value: null };
const no: Default = { value: false };
const yes: Default = { value: true };
const none: Default = { value: "none" };
const emptyText: Default = { value: "" };
const emptyList: Default = { value: [] };
const emptyObject: Default = { value: {} };
const noTitle: Default = { value: "(no title)" };
const planned: Default = { value: "planned" };

/** Channels that an item can be shared to unless its gallery settings say otherwise. */
export const SHARE_CHANNELS = [
  "published_url",
  "tracking_url",
  "email",
  "social_a",
  "social_b",
  "social_c",
] as const;

const PLAIN = { defaultSet: false, galleryOnly: false, singleItemOnly: false, eventOnly: false } as const;

function column(fallback: Default): DynamicColumn {
  return { ...PLAIN, default: fallback };
}
function inDefaultSet(fallback: Default): DynamicColumn {
  return { ...PLAIN, default: fallback, defaultSet: true };
}
function gallery(fallback: Default): DynamicColumn {
  return { ...PLAIN, default: fallback, galleryOnly: true };
}
function single(fallback: Default): DynamicColumn {
  return { ...PLAIN, default: fallback, singleItemOnly: true };
}
function event(fallback: Default): DynamicColumn {
  return { ...PLAIN, default: fallback, singleItemOnly: true, eventOnly: true };
}

/** Every column of the dynamic set by its API name: its default, and what a request must say to get it. */
export const DYNAMIC_COLUMNS: Readonly<Record<DynamicColumnName, DynamicColumn>> = {
  acl: column(emptyObject),
  added_to_collection_date: column(emptyObject),
  added_to_collection_dates: column(emptyList),
  archived: column(no),
  assigned_date: column(nothing),
  attachments: column(emptyList),
  author: inDefaultSet(nothing),
  author_details: column(nothing),
  available_actions: column(emptyList),
  body_fragment: column(nothing),
  body_type: column(required),
  campaign_details: column(emptyList),
  campaigns: column(emptyList),
  can_destroy: column(no),
  can_modify: column(no),
  categories: column(emptyList),
  categories_array: column(emptyList),
  collection_uids: gallery(emptyList),
  completed_date: inDefaultSet(nothing),
  content: column(emptyText),
  content_file: column(nothing),
  content_file_format: column(required),
  content_number: column(nothing),
  content_thumbnail_url: column(nothing),
  content_type: inDefaultSet(required),
  content_type_details: column(required),
  created_at: inDefaultSet(required),
  creator: column(required),
  creator_details: column(required),
  currently_editing: column(emptyList),
  custom_field_value_ids: column(emptyObject),
  custom_field_values: column(emptyObject),
  custom_fields: column(emptyObject),
  custom_fields_details: column(emptyList),
  deleted_at: inDefaultSet(nothing),
  discussion_url: column(required),
  download_url: gallery(nothing),
  event_end_date: event(nothing),
  event_start_date: event(nothing),
  excerpt: column(nothing),
  favorite: column(no),
  favorite_count: column({ value: 0 }),
  favorite_dates: column(emptyList),
  favorited_by_users: column(emptyList),
  field_locks: column(required),
  full_content_type: column(required),
  gallery_bundle_can_download: gallery(yes),
  gallery_bundle_can_share: gallery(yes),
  gallery_bundle_settings_overridden: gallery(no),
  gallery_can_bundle: gallery(no),
  gallery_can_download: gallery(yes),
  gallery_can_share: gallery(yes),
  gallery_preview_revision: gallery(nothing),
  gallery_preview_revision_id: gallery(nothing),
  gallery_share_settings: gallery({ value: SHARE_CHANNELS }),
  gallery_viewer_compatibility: gallery(none),
  doc_provider_file_id: gallery(nothing),
  doc_provider_preview_url: gallery(nothing),
  id: inDefaultSet(required),
  initiatives_details: column(emptyList),
  instance: column(required),
  service_url: column(required),
  latitude: event(nothing),
  library_tracking_url: column(nothing),
  localized_from_id: column(nothing),
  locked: inDefaultSet(no),
  longitude: event(nothing),
  marketing_automation_url: column(nothing),
  media_url: column(nothing),
  newsroom_id: column(required),
  next_task: column(nothing),
  next_task_deadline: column(nothing),
  next_task_owner: column(emptyList),
  next_task_title: column(nothing),
  payment: single(nothing),
  personas: column(emptyList),
  pinned: gallery(no),
  pinned_collection_rank: gallery(emptyObject),
  place_id: event(nothing),
  preferred_title: column(noTitle),
  preferred_title_sort: column(noTitle),
  previewable_custom_field_values: column(emptyObject),
  progress_stage: inDefaultSet(planned),
  publish_destination: column(nothing),
  published: inDefaultSet(no),
  published_date: column(nothing),
  published_url: inDefaultSet(nothing),
  published_urls: inDefaultSet(emptyList),
  repository_notes: column(nothing),
  crm_shared_with_ids: column(emptyList),
  slug: inDefaultSet(required),
  stages: column(emptyList),
  synced_to_gallery_date: column(nothing),
  tags: column(emptyList),
  task_deadlines: column(emptyList),
  tasks_begin_at: single(nothing),
  tasks_end_at: single(nothing),
  thumbnail_url: column(nothing),
  timezone_name: event(nothing),
  title: column(nothing),
  updated: column(required),
  updated_at: inDefaultSet(required),
  url: inDefaultSet(required),
  viewer_compatibility: column(none),
  webinar_playback_url: column(nothing),
  wordcount: column(nothing),
  social_media_channel: column(nothing),
  status: inDefaultSet(nothing),
};

/** Names of all dynamic columns, in the order of the specification. */
export const DYNAMIC_COLUMN_NAMES = Object.keys(DYNAMIC_COLUMNS).filter(isDynamicColumn);

/** Whether the contract knows a column of this name. */
export function isDynamicColumn(name: string): name is DynamicColumnName {
  return Object.hasOwn(DYNAMIC_COLUMNS, name);
}

/** Defaults of `detail=basic`. */
export const BASIC_DEFAULTS: Readonly<Record<KnownKey<BasicItem>, Default>> = {
  archived: no,
  assignee_id: nothing,
  campaign_ids: emptyList,
  content_type: required,
  creator_id: nothing,
  factory_url: required,
  id: required,
  next_task: { value: "Completed" },
  preferred_title: noTitle,
  progress_stage: planned,
  published_date: nothing,
  slug: required,
  state: { value: "production" },
  title: nothing,
  updated_at: required,
  categories: required,
};

/** Defaults of what `detail=full` adds to basic. */
export const FULL_DEFAULTS: Readonly<Record<Exclude<KnownKey<FullItem>, KnownKey<BasicItem>>, Default>> = {
  last_updated_by_details: nothing,
  owner_details: nothing,
  owner: nothing,
  attachments: emptyList,
  content: emptyText,
  custom_fields: emptyList,
  last_updated_by: nothing,
  library_tracking_url: nothing,
  media_url: nothing,
  persona_ids: emptyList,
  published_url: emptyText,
  stage_ids: emptyList,
  tags: emptyList,
};

/** The declared keys of a loose object's type, without its index signature. */
type KnownKey<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };
