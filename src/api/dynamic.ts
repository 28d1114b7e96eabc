import { z } from "zod";
import { bodyType, contentType } from "./content-type.ts";
import { customFieldDetail, customFieldValue } from "./custom-field.ts";
import {
  type Default,
  emptyList,
  emptyObject,
  emptyText,
  no,
  none,
  noTitle,
  nothing,
  planned,
  required,
  SHARE_CHANNELS,
  yes,
} from "./defaults.ts";
import { user } from "./user.ts";
import {
  attachment,
  flag,
  instant,
  integer,
  optionalInstant,
  optionalText,
  text,
  textList,
} from "./values.ts";

/** Who may view the content. */
export const acl = z
  .looseObject({
    group_ids: textList,
    user_ids: textList,
    access_summary: text
      .nullable()
      .meta({ description: "PRIVATE, PUBLIC, PRIVATE_INSTANCE or PRIVATE_MEMBERS." }),
  })
  .partial();

/** An initiative that contains the content: `campaign_details` and `initiatives_details`. */
export const campaign = z
  .looseObject({
    id: text,
    name: optionalText,
    created_at: instant,
    updated_at: instant,
    start_date: optionalText,
    end_date: optionalText,
    newsroom_id: text.meta({ description: "Instance ID." }),
  })
  .partial()
  .meta({ description: "A campaign (initiative)." });

export const addedToCollection = z
  .looseObject({ collection_id: text, added_date: optionalInstant })
  .partial();

export const contentFile = z
  .looseObject({
    id: text,
    updated_at: instant,
    url: optionalText,
    filename: optionalText,
    extension: optionalText,
    size: integer.nullable().meta({ description: "Bytes." }),
    public: flag,
    subdomain: optionalText,
    permanent_url: optionalText,
  })
  .partial()
  .meta({ description: "The current content file revision." });

export const contentFileFormat = z.looseObject({ name: optionalText, extensions: textList }).partial();

export const galleryPreviewRevision = z
  .looseObject({
    id: text,
    url: optionalText,
    filename: optionalText,
    extension: optionalText,
    size: integer.nullable().meta({ description: "Bytes." }),
  })
  .partial();

export const currentEditor = z
  .looseObject({
    id: text.meta({ description: "User ID." }),
    name: optionalText,
    avatar_url: optionalText,
    last_seen: integer.nullable().meta({ description: "Seconds since 1970-01-01 UTC." }),
  })
  .partial();

export const instance = z.looseObject({ id: text, name: optionalText, subdomain: optionalText }).partial();

export const nextTask = z
  .looseObject({
    id: text,
    completed: flag,
    completion_action: optionalText,
    deadline: optionalInstant,
    deadline_offset: z.number().nullable(),
    deadline_offset_unit: optionalText,
    deadline_offset_task_id: optionalText,
    deadline_offset_task_action: optionalText,
    description: optionalText,
    position: integer.nullable(),
    state: integer.nullable(),
    owner_ids: textList.meta({ description: "User IDs." }),
  })
  .partial()
  .meta({ description: "The first task that is not completed." });

export const publishedUrl = z
  .looseObject({ external_site_name: optionalText, published_url: optionalText })
  .partial();

export const taskDeadline = z
  .looseObject({ description: optionalText, deadline: optionalInstant, smart_deadline: flag.nullable() })
  .partial();

export const fieldLock = z.looseObject({ locked: flag }).partial();
const contentTypeDetails = contentType.nullable();
const userDetails = user.nullable();
const valuesByField = z.record(z.string(), customFieldValue).meta({ description: "Key: custom field ID." });

const PLAIN = { defaultSet: false, galleryOnly: false, singleItemOnly: false, eventOnly: false };

function column<Schema extends z.ZodType>(schema: Schema, fallback: Default) {
  return { ...PLAIN, schema, default: fallback };
}
function inDefaultSet<Schema extends z.ZodType>(schema: Schema, fallback: Default) {
  return { ...column(schema, fallback), defaultSet: true };
}
function gallery<Schema extends z.ZodType>(schema: Schema, fallback: Default) {
  return { ...column(schema, fallback), galleryOnly: true };
}
function single<Schema extends z.ZodType>(schema: Schema, fallback: Default) {
  return { ...column(schema, fallback), singleItemOnly: true };
}
function event<Schema extends z.ZodType>(schema: Schema, fallback: Default) {
  return { ...single(schema, fallback), eventOnly: true };
}

/** Every column of the dynamic set, in the order of the specification: its schema and its default. */
const COLUMNS = {
  acl: column(acl.nullable(), emptyObject),
  added_to_collection_date: column(
    z
      .record(z.string(), optionalInstant)
      .meta({ description: "Gallery collection ID to the time of adding." }),
    emptyObject,
  ),
  added_to_collection_dates: column(z.array(addedToCollection), emptyList),
  archived: column(flag, no),
  assigned_date: column(optionalInstant, nothing),
  attachments: column(z.array(attachment), emptyList),
  author: inDefaultSet(optionalText.meta({ description: "User ID of the assignee." }), nothing),
  author_details: column(userDetails, nothing),
  available_actions: column(
    textList.meta({ description: "Modifications available to the current user." }),
    emptyList,
  ),
  body_fragment: column(optionalText.meta({ description: "Sanitized version of `content`." }), nothing),
  body_type: column(bodyType, required),
  campaign_details: column(z.array(campaign), emptyList),
  campaigns: column(textList.meta({ description: "Initiative IDs." }), emptyList),
  can_destroy: column(flag.meta({ description: "Whether the current user can delete the content." }), no),
  can_modify: column(flag.meta({ description: "Whether the current user can update the content." }), no),
  categories: column(textList, emptyList),
  categories_array: column(textList, emptyList),
  collection_uids: gallery(textList.meta({ description: "Gallery collection IDs." }), emptyList),
  completed_date: inDefaultSet(optionalInstant, nothing),
  content: column(text.nullable().meta({ description: "HTML body." }), emptyText),
  content_file: column(contentFile.nullable(), nothing),
  content_file_format: column(contentFileFormat.nullable(), required),
  content_number: column(integer.nullable(), nothing),
  content_thumbnail_url: column(optionalText, nothing),
  content_type: inDefaultSet(text.meta({ description: "Content type ID." }), required),
  content_type_details: column(contentTypeDetails, required),
  created_at: inDefaultSet(instant, required),
  creator: column(text.nullable().meta({ description: "User ID of the creator." }), required),
  creator_details: column(userDetails, required),
  currently_editing: column(z.array(currentEditor), emptyList),
  custom_field_value_ids: column(valuesByField, emptyObject),
  custom_field_values: column(valuesByField, emptyObject),
  custom_fields: column(valuesByField, emptyObject),
  custom_fields_details: column(z.array(customFieldDetail), emptyList),
  deleted_at: inDefaultSet(optionalInstant, nothing),
  discussion_url: column(text.nullable(), required),
  download_url: gallery(optionalText, nothing),
  event_end_date: event(optionalText.meta({ description: "MM/DD/YY." }), nothing),
  event_start_date: event(optionalText.meta({ description: "MM/DD/YY." }), nothing),
  excerpt: column(optionalText, nothing),
  favorite: column(flag.meta({ description: "Favorited by the current user." }), no),
  favorite_count: column(integer, { value: 0 }),
  favorite_dates: column(z.array(optionalInstant), emptyList),
  favorited_by_users: column(textList.meta({ description: "User IDs." }), emptyList),
  field_locks: column(z.record(z.string(), fieldLock).nullable(), required),
  full_content_type: column(contentTypeDetails, required),
  gallery_bundle_can_download: gallery(flag, yes),
  gallery_bundle_can_share: gallery(flag, yes),
  gallery_bundle_settings_overridden: gallery(flag, no),
  gallery_can_bundle: gallery(flag, no),
  gallery_can_download: gallery(flag, yes),
  gallery_can_share: gallery(flag, yes),
  gallery_preview_revision: gallery(galleryPreviewRevision.nullable(), nothing),
  gallery_preview_revision_id: gallery(optionalText, nothing),
  gallery_share_settings: gallery(
    textList.meta({ description: "Channels that the content can be shared to." }),
    { value: SHARE_CHANNELS },
  ),
  gallery_viewer_compatibility: gallery(
    text.meta({ description: "none, pdf, doc_provider, photo, video or audio." }),
    none,
  ),
  doc_provider_file_id: gallery(optionalText, nothing),
  doc_provider_preview_url: gallery(optionalText, nothing),
  id: inDefaultSet(text.meta({ description: "Content ID." }), required),
  initiatives_details: column(z.array(campaign), emptyList),
  instance: column(instance.nullable(), required),
  service_url: column(text.meta({ description: "Canonical URL." }), required),
  latitude: event(z.number().nullable(), nothing),
  library_tracking_url: column(optionalText, nothing),
  localized_from_id: column(optionalText.meta({ description: "Parent content ID." }), nothing),
  locked: inDefaultSet(flag, no),
  longitude: event(z.number().nullable(), nothing),
  marketing_automation_url: column(optionalText, nothing),
  media_url: column(optionalText, nothing),
  newsroom_id: column(text.meta({ description: "Instance ID." }), required),
  next_task: column(nextTask.nullable(), nothing),
  next_task_deadline: column(optionalInstant, nothing),
  next_task_owner: column(textList.meta({ description: "User IDs." }), emptyList),
  next_task_title: column(optionalText, nothing),
  payment: single(z.number().nullable(), nothing),
  personas: column(textList, emptyList),
  pinned: gallery(flag, no),
  pinned_collection_rank: gallery(
    z.record(z.string(), integer.nullable()).meta({ description: "Gallery collection ID to position." }),
    emptyObject,
  ),
  place_id: event(optionalText, nothing),
  preferred_title: column(text, noTitle),
  preferred_title_sort: column(text, noTitle),
  previewable_custom_field_values: column(valuesByField, emptyObject),
  progress_stage: inDefaultSet(text, planned),
  publish_destination: column(optionalText, nothing),
  published: inDefaultSet(flag, no),
  published_date: column(optionalInstant, nothing),
  published_url: inDefaultSet(optionalText, nothing),
  published_urls: inDefaultSet(z.array(publishedUrl), emptyList),
  repository_notes: column(optionalText, nothing),
  crm_shared_with_ids: column(textList, emptyList),
  slug: inDefaultSet(text, required),
  stages: column(textList, emptyList),
  synced_to_gallery_date: column(optionalInstant, nothing),
  tags: column(textList, emptyList),
  task_deadlines: column(z.array(taskDeadline), emptyList),
  tasks_begin_at: single(optionalInstant, nothing),
  tasks_end_at: single(optionalInstant, nothing),
  thumbnail_url: column(optionalText, nothing),
  timezone_name: event(optionalText, nothing),
  title: column(optionalText, nothing),
  updated: column(instant, required),
  updated_at: inDefaultSet(instant, required),
  url: inDefaultSet(text, required),
  viewer_compatibility: column(
    text.meta({ description: "none, pdf, doc_provider, photo, video or audio." }),
    none,
  ),
  webinar_playback_url: column(optionalText, nothing),
  wordcount: column(integer.nullable(), nothing),
  social_media_channel: column(optionalText, nothing),
  status: inDefaultSet(z.unknown().meta({ description: "Type not specified." }), nothing),
};

/** API name of a dynamic column. */
export type DynamicColumnName = keyof typeof COLUMNS;

/** How a column of the dynamic set is sent. */
export interface DynamicColumn {
  readonly schema: z.ZodType;
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

/** Every column by its API name: its default, and what a request must say to get it. */
export const DYNAMIC_COLUMNS: Readonly<Record<DynamicColumnName, DynamicColumn>> = COLUMNS;

/** Names of all dynamic columns, in the order of the specification. */
export const DYNAMIC_COLUMN_NAMES = Object.keys(DYNAMIC_COLUMNS).filter(isDynamicColumn);

/** Whether the contract knows a column of this name. */
export function isDynamicColumn(name: string): name is DynamicColumnName {
  return Object.hasOwn(DYNAMIC_COLUMNS, name);
}

const schemas = Object.fromEntries(DYNAMIC_COLUMN_NAMES.map((name) => [name, COLUMNS[name].schema])) as {
  [Name in DynamicColumnName]: (typeof COLUMNS)[Name]["schema"];
};

/** An item of the dynamic set. Which columns it has depends on the request; `id` is always there. */
export const dynamicItem = z
  .looseObject(schemas)
  .partial()
  .required({ id: true })
  .meta({ description: "A content item of the dynamic set." });
export type DynamicItem = z.infer<typeof dynamicItem>;
