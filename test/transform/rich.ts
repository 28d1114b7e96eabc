import { z } from "zod";
import { dynamicItem } from "../../src/api/dynamic.ts";
import type { JsonObject } from "../../src/raw/document.ts";

/**
 * An item of which every API field of the specification has a value: its documents in both shapes (`full` includes
 * basic), and the answers of the two lookups. Made anew at each call, so that a test can change its own.
 */
export interface World {
  readonly dynamic: JsonObject;
  readonly full: JsonObject;
  readonly destination: JsonObject;
  readonly custom_field_definition: JsonObject;
}

export function richWorld(): World {
  return {
    dynamic: dynamicDocument(),
    full: fullDocument(),
    destination: {
      id: "dest-1",
      identification: "Web CMS",
      platform: "External",
      supports_custom_field_mappings: true,
    },
    custom_field_definition: definition(),
  };
}

const INSTANCE = "instance-1";

function contentType(): JsonObject {
  return {
    id: "type-1",
    background_color: "#123456",
    body_type: "event",
    display_name: "Event",
    field_name: "event",
    icon: "calendar",
    icon_css_class: "icon-calendar",
    newsroom_id: INSTANCE,
    updated_at: "2024-01-02T03:04:05Z",
  };
}

function user(id: string): JsonObject {
  return {
    id,
    email: `${id}@example.com`,
    name: `Name of ${id}`,
    avatar_feed_url: `https://a.example/${id}/feed`,
    avatar_thumbnail_url: `https://a.example/${id}/thumbnail`,
    avatar_profile_large_url: `https://a.example/${id}/large`,
    avatar_profile_url: `https://a.example/${id}/profile`,
    slug: `slug-of-${id}`,
    created_at: "2020-01-01T00:00:00Z",
    updated_at: "2021-01-01T00:00:00Z",
    bio: `Bio of ${id}`,
    short_bio: `Short bio of ${id}`,
    visitor: false,
    tz: "Europe/Vienna",
    follow_discussion_allowed: true,
    superadmin: false,
    tours_seen: ["welcome", "calendar"],
    phone: "+43 1 000",
  };
}

function extendedUser(id: string): JsonObject {
  return {
    ...user(id),
    name_sort: `of ${id}, name`,
    removed: false,
    role: "editor",
    group_ids: ["g-1", "g-2"],
  };
}

function attachments(): JsonObject[] {
  return [
    {
      id: "att-1",
      url: "https://f.example/att-1",
      filename: "one.jpg",
      updated_at: "2025-01-01T00:00:00Z",
      image_attributes: { caption: "A caption", alt: "An alt", title: "A title" },
    },
  ];
}

/** Values of four fields: a select value, a text, a file, and a value of a shape that nobody has specified. */
export const FIELD_IDS = { select: "cf-select", text: "cf-text", file: "cf-file", odd: "cf-odd" } as const;

function selectValues(): JsonObject[] {
  return [
    { id: "v-1", display: "First", value: "first", archived: true },
    { id: "v-2", display: "Second", value: "second", archived: false },
    { id: "v-3", display: "Third", value: "third", archived: false },
  ];
}

function fileValue(): JsonObject {
  return {
    id: "file-1",
    previewable: true,
    uploaded_by: "u-author",
    file_name: "plan.pdf",
    file_url: "https://f.example/plan.pdf",
    file_extension: "pdf",
    created_at: "2024-02-01T00:00:00Z",
    updated_at: "2024-02-02T00:00:00Z",
    preview_url: "https://f.example/plan.png",
    image_title: "A plan",
    image_caption: "The plan of it",
    image_alt: "Lines on paper",
    public: false,
    subdomain: "press",
  };
}

function campaigns(): JsonObject[] {
  return [
    {
      id: "camp-1",
      name: "Spring",
      created_at: "2024-03-01T00:00:00Z",
      updated_at: "2024-03-02T00:00:00Z",
      start_date: "2024-04-01T00:00:00Z",
      end_date: "2024-05-01T00:00:00Z",
      newsroom_id: INSTANCE,
    },
  ];
}

function fullField(id: string, more: JsonObject): JsonObject {
  return {
    id,
    field_type: "text",
    display_label: `Label of ${id}`,
    name: `name_of_${id}`,
    default_value: "nothing yet",
    created_at: "2023-01-01T00:00:00Z",
    select_value_ids: {},
    archived_value_ids: [],
    options: {
      editor_or_admin_only: false,
      required_field: false,
      api_only: false,
      html: false,
      multiline: false,
      show_character_count: false,
      publish_as_array: false,
      publish_as_hash: false,
    },
    newsroom_id: INSTANCE,
    visible_in_previews: false,
    visible_in_insights: false,
    instructions: "Fill it in",
    ...more,
  };
}

function fullFields(): JsonObject[] {
  return [
    fullField(FIELD_IDS.select, {
      field_type: "select",
      select_values: ["first", "second", "third"],
      select_value_ids: { "v-1": "first", "v-2": "second", "v-3": "third" },
      archived_value_ids: ["v-1"],
      formatted_select_values: selectValues(),
      value: "first",
    }),
    fullField(FIELD_IDS.text, { value: "A text" }),
    fullField(FIELD_IDS.file, { field_type: "file", value: "file-1" }),
    fullField(FIELD_IDS.odd, { field_type: "odd", value: { odd: "shape" } }),
  ];
}

function detail(id: string, field_type: string, value: unknown, value_id: unknown): JsonObject {
  const display_label = `Label of ${id}`;
  return { id, display_label, field_type, html: false, value, value_id, updated_at: "2024-06-01T00:00:00Z" };
}

function definition(): JsonObject {
  return {
    id: FIELD_IDS.select,
    field_type: "select",
    display_label: `Label of ${FIELD_IDS.select}`,
    name: `name_of_${FIELD_IDS.select}`,
    formatted_select_values: selectValues(),
    mappings: [
      {
        id: "map-1",
        field_name: "Topic",
        external_site_id: "dest-1",
        values: [{ id: "mv-1", value_id: "v-1", value: "one" }],
      },
    ],
  };
}

function fullDocument(): JsonObject {
  return {
    id: "item-1",
    archived: false,
    assignee_id: "u-author",
    campaign_ids: ["camp-1", "camp-2"],
    content_type: contentType(),
    creator_id: "u-creator",
    factory_url: "https://x.example/factory/item-1",
    next_task: "Write it",
    preferred_title: "A fair",
    progress_stage: "planned",
    published_date: "2025-02-01T00:00:00Z",
    slug: "a-fair",
    state: "production",
    title: "A fair",
    updated_at: "2026-01-02T03:04:05Z",
    categories: ["Fairs", "News"],
    last_updated_by_details: extendedUser("u-updater"),
    owner_details: extendedUser("u-owner"),
    owner: "u-owner",
    attachments: attachments(),
    content: "<p>Come</p>",
    custom_fields: fullFields(),
    last_updated_by: user("u-updater"),
    library_tracking_url: "https://go.example/1",
    media_url: "https://m.example/1",
    persona_ids: ["persona-1", "persona-2"],
    published_url: "https://www.example/a-fair",
    stage_ids: ["stage-1", "stage-2"],
    tags: ["fair", "spring"],
  };
}

function dynamicDocument(): JsonObject {
  return {
    ...plainValues(),
    ...descriptions(),
    ...dynamicFieldValues(),
    ...galleryFields(),
    id: "item-1",
    slug: "a-fair",
    status: "waiting",
    content_type: "type-1",
    updated_at: "2026-01-02T03:04:05.123456Z",
    author: "u-author",
    published_url: "https://www.example/a-fair",
    published_urls: [{ external_site_name: "Web CMS", published_url: "https://www.example/a-fair" }],
    progress_stage: "planned",
    acl: { group_ids: ["g-1", "g-2"], user_ids: ["u-1", "u-2"], access_summary: "PRIVATE" },
    attachments: attachments(),
    body_type: "event",
    campaigns: ["camp-1", "camp-2"],
    categories: ["Fairs", "News"],
    content: "<p>Come</p>",
    creator: "u-creator",
    currently_editing: [
      { id: "u-author", name: "Somebody", avatar_url: "https://a.example/1", last_seen: 1_767_225_600 },
    ],
    event_end_date: "07/06/26",
    event_start_date: "07/04/26",
    field_locks: { body: { locked: true } },
    library_tracking_url: "https://go.example/1",
    media_url: "https://m.example/1",
    newsroom_id: INSTANCE,
    next_task_owner: ["u-author", "u-owner"],
    personas: ["persona-1", "persona-2"],
    preferred_title: "A fair",
    published_date: "2025-02-01T00:00:00Z",
    stages: ["stage-1", "stage-2"],
    tags: ["fair", "spring"],
    task_deadlines: [{ description: "Write it", deadline: "2026-01-05T00:00:00Z", smart_deadline: false }],
    title: "A fair",
  };
}

/** A value of its kind for every dynamic column that is a text, number, boolean or list of texts. */
function plainValues(): JsonObject {
  const columns = Object.entries(dynamicItem.shape).map(([name, schema]) => [name, plainValue(name, schema)]);
  return Object.fromEntries(columns.filter(([, value]) => value !== undefined));
}

function plainValue(name: string, schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return plainValue(name, schema.unwrap());
  if (schema instanceof z.ZodArray) {
    const element = plainValue(name, schema.element);
    return typeof element === "string" ? [`${element} 1`, `${element} 2`] : undefined;
  }
  if (schema instanceof z.ZodString)
    return /_at$|_date$|_deadline$|^updated$/.test(name) ? "2025-01-02T00:00:00Z" : `${name} of item-1`;
  if (schema instanceof z.ZodNumber) return 12;
  return schema instanceof z.ZodBoolean ? false : undefined;
}

function descriptions(): JsonObject {
  return {
    author_details: user("u-author"),
    creator_details: user("u-creator"),
    campaign_details: campaigns(),
    initiatives_details: campaigns(),
    content_type_details: contentType(),
    full_content_type: contentType(),
    content_file_format: { name: "Pictures", extensions: ["jpg", "png"] },
    instance: { id: INSTANCE, name: "Tarnbrook", subdomain: "tarnbrook" },
    content_file: {
      id: "rev-1",
      updated_at: "2025-03-01T00:00:00Z",
      url: "https://f.example/rev-1",
      filename: "fair.jpg",
      extension: "jpg",
      size: 1234,
      public: true,
      subdomain: "press",
      permanent_url: "https://f.example/permanent/1",
    },
    next_task: {
      id: "task-1",
      completed: false,
      completion_action: "publish",
      deadline: "2026-01-05T00:00:00Z",
      deadline_offset: 3,
      deadline_offset_unit: "days",
      deadline_offset_task_id: "task-0",
      deadline_offset_task_action: "completed",
      description: "Write it",
      position: 1,
      state: 1,
      owner_ids: ["u-author", "u-owner"],
    },
  };
}

function dynamicFieldValues(): JsonObject {
  const { select, text, file, odd } = FIELD_IDS;
  const shape = { odd: "shape" };
  return {
    custom_fields: { [select]: "v-1", [text]: "A text", [file]: "file-1", [odd]: shape },
    custom_field_values: { [select]: "first", [text]: "A text", [file]: fileValue(), [odd]: shape },
    custom_field_value_ids: { [select]: "v-1", [file]: "file-1" },
    custom_fields_details: [
      detail(select, "select", "first", "v-1"),
      detail(text, "text", "A text", null),
      detail(file, "file", "file-1", "file-1"),
      detail(odd, "odd", shape, null),
    ],
    previewable_custom_field_values: { [text]: "A text" },
  };
}

function galleryFields(): JsonObject {
  return {
    added_to_collection_date: { "coll-1": "2025-04-01T00:00:00Z" },
    added_to_collection_dates: [{ collection_id: "coll-1", added_date: "2025-04-01T00:00:00Z" }],
    collection_uids: ["coll-1"],
    favorite_dates: ["2025-05-01T00:00:00Z", "2025-05-02T00:00:00Z"],
    favorited_by_users: ["u-author", "u-owner"],
    gallery_preview_revision: {
      id: "prev-1",
      url: "https://f.example/prev-1",
      filename: "preview.jpg",
      extension: "jpg",
      size: 99,
    },
    gallery_preview_revision_id: "prev-1",
    gallery_share_settings: ["email", "published_url"],
    pinned_collection_rank: { "coll-1": 4 },
  };
}
