import { z } from "zod";
import type {
  Attachment,
  Campaign,
  ContentFile,
  ContentType,
  CustomField,
  Destination,
  Document,
  Instance,
  Task,
  Token,
  User,
} from "./content-set.ts";

/**
 * What each line of a content set's files must be: the interfaces of `content-set.ts`, for programs. Unknown keys
 * are refused only where they would be lost in silence: at the top of a document, whose `unknown` is for them.
 */

type Shape<T> = { readonly [K in keyof Required<T>]: z.ZodType<T[K]> };

const text = z.string();
const optionalText = z.string().nullable();
const flag = z.boolean();
const number = z.number();
const optionalNumber = z.number().nullable();
const texts = z.array(text);
const lossyTexts = z.array(optionalText);

const attachment = z.object({
  id: text,
  url: text,
  filename: text,
  updated_at: text,
  image_attributes: z.object({ caption: optionalText, alt: optionalText, title: optionalText }),
} satisfies Shape<Attachment>);

const contentFile = z.object({
  id: text,
  updated_at: text,
  url: text,
  filename: text,
  extension: text,
  size: number,
  public: flag,
  subdomain: text,
  permanent_url: text,
} satisfies Shape<ContentFile>);

const task = z.object({
  id: text,
  completed: flag,
  completion_action: text,
  deadline: optionalText,
  deadline_offset: optionalNumber,
  deadline_offset_unit: optionalText,
  deadline_offset_task_id: optionalText,
  deadline_offset_task_action: optionalText,
  description: text,
  position: number,
  state: number,
  owner_ids: texts,
} satisfies Shape<Task>);

const event = z.object({
  event_start_date: optionalText.exactOptional(),
  event_end_date: optionalText.exactOptional(),
  latitude: optionalNumber.exactOptional(),
  longitude: optionalNumber.exactOptional(),
  place_id: optionalText.exactOptional(),
  timezone_name: optionalText.exactOptional(),
} satisfies Shape<NonNullable<Document["event"]>>);

const previewRevision = z.object({ id: text, url: text, filename: text, extension: text, size: number });

const gallery = z.object({
  collections: z
    .array(z.object({ collection_id: text, added_date: text, rank: number.exactOptional() }))
    .exactOptional(),
  pinned: flag.exactOptional(),
  download_url: optionalText.exactOptional(),
  gallery_bundle_can_download: flag.exactOptional(),
  gallery_bundle_can_share: flag.exactOptional(),
  gallery_bundle_settings_overridden: flag.exactOptional(),
  gallery_can_bundle: flag.exactOptional(),
  gallery_can_download: flag.exactOptional(),
  gallery_can_share: flag.exactOptional(),
  gallery_preview_revision: previewRevision.nullable().exactOptional(),
  gallery_share_settings: texts.exactOptional(),
  gallery_viewer_compatibility: text.exactOptional(),
  doc_provider_file_id: optionalText.exactOptional(),
  doc_provider_preview_url: optionalText.exactOptional(),
} satisfies Shape<NonNullable<Document["gallery"]>>);

const document = z.strictObject({
  id: text.min(1),
  slug: text.min(1),
  content_type: text,
  created_at: text,
  updated_at: text,
  title: optionalText.exactOptional(),
  state: text.exactOptional(),
  progress_stage: text.exactOptional(),
  archived: flag.exactOptional(),
  deleted_at: optionalText.exactOptional(),
  completed_date: optionalText.exactOptional(),
  assigned_date: optionalText.exactOptional(),
  locked: flag.exactOptional(),
  status: z.unknown().exactOptional(),
  author: optionalText.exactOptional(),
  creator: text.exactOptional(),
  owner: optionalText.exactOptional(),
  last_updated_by: optionalText.exactOptional(),
  content: text.exactOptional(),
  body_fragment: optionalText.exactOptional(),
  excerpt: optionalText.exactOptional(),
  wordcount: optionalNumber.exactOptional(),
  content_number: optionalNumber.exactOptional(),
  categories: lossyTexts.exactOptional(),
  tags: lossyTexts.exactOptional(),
  campaigns: texts.exactOptional(),
  personas: texts.exactOptional(),
  stages: texts.exactOptional(),
  attachments: z.array(attachment).exactOptional(),
  content_file: contentFile.nullable().exactOptional(),
  published: flag.exactOptional(),
  published_date: optionalText.exactOptional(),
  published_urls: z
    .array(z.object({ external_site_name: text, published_url: optionalText }))
    .exactOptional(),
  publish_destination: optionalText.exactOptional(),
  // Any JSON value: oddities among field values are what a client must get along with.
  custom_fields: z
    .record(
      text,
      z.custom<NonNullable<Document["custom_fields"]>[string]>(() => true),
    )
    .exactOptional(),
  custom_fields_updated_at: z.record(text, text).exactOptional(),
  tasks: z.array(task).exactOptional(),
  acl: z.object({ group_ids: texts, user_ids: texts, access_summary: text }).exactOptional(),
  currently_editing: z
    .array(z.object({ id: text, name: text, avatar_url: text, last_seen: number }))
    .exactOptional(),
  favorites: z.array(z.object({ user_id: text, date: text })).exactOptional(),
  field_locks: z.record(text, z.unknown()).exactOptional(),
  crm_shared_with_ids: texts.exactOptional(),
  localized_from_id: optionalText.exactOptional(),
  discussion_url: text.exactOptional(),
  marketing_automation_url: optionalText.exactOptional(),
  library_tracking_url: optionalText.exactOptional(),
  media_url: optionalText.exactOptional(),
  content_thumbnail_url: optionalText.exactOptional(),
  thumbnail_url: optionalText.exactOptional(),
  repository_notes: optionalText.exactOptional(),
  synced_to_gallery_date: optionalText.exactOptional(),
  viewer_compatibility: text.exactOptional(),
  webinar_playback_url: optionalText.exactOptional(),
  social_media_channel: optionalText.exactOptional(),
  payment: optionalNumber.exactOptional(),
  event: event.exactOptional(),
  gallery: gallery.exactOptional(),
  unknown: z.record(text, z.unknown()).exactOptional(),
} satisfies Shape<Document>);

const contentType = z.object({
  id: text,
  background_color: text,
  body_type: text,
  display_name: text,
  field_name: text,
  icon: text,
  icon_css_class: text,
  newsroom_id: text,
  updated_at: text,
  file_format: z.object({ name: text, extensions: texts }).exactOptional(),
} satisfies Shape<ContentType>);

const user = z.object({
  id: text,
  email: text,
  name: text,
  avatar_feed_url: text,
  avatar_thumbnail_url: text,
  avatar_profile_large_url: text,
  avatar_profile_url: text,
  slug: text,
  created_at: text,
  updated_at: text,
  bio: text,
  short_bio: text,
  visitor: flag,
  tz: text,
  follow_discussion_allowed: flag,
  superadmin: flag,
  tours_seen: texts,
  phone: text,
  name_sort: text,
  removed: flag,
  role: text,
  group_ids: texts,
} satisfies Shape<User>);

const campaign = z.object({
  id: text,
  name: text,
  created_at: text,
  updated_at: text,
  start_date: optionalText,
  end_date: optionalText,
  newsroom_id: text,
} satisfies Shape<Campaign>);

const customField = z.object({
  id: text,
  field_type: text,
  display_label: text,
  name: text,
  default_value: text.exactOptional(),
  created_at: text,
  formatted_select_values: z
    .array(z.object({ id: text, display: text, value: text, archived: flag }))
    .exactOptional(),
  options: z.record(text, flag),
  visible_in_previews: flag,
  visible_in_insights: flag,
  instructions: optionalText,
  mappings: z.array(
    z.object({
      id: text,
      field_name: text,
      external_site_id: text,
      values: z.array(z.object({ id: text, value_id: text, value: text })),
    }),
  ),
  content_types: texts.exactOptional(),
} satisfies Shape<CustomField>);

const destination = z.object({
  id: text,
  identification: text,
  platform: text,
  supports_custom_field_mappings: flag,
} satisfies Shape<Destination>);

const token = z.object({ token: text.min(1), user_id: text } satisfies Shape<Token>);
const instance = z.object({ id: text, name: text, subdomain: text } satisfies Shape<Instance>);

/** What a line of each file is; tokens and instance are whole files. */
export const contentSetSchema = {
  document,
  contentType,
  user,
  campaign,
  customField,
  destination,
  tokens: z.array(token),
  instance,
} as const;
