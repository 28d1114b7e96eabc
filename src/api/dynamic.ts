/** The columns of the dynamic set: schemas, defaults, and how each is sent. */
import { z } from "zod";
import { customFieldDetail, fileValue } from "./custom-field.ts";
import { field, type ItemField, NO_DEFAULT, schemasOf } from "./field.ts";
import { currentEditor, optionalUserId, user } from "./user.ts";
import {
  attachment,
  bodyType,
  contentType,
  flag,
  instant,
  integer,
  optionalInstant,
  optionalText,
  partial,
  text,
  textList,
} from "./values.ts";

const userIds = z.array(optionalUserId).describe("User IDs.");

/** Who may view the content. */
export const acl = partial({
  group_ids: textList,
  user_ids: userIds,
  access_summary: text.nullable().describe("PRIVATE, PUBLIC, PRIVATE_INSTANCE or PRIVATE_MEMBERS."),
});

/** An initiative that contains the content: `campaign_details` and `initiatives_details`. */
export const campaign = partial({
  id: text,
  name: optionalText,
  created_at: instant,
  updated_at: instant,
  start_date: optionalText,
  end_date: optionalText,
  newsroom_id: text.describe("Instance ID."),
}).describe("A campaign (initiative).");

const addedToCollection = partial({ collection_id: text, added_date: optionalInstant });

export const contentFile = partial({
  id: text,
  updated_at: instant,
  url: optionalText,
  filename: optionalText,
  extension: optionalText,
  size: integer.nullable().describe("Bytes."),
  public: flag,
  subdomain: optionalText,
  permanent_url: optionalText,
}).describe("The current content file revision.");

const contentFileFormat = partial({ name: optionalText, extensions: textList });

const galleryPreviewRevision = partial({
  id: text,
  url: optionalText,
  filename: optionalText,
  extension: optionalText,
  size: integer.nullable().describe("Bytes."),
});

export const instance = partial({ id: text, name: optionalText, subdomain: optionalText });

export const nextTask = partial({
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
  owner_ids: userIds,
}).describe("The first task that is not completed.");

const publishedUrl = partial({ external_site_name: optionalText, published_url: optionalText });

const taskDeadline = partial({
  description: optionalText,
  deadline: optionalInstant,
  smart_deadline: flag.nullable(),
});

export const fieldLock = partial({ locked: flag });
const contentTypeDetails = contentType.nullable();
const userDetails = user.nullable();

/** Any JSON value is allowed, since field types differ. */
const customFieldValue = z.union([
  z.string(),
  z.null(),
  z.array(z.unknown()),
  fileValue,
  z.number(),
  z.boolean(),
]);
const valuesByField = z.record(z.string(), customFieldValue).describe("Key: custom field ID.");

/** How a column of the dynamic set is sent. */
export interface DynamicColumn extends ItemField {
  /** Sent without being named in `columns[]`. */
  readonly defaultSet: boolean;
  /** Sent only for `gallery=true`. */
  readonly galleryOnly: boolean;
  /** Sent only by single-item requests, never in a list. */
  readonly singleItemOnly: boolean;
  /** null unless the body type of the item is `event`. */
  readonly eventOnly: boolean;
  /**
   * Why the column may change although the item was not edited: it depends on the moment or on who asks (`volatile`), or
   * it describes other objects, which are edited by themselves (`described`).
   */
  readonly changesWithoutEdit: "volatile" | "described" | undefined;
}

/** Makes columns that are sent in the same way. */
function columnsSent<const Sent extends Partial<DynamicColumn>>(sent: Sent) {
  return <Schema extends z.ZodType>(schema: Schema, fallback: ItemField["default"]) => ({
    defaultSet: false,
    galleryOnly: false,
    singleItemOnly: false,
    eventOnly: false,
    changesWithoutEdit: undefined as DynamicColumn["changesWithoutEdit"],
    ...field(schema, fallback),
    ...sent,
  });
}

const column = columnsSent({});
const volatile = columnsSent({ changesWithoutEdit: "volatile" });
const described = columnsSent({ changesWithoutEdit: "described" });
const inDefaultSet = columnsSent({ defaultSet: true });
const gallery = columnsSent({ galleryOnly: true });
const single = columnsSent({ singleItemOnly: true });
const event = columnsSent({ singleItemOnly: true, eventOnly: true });

/** Every column of the dynamic set, in the order of the specification: its schema and its default. */
const COLUMNS = {
  acl: column(acl.nullable(), {}),
  added_to_collection_date: column(
    z.record(z.string(), optionalInstant).describe("Gallery collection ID to the time of adding."),
    {},
  ),
  added_to_collection_dates: column(z.array(addedToCollection), []),
  archived: column(flag, false),
  assigned_date: column(optionalInstant, null),
  attachments: column(z.array(attachment), []),
  author: inDefaultSet(optionalUserId.describe("User ID of the assignee."), null),
  author_details: described(userDetails, null),
  available_actions: volatile(textList.describe("Modifications available to the current user."), []),
  body_fragment: column(optionalText.describe("Sanitized version of `content`."), null),
  body_type: column(bodyType, NO_DEFAULT),
  campaign_details: described(z.array(campaign), []),
  campaigns: column(textList.describe("Initiative IDs."), []),
  can_destroy: volatile(flag.describe("Whether the current user can delete the content."), false),
  can_modify: volatile(flag.describe("Whether the current user can update the content."), false),
  categories: column(textList, []),
  categories_array: column(textList, []),
  collection_uids: gallery(textList.describe("Gallery collection IDs."), []),
  completed_date: inDefaultSet(optionalInstant, null),
  content: column(text.nullable().describe("HTML body."), ""),
  content_file: column(contentFile.nullable(), null),
  content_file_format: column(contentFileFormat.nullable(), NO_DEFAULT),
  content_number: column(integer.nullable(), null),
  content_thumbnail_url: column(optionalText, null),
  content_type: inDefaultSet(text.describe("Content type ID."), NO_DEFAULT),
  content_type_details: described(contentTypeDetails, NO_DEFAULT),
  created_at: inDefaultSet(instant, NO_DEFAULT),
  creator: column(optionalUserId.describe("User ID of the creator."), NO_DEFAULT),
  creator_details: described(userDetails, NO_DEFAULT),
  currently_editing: volatile(z.array(currentEditor), []),
  custom_field_value_ids: column(valuesByField, {}),
  custom_field_values: described(valuesByField, {}),
  custom_fields: column(valuesByField, {}),
  custom_fields_details: described(z.array(customFieldDetail), []),
  deleted_at: inDefaultSet(optionalInstant, null),
  discussion_url: column(text.nullable(), NO_DEFAULT),
  download_url: gallery(optionalText, null),
  event_end_date: event(optionalText.describe("MM/DD/YY."), null),
  event_start_date: event(optionalText.describe("MM/DD/YY."), null),
  excerpt: column(optionalText, null),
  favorite: volatile(flag.describe("Favorited by the current user."), false),
  favorite_count: volatile(integer, 0),
  favorite_dates: volatile(z.array(optionalInstant), []),
  favorited_by_users: volatile(userIds, []),
  field_locks: column(z.record(z.string(), fieldLock).nullable(), NO_DEFAULT),
  full_content_type: described(contentTypeDetails, NO_DEFAULT),
  gallery_bundle_can_download: gallery(flag, true),
  gallery_bundle_can_share: gallery(flag, true),
  gallery_bundle_settings_overridden: gallery(flag, false),
  gallery_can_bundle: gallery(flag, false),
  gallery_can_download: gallery(flag, true),
  gallery_can_share: gallery(flag, true),
  gallery_preview_revision: gallery(galleryPreviewRevision.nullable(), null),
  gallery_preview_revision_id: gallery(optionalText, null),
  gallery_share_settings: gallery(textList.describe("Channels that the content can be shared to."), [
    "published_url",
    "tracking_url",
    "email",
    "social_a",
    "social_b",
    "social_c",
  ]),
  gallery_viewer_compatibility: gallery(
    text.describe("none, pdf, doc_provider, photo, video or audio."),
    "none",
  ),
  doc_provider_file_id: gallery(optionalText, null),
  doc_provider_preview_url: gallery(optionalText, null),
  id: inDefaultSet(text.describe("Content ID."), NO_DEFAULT),
  initiatives_details: described(z.array(campaign), []),
  instance: described(instance.nullable(), NO_DEFAULT),
  service_url: column(text.describe("Canonical URL."), NO_DEFAULT),
  latitude: event(z.number().nullable(), null),
  library_tracking_url: column(optionalText, null),
  localized_from_id: column(optionalText.describe("Parent content ID."), null),
  locked: inDefaultSet(flag, false),
  longitude: event(z.number().nullable(), null),
  marketing_automation_url: column(optionalText, null),
  media_url: column(optionalText, null),
  newsroom_id: column(text.describe("Instance ID."), NO_DEFAULT),
  next_task: column(nextTask.nullable(), null),
  next_task_deadline: column(optionalInstant, null),
  next_task_owner: column(userIds, []),
  next_task_title: column(optionalText, null),
  payment: single(z.number().nullable(), null),
  personas: column(textList, []),
  pinned: gallery(flag, false),
  pinned_collection_rank: gallery(
    z.record(z.string(), integer.nullable()).describe("Gallery collection ID to position."),
    {},
  ),
  place_id: event(optionalText, null),
  preferred_title: column(text, "(no title)"),
  preferred_title_sort: column(text, "(no title)"),
  previewable_custom_field_values: described(valuesByField, {}),
  progress_stage: inDefaultSet(text, "planned"),
  publish_destination: column(optionalText, null),
  published: inDefaultSet(flag, false),
  published_date: column(optionalInstant, null),
  published_url: inDefaultSet(optionalText, null),
  published_urls: inDefaultSet(z.array(publishedUrl), []),
  repository_notes: column(optionalText, null),
  crm_shared_with_ids: column(textList, []),
  slug: inDefaultSet(text, NO_DEFAULT),
  stages: column(textList, []),
  synced_to_gallery_date: column(optionalInstant, null),
  tags: column(textList, []),
  task_deadlines: column(z.array(taskDeadline), []),
  tasks_begin_at: single(optionalInstant, null),
  tasks_end_at: single(optionalInstant, null),
  thumbnail_url: column(optionalText, null),
  timezone_name: event(optionalText, null),
  title: column(optionalText, null),
  updated: column(instant, NO_DEFAULT),
  updated_at: inDefaultSet(instant, NO_DEFAULT),
  url: inDefaultSet(text, NO_DEFAULT),
  viewer_compatibility: column(text.describe("none, pdf, doc_provider, photo, video or audio."), "none"),
  webinar_playback_url: column(optionalText, null),
  wordcount: column(integer.nullable(), null),
  social_media_channel: column(optionalText, null),
  status: inDefaultSet(z.unknown().describe("Type not specified."), null),
};

/** API name of a dynamic column. */
export type DynamicColumnName = keyof typeof COLUMNS;

/** All columns by API name. */
export const DYNAMIC_COLUMNS: Readonly<Record<DynamicColumnName, DynamicColumn>> = COLUMNS;

/** Names of all dynamic columns, in the order of the specification. */
export const DYNAMIC_COLUMN_NAMES = Object.keys(DYNAMIC_COLUMNS).filter(isDynamicColumn);

export function isDynamicColumn(name: string): name is DynamicColumnName {
  return Object.hasOwn(DYNAMIC_COLUMNS, name);
}

/** An item of the dynamic set. Its columns depend on the request; `id` is always present. */
export const dynamicItem = partial(schemasOf(COLUMNS))
  .required({ id: true })
  .describe("A content item of the dynamic set.");
