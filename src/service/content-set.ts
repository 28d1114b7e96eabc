/**
 * A content set: what the service serves, as a folder of files.
 *
 *     content.ndjson         one Document a line, in creation order
 *     content_types.ndjson   ContentType
 *     users.ndjson           User
 *     campaigns.ndjson       Campaign
 *     custom_fields.ndjson   CustomField: the definition with its mappings
 *     destinations.ndjson    Destination
 *     tokens.json            Token[]
 *     instance.json          Instance
 *
 * A document states each fact once, under its dynamic API name; the views of the three levels of detail are
 * computed from it, with the defaults of the specification for what it lacks. All instants are ISO 8601 UTC text.
 */

/** Facts of one content item. Every key but `id`, `slug`, `content_type`, `created_at`, `updated_at` may be missing. */
export interface Document {
  id: string;
  /** Unique over the content set. */
  slug: string;
  /** Content type ID. */
  content_type: string;
  created_at: string;
  /** Microsecond fraction, e.g. `2026-03-01T09:30:12.123456Z`: dynamic shows it raw, basic and full to the second. */
  updated_at: string;
  title?: string | null;
  state?: string;
  progress_stage?: string;
  archived?: boolean;
  deleted_at?: string | null;
  completed_date?: string | null;
  assigned_date?: string | null;
  locked?: boolean;
  status?: unknown;
  /** User IDs. */
  author?: string | null;
  creator?: string;
  owner?: string | null;
  last_updated_by?: string | null;
  /** HTML body. */
  content?: string;
  body_fragment?: string | null;
  excerpt?: string | null;
  wordcount?: number | null;
  content_number?: number | null;
  categories?: (string | null)[];
  tags?: (string | null)[];
  /** Campaign IDs; may name a campaign that is not in the set. */
  campaigns?: string[];
  personas?: string[];
  stages?: string[];
  attachments?: Attachment[];
  content_file?: ContentFile | null;
  published?: boolean;
  published_date?: string | null;
  published_urls?: { external_site_name: string; published_url: string | null }[];
  publish_destination?: string | null;
  /** Custom field ID to value: a value ID (select), value IDs (multiselect), text, number, boolean, a FileValue, null. */
  custom_fields?: Record<string, CustomFieldValue>;
  /** Custom field ID to the time of its last change. */
  custom_fields_updated_at?: Record<string, string>;
  /** Whole set of tasks, in order; `next_task` is the first that is not completed. */
  tasks?: Task[];
  /** `PRIVATE`: listed for admins and editors, for author, creator and owner, and for whom it names; else for all. */
  acl?: { group_ids: string[]; user_ids: string[]; access_summary: string };
  currently_editing?: { id: string; name: string; avatar_url: string; last_seen: number }[];
  favorites?: { user_id: string; date: string }[];
  field_locks?: Record<string, unknown>;
  crm_shared_with_ids?: string[];
  localized_from_id?: string | null;
  discussion_url?: string;
  marketing_automation_url?: string | null;
  library_tracking_url?: string | null;
  media_url?: string | null;
  content_thumbnail_url?: string | null;
  thumbnail_url?: string | null;
  repository_notes?: string | null;
  synced_to_gallery_date?: string | null;
  viewer_compatibility?: string;
  webinar_playback_url?: string | null;
  social_media_channel?: string | null;
  payment?: number | null;
  /** Event facts; dates as `MM/DD/YY`. */
  event?: {
    event_start_date?: string | null;
    event_end_date?: string | null;
    latitude?: number | null;
    longitude?: number | null;
    place_id?: string | null;
    timezone_name?: string | null;
  };
  /** Gallery facts: the gallery-only columns by their API names, and the collections the item is in. */
  gallery?: {
    collections?: { collection_id: string; added_date: string; rank?: number }[];
    pinned?: boolean;
    download_url?: string | null;
    gallery_bundle_can_download?: boolean;
    gallery_bundle_can_share?: boolean;
    gallery_bundle_settings_overridden?: boolean;
    gallery_can_bundle?: boolean;
    gallery_can_download?: boolean;
    gallery_can_share?: boolean;
    gallery_preview_revision?: {
      id: string;
      url: string;
      filename: string;
      extension: string;
      size: number;
    } | null;
    gallery_share_settings?: string[];
    gallery_viewer_compatibility?: string;
    doc_provider_file_id?: string | null;
    doc_provider_preview_url?: string | null;
  };
  /**
   * API fields that the specification does not know: sent as they are, in every view, in place of a column of the
   * same name.
   */
  unknown?: Record<string, unknown>;
}

export type CustomFieldValue = string | number | boolean | null | FileValue | (string | number | null)[];

/** The object that `custom_field_values` shows for a file or image field; elsewhere its `id` stands for it. */
export interface FileValue {
  id: string;
  previewable: boolean;
  /** User ID. */
  uploaded_by: string;
  file_name: string;
  file_url: string;
  file_extension: string;
  created_at: string;
  updated_at: string;
  preview_url: string;
  image_title: string;
  image_caption: string;
  image_alt: string;
  public: boolean;
  subdomain: string;
}

export interface Attachment {
  id: string;
  url: string;
  filename: string;
  updated_at: string;
  image_attributes: { caption: string | null; alt: string | null; title: string | null };
}

export interface ContentFile {
  id: string;
  updated_at: string;
  url: string;
  filename: string;
  extension: string;
  size: number;
  public: boolean;
  subdomain: string;
  permanent_url: string;
}

export interface Task {
  id: string;
  completed: boolean;
  completion_action: string;
  deadline: string | null;
  deadline_offset: number | null;
  deadline_offset_unit: string | null;
  deadline_offset_task_id: string | null;
  deadline_offset_task_action: string | null;
  description: string;
  position: number;
  state: number;
  owner_ids: string[];
}

export interface ContentType {
  id: string;
  background_color: string;
  body_type: string;
  display_name: string;
  field_name: string;
  icon: string;
  icon_css_class: string;
  newsroom_id: string;
  updated_at: string;
  /** For file types: what `content_file_format` shows. */
  file_format?: { name: string; extensions: string[] };
}

export interface User {
  id: string;
  email: string;
  name: string;
  avatar_feed_url: string;
  avatar_thumbnail_url: string;
  avatar_profile_large_url: string;
  avatar_profile_url: string;
  slug: string;
  created_at: string;
  updated_at: string;
  bio: string;
  short_bio: string;
  visitor: boolean;
  tz: string;
  follow_discussion_allowed: boolean;
  superadmin: boolean;
  tours_seen: string[];
  phone: string;
  name_sort: string;
  removed: boolean;
  role: string;
  group_ids: string[];
}

export interface Campaign {
  id: string;
  name: string;
  created_at: string;
  updated_at: string;
  start_date: string | null;
  end_date: string | null;
  newsroom_id: string;
}

export interface CustomField {
  id: string;
  field_type: string;
  display_label: string;
  name: string;
  default_value?: string;
  created_at: string;
  /** Select and multiselect only. */
  formatted_select_values?: { id: string; display: string; value: string; archived: boolean }[];
  options: Record<string, boolean>;
  visible_in_previews: boolean;
  visible_in_insights: boolean;
  instructions: string | null;
  mappings: {
    id: string;
    /** External field name. */
    field_name: string;
    /** Destination ID; may name a destination that is not in the set. */
    external_site_id: string;
    values: { id: string; value_id: string; value: string }[];
  }[];
  /** Content type IDs that carry the field; missing: all. */
  content_types?: string[];
}

export interface Destination {
  id: string;
  identification: string;
  platform: string;
  supports_custom_field_mappings: boolean;
}

export interface Token {
  token: string;
  /** User ID of the token's owner. */
  user_id: string;
}

export interface Instance {
  id: string;
  name: string;
  subdomain: string;
}
