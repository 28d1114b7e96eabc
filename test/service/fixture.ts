import type {
  Campaign,
  ContentSetData,
  ContentType,
  CustomField,
  Document,
  FileValue,
  User,
} from "../../src/service/content-set.ts";

/** A content set small enough to be read: one item with nothing, one with everything, and the odd ones. */

export function makeUser(id: string, more: Partial<User> = {}): User {
  return {
    id,
    email: `${id}@example.com`,
    name: `Name of ${id}`,
    avatar_feed_url: "https://a.example/feed",
    avatar_thumbnail_url: "https://a.example/thumb",
    avatar_profile_large_url: "https://a.example/large",
    avatar_profile_url: "",
    slug: `slug-${id}`,
    created_at: "2020-01-01T00:00:00Z",
    updated_at: "2021-01-01T00:00:00Z",
    bio: "",
    short_bio: "",
    visitor: false,
    tz: "Europe/Vienna",
    follow_discussion_allowed: true,
    superadmin: false,
    tours_seen: ["welcome"],
    phone: "",
    name_sort: `of ${id}, name`,
    removed: false,
    role: "contributor",
    group_ids: [],
    ...more,
  };
}

export function makeType(id: string, body_type: string, more: Partial<ContentType> = {}): ContentType {
  return {
    id,
    background_color: "#fff",
    body_type,
    display_name: `Type ${id}`,
    field_name: id,
    icon: "file",
    icon_css_class: "icon-file",
    newsroom_id: "instance-1",
    updated_at: "2020-05-05T00:00:00Z",
    ...more,
  };
}

export function makeField(id: string, field_type: string, more: Partial<CustomField> = {}): CustomField {
  return {
    id,
    field_type,
    display_label: `Label ${id}`,
    name: id,
    created_at: "2020-06-06T00:00:00Z",
    options: { editor_or_admin_only: false, required_field: false, api_only: false },
    visible_in_previews: false,
    visible_in_insights: false,
    instructions: null,
    mappings: [],
    ...more,
  };
}

export const REGIONS = [
  { id: "v-eu", display: "Europe", value: "EU", archived: false },
  { id: "v-us", display: "Americas", value: "US", archived: true },
];

export const FILE: FileValue = {
  id: "file-1",
  previewable: true,
  uploaded_by: "admin",
  file_name: "plan.pdf",
  file_url: "https://f.example/plan.pdf",
  file_extension: "pdf",
  created_at: "2024-01-01T00:00:00Z",
  updated_at: "2024-01-02T00:00:00Z",
  preview_url: "https://f.example/plan.png",
  image_title: "",
  image_caption: "",
  image_alt: "",
  public: false,
  subdomain: "press",
};

export const FIELDS: CustomField[] = [
  makeField("note", "text", { default_value: "none yet", options: { html: true, multiline: false } }),
  makeField("region", "select", {
    formatted_select_values: REGIONS,
    visible_in_previews: true,
    mappings: [
      {
        id: "m-1",
        field_name: "market",
        external_site_id: "d-portal",
        values: [
          { id: "mv-1", value_id: "v-eu", value: "eu-west" },
          { id: "mv-2", value_id: "v-gone", value: "old" },
        ],
      },
    ],
  }),
  makeField("regions", "multiselect", { formatted_select_values: REGIONS }),
  makeField("due", "date"),
  makeField("plan", "file", { visible_in_previews: true }),
  makeField("budget", "currency"),
  makeField("venue", "text", { content_types: ["event"] }),
  makeField("twin-1", "text", { name: "twin", content_types: [] }),
  makeField("twin-2", "hologram", { name: "twin", content_types: [] }),
];

export const CAMPAIGN: Campaign = {
  id: "camp-1",
  name: "Spring",
  created_at: "2023-01-01T00:00:00Z",
  updated_at: "2023-02-01T00:00:00Z",
  start_date: "2024-03-01",
  end_date: null,
  newsroom_id: "instance-1",
};

/** A document with nothing but what each must have. */
export const BARE: Document = {
  id: "c-bare",
  slug: "bare",
  content_type: "article",
  created_at: "2024-01-01T00:00:00Z",
  updated_at: "2024-03-03T03:03:03.250000Z",
};

/** A document with every structured value that an item of a file type can have. */
export const RICH: Document = {
  id: "c-rich",
  slug: "rich-item",
  content_type: "photo",
  created_at: "2024-01-02T00:00:00Z",
  updated_at: "2024-02-02T02:02:02.000001Z",
  title: "Ärger im Büro",
  state: "promotion",
  status: { any: "thing" },
  author: "writer",
  creator: "admin",
  owner: "admin",
  last_updated_by: "writer",
  content: "<p>Text</p>",
  categories: ["News", null],
  tags: ["b", "a", "b"],
  campaigns: ["camp-1", "camp-gone"],
  personas: ["p-1"],
  stages: ["s-1"],
  attachments: [
    {
      id: "att-1",
      url: "https://f.example/att",
      filename: "att.png",
      updated_at: "2024-01-04T00:00:00Z",
      image_attributes: { caption: null, alt: "Alt", title: null },
    },
  ],
  content_file: {
    id: "cf-1",
    updated_at: "2024-01-05T00:00:00Z",
    url: "https://f.example/cf",
    filename: "cf.jpg",
    extension: "jpg",
    size: 1234,
    public: true,
    subdomain: "press",
    permanent_url: "https://f.example/p/cf",
  },
  published_urls: [
    { external_site_name: "Feed", published_url: null },
    { external_site_name: "Site", published_url: "https://site.example/rich" },
  ],
  custom_fields: {
    note: "<b>n</b>",
    region: "v-eu",
    regions: ["v-us", "v-eu"],
    due: "2024-05-05",
    plan: FILE,
    budget: 12.5,
  },
  custom_fields_updated_at: { region: "2024-01-06T00:00:00Z" },
  tasks: [
    {
      id: "task-1",
      completed: true,
      completion_action: "check",
      deadline: "2024-01-10T00:00:00Z",
      deadline_offset: null,
      deadline_offset_unit: null,
      deadline_offset_task_id: null,
      deadline_offset_task_action: null,
      description: "Draft",
      position: 0,
      state: 2,
      owner_ids: ["admin"],
    },
    {
      id: "task-2",
      completed: false,
      completion_action: "publish",
      deadline: "2024-01-09T00:00:00Z",
      deadline_offset: 2,
      deadline_offset_unit: "days",
      deadline_offset_task_id: "task-1",
      deadline_offset_task_action: "completed",
      description: "Publish it",
      position: 1,
      state: 1,
      owner_ids: ["writer", "admin"],
    },
  ],
  acl: { group_ids: ["g-1"], user_ids: ["writer"], access_summary: "PRIVATE_MEMBERS" },
  currently_editing: [
    { id: "writer", name: "W", avatar_url: "https://a.example/w", last_seen: 1_700_000_000 },
  ],
  favorites: [
    { user_id: "writer", date: "2024-01-07T00:00:00Z" },
    { user_id: "viewer", date: "2024-01-08T00:00:00Z" },
  ],
  field_locks: { body: { locked: true } },
  discussion_url: "https://d.example/rich",
  gallery: {
    collections: [
      { collection_id: "col-1", added_date: "2024-01-23T00:00:00Z", rank: 3 },
      { collection_id: "col-2", added_date: "2024-01-24T00:00:00Z" },
    ],
    gallery_preview_revision: {
      id: "rev-1",
      url: "https://g.example/rev",
      filename: "rev.jpg",
      extension: "jpg",
      size: 99,
    },
  },
};

export const EVENT: Document = {
  id: "c-event",
  slug: "event-2024",
  content_type: "event",
  created_at: "2024-01-03T00:00:00Z",
  updated_at: "2024-03-03T03:03:03Z",
  title: "Open day",
  custom_fields: { venue: "Hall 3" },
  event: {
    event_start_date: "05/04/24",
    event_end_date: "05/05/24",
    latitude: 48.2,
    longitude: 16.4,
    place_id: "place-1",
    timezone_name: "Europe/Vienna",
  },
};

/** Everything that a client must get along with, though no definition allows it. */
export const ODD: Document = {
  ...BARE,
  id: "c-odd",
  slug: "odd",
  content_type: "type-gone",
  created_at: "2024-01-04T00:00:00Z",
  title: "",
  author: "user-gone",
  custom_fields: {
    "field-gone": "orphan",
    region: "v-gone",
    regions: ["Europe", null, "v-nowhere", 7, "no such value"],
    "twin-2": ["x", null],
    plan: "file-9",
    note: null,
    due: [],
  },
  event: { event_start_date: "01/01/24" },
  unknown: { sentiment: { score: 0.5 }, tags: "single" },
};

export const PRIVATE: Document = {
  ...BARE,
  id: "c-private",
  slug: "private",
  created_at: "2024-01-05T00:00:00Z",
  updated_at: "2024-01-05T00:00:00Z",
  acl: { group_ids: ["g-2"], user_ids: ["writer"], access_summary: "PRIVATE" },
};

export const DOCUMENTS: readonly Document[] = [BARE, RICH, EVENT, ODD, PRIVATE];

export const CONTENT_SET: ContentSetData = {
  documents: DOCUMENTS,
  contentTypes: [
    makeType("article", "html"),
    makeType("photo", "photo", { file_format: { name: "Image", extensions: ["jpg", "png"] } }),
    makeType("event", "event"),
  ],
  users: [
    makeUser("admin", { role: "admin", superadmin: true }),
    makeUser("writer", { group_ids: ["g-1"] }),
    makeUser("viewer", { role: "viewer" }),
    makeUser("guest", { group_ids: ["g-2"] }),
  ],
  campaigns: [CAMPAIGN],
  customFields: FIELDS,
  destinations: [
    {
      id: "d-portal",
      identification: "Portal",
      platform: "External",
      supports_custom_field_mappings: true,
    },
    { id: "d-wp", identification: "Portal", platform: "Blog", supports_custom_field_mappings: false },
    { id: "d-shop", identification: "Shop", platform: "External", supports_custom_field_mappings: true },
  ],
  tokens: [
    { token: "t-admin", user_id: "admin" },
    { token: "t-writer", user_id: "writer" },
    { token: "t-viewer", user_id: "viewer" },
    { token: "t-guest", user_id: "guest" },
    { token: "t-nobody", user_id: "user-gone" },
  ],
  instance: { id: "instance-1", name: "Press Office", subdomain: "press" },
};
