import { z } from "zod";
import { bodyType, contentType } from "./content-type.ts";
import { customFieldDetail, customFieldValue } from "./custom-field.ts";
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
export type DynamicCampaign = z.infer<typeof campaign>;

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
export type DynamicContentFile = z.infer<typeof contentFile>;

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
export type DynamicNextTask = z.infer<typeof nextTask>;

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

/**
 * Every column of the dynamic set, in the order of the specification. What is sent by default, what needs
 * `gallery=true` and what only single-item requests give stands in `DYNAMIC_COLUMNS`.
 */
const columns = {
  acl: acl.nullable(),
  added_to_collection_date: z
    .record(z.string(), optionalInstant)
    .meta({ description: "Gallery collection ID to the time of adding." }),
  added_to_collection_dates: z.array(addedToCollection),
  archived: flag,
  assigned_date: optionalInstant,
  attachments: z.array(attachment),
  author: optionalText.meta({ description: "User ID of the assignee." }),
  author_details: userDetails,
  available_actions: textList.meta({ description: "Modifications available to the current user." }),
  body_fragment: optionalText.meta({ description: "Sanitized version of `content`." }),
  body_type: bodyType,
  campaign_details: z.array(campaign),
  campaigns: textList.meta({ description: "Initiative IDs." }),
  can_destroy: flag.meta({ description: "Whether the current user can delete the content." }),
  can_modify: flag.meta({ description: "Whether the current user can update the content." }),
  categories: textList,
  categories_array: textList,
  collection_uids: textList.meta({ description: "Gallery collection IDs." }),
  completed_date: optionalInstant,
  content: text.nullable().meta({ description: "HTML body." }),
  content_file: contentFile.nullable(),
  content_file_format: contentFileFormat.nullable(),
  content_number: integer.nullable(),
  content_thumbnail_url: optionalText,
  content_type: text.meta({ description: "Content type ID." }),
  content_type_details: contentTypeDetails,
  created_at: instant,
  creator: text.nullable().meta({ description: "User ID of the creator." }),
  creator_details: userDetails,
  currently_editing: z.array(currentEditor),
  custom_field_value_ids: valuesByField,
  custom_field_values: valuesByField,
  custom_fields: valuesByField,
  custom_fields_details: z.array(customFieldDetail),
  deleted_at: optionalInstant,
  discussion_url: text.nullable(),
  download_url: optionalText,
  event_end_date: optionalText.meta({ description: "MM/DD/YY." }),
  event_start_date: optionalText.meta({ description: "MM/DD/YY." }),
  excerpt: optionalText,
  favorite: flag.meta({ description: "Favorited by the current user." }),
  favorite_count: integer,
  favorite_dates: z.array(optionalInstant),
  favorited_by_users: textList.meta({ description: "User IDs." }),
  field_locks: z.record(z.string(), fieldLock).nullable(),
  full_content_type: contentTypeDetails,
  gallery_bundle_can_download: flag,
  gallery_bundle_can_share: flag,
  gallery_bundle_settings_overridden: flag,
  gallery_can_bundle: flag,
  gallery_can_download: flag,
  gallery_can_share: flag,
  gallery_preview_revision: galleryPreviewRevision.nullable(),
  gallery_preview_revision_id: optionalText,
  gallery_share_settings: textList.meta({ description: "Channels that the content can be shared to." }),
  gallery_viewer_compatibility: text.meta({ description: "none, pdf, doc_provider, photo, video or audio." }),
  doc_provider_file_id: optionalText,
  doc_provider_preview_url: optionalText,
  id: text.meta({ description: "Content ID." }),
  initiatives_details: z.array(campaign),
  instance: instance.nullable(),
  service_url: text.meta({ description: "Canonical URL." }),
  latitude: z.number().nullable(),
  library_tracking_url: optionalText,
  localized_from_id: optionalText.meta({ description: "Parent content ID." }),
  locked: flag,
  longitude: z.number().nullable(),
  marketing_automation_url: optionalText,
  media_url: optionalText,
  newsroom_id: text.meta({ description: "Instance ID." }),
  next_task: nextTask.nullable(),
  next_task_deadline: optionalInstant,
  next_task_owner: textList.meta({ description: "User IDs." }),
  next_task_title: optionalText,
  payment: z.number().nullable(),
  personas: textList,
  pinned: flag,
  pinned_collection_rank: z
    .record(z.string(), integer.nullable())
    .meta({ description: "Gallery collection ID to position." }),
  place_id: optionalText,
  preferred_title: text,
  preferred_title_sort: text,
  previewable_custom_field_values: valuesByField,
  progress_stage: text,
  publish_destination: optionalText,
  published: flag,
  published_date: optionalInstant,
  published_url: optionalText,
  published_urls: z.array(publishedUrl),
  repository_notes: optionalText,
  crm_shared_with_ids: textList,
  slug: text,
  stages: textList,
  synced_to_gallery_date: optionalInstant,
  tags: textList,
  task_deadlines: z.array(taskDeadline),
  tasks_begin_at: optionalInstant,
  tasks_end_at: optionalInstant,
  thumbnail_url: optionalText,
  timezone_name: optionalText,
  title: optionalText,
  updated: instant,
  updated_at: instant,
  url: text,
  viewer_compatibility: text.meta({ description: "none, pdf, doc_provider, photo, video or audio." }),
  webinar_playback_url: optionalText,
  wordcount: integer.nullable(),
  social_media_channel: optionalText,
  status: z.unknown().meta({ description: "Type not specified." }),
};

/** An item of the dynamic set. Which columns it has depends on the request; `id` is always there. */
export const dynamicItem = z
  .looseObject(columns)
  .partial()
  .required({ id: true })
  .meta({ description: "A content item of the dynamic set." });
export type DynamicItem = z.infer<typeof dynamicItem>;

/** API name of a dynamic column. */
export type DynamicColumnName = keyof typeof columns;
