import assert from "node:assert/strict";
import { test } from "node:test";
import { BASIC_FIELDS, basicItem } from "../../src/api/basic.ts";
import { DYNAMIC_COLUMN_NAMES, DYNAMIC_COLUMNS, dynamicItem } from "../../src/api/dynamic.ts";
import { listEnvelope } from "../../src/api/envelope.ts";
import { type ItemField, NO_DEFAULT } from "../../src/api/field.ts";
import { FULL_FIELDS, fullItem } from "../../src/api/full.ts";
import type { Document } from "../../src/service/content-set.ts";
import { COMPUTED_COLUMNS } from "../../src/service/views/item-views.ts";
import { exampleOf } from "../generator/example.ts";
import { ALL_COLUMNS, ask, json, read, serve, singleEnvelope } from "./ask.ts";
import { BARE, CAMPAIGN, EVENT, makeType, makeUser, ODD, RICH } from "./fixture.ts";

const DEFAULT_SET = DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name].defaultSet);
const GALLERY = DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name].galleryOnly);
const SINGLE = DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name].singleItemOnly);

const {
  superadmin: _,
  name_sort,
  removed,
  role,
  group_ids,
  ...WRITER_DYNAMIC
} = makeUser("writer", {
  group_ids: ["g-1"],
});
const WRITER_PLAIN = { ...WRITER_DYNAMIC, superadmin: false };
const PHOTO = makeType("photo", "photo");

/** Values by the names of the fields, for a view whose other fields show what a document states. */
type Shown = Readonly<Record<string, unknown>>;

/** Defaults of a view's fields, but for those that every item has. */
function defaultsOf(fields: Readonly<Record<string, ItemField>>, given: Shown): Shown {
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    field.default === NO_DEFAULT ? given[name] : (given[name] ?? field.default),
  ]);
  return Object.fromEntries(entries);
}

const BARE_BASIC = defaultsOf(BASIC_FIELDS, {
  content_type: makeType("article", "html"),
  factory_url: "https://press.example/factory/content/bare",
  id: "c-bare",
  slug: "bare",
  updated_at: "2024-03-03T03:03:03Z",
  categories: [],
});

test("basic and full show an item without values with every default, and the fields that its type carries", async (t) => {
  const service = await serve(t);
  const basic = await read(service, "/api/v1/content/c-bare?detail=basic", singleEnvelope(basicItem));
  assert.deepEqual(basic.response, BARE_BASIC);
  const full = await read(service, "/api/v1/content/c-bare?detail=full", singleEnvelope(fullItem));
  const { custom_fields, ...rest } = full.response;
  const { custom_fields: _none, ...added } = defaultsOf(FULL_FIELDS, {});
  assert.deepEqual(rest, { ...BARE_BASIC, ...added });
  assert.deepEqual(
    custom_fields?.map(({ id, value }) => [id, value]),
    ["note", "region", "regions", "due", "plan", "budget"].map((id) => [id, null]),
  );
});

/** What `detail=full` computes of the document with everything; other fields show what it states. */
const FULL_COMPUTED: Shown = {
  assignee_id: "writer",
  campaign_ids: ["camp-1", "camp-gone"],
  content_type: PHOTO,
  creator_id: "admin",
  factory_url: "https://press.example/factory/content/rich-item",
  next_task: "Publish it",
  preferred_title: "Ärger im Büro",
  updated_at: "2024-02-02T02:02:02Z",
  last_updated_by_details: { ...WRITER_PLAIN, name_sort, removed, role, group_ids },
  owner_details: makeUser("admin", { role: "admin", superadmin: true }),
  last_updated_by: WRITER_PLAIN,
  persona_ids: ["p-1"],
  published_url: "https://site.example/rich",
  stage_ids: ["s-1"],
};

test("full shows what an item has", async (t) => {
  const service = await serve(t, { documents: [COMPLETE] });
  const { response } = await read(service, "/api/v1/content/c-rich?detail=full", singleEnvelope(fullItem));
  const { custom_fields: _tested, ...shown } = response;
  const names = Object.keys({ ...BASIC_FIELDS, ...FULL_FIELDS }).filter((name) => name !== "custom_fields");
  const expected = names.map((name) => [name, FULL_COMPUTED[name] ?? Reflect.get(COMPLETE, name)]);
  assert.deepEqual(shown, Object.fromEntries(expected));
});

test("requested columns follow the default set in the order of the request, each once, and unknown names are ignored", async (t) => {
  const service = await serve(t);
  for (const [query, more] of [
    ["", []],
    ["columns[]=title&columns[]=slug&columns%5B%5D=acl&columns[]=title", ["title", "acl"]],
    ["columns[]=from_the_future&columns[]=&columns[]=constructor&columns[]=__proto__", []],
  ] as const) {
    const { response } = await read(
      service,
      `/api/v1/content?per_page=3&${query}`,
      listEnvelope(dynamicItem),
    );
    assert.equal(response.length, 3);
    for (const item of response) assert.deepEqual(Object.keys(item), [...DEFAULT_SET, ...more], query);
  }
});

test("gallery columns need gallery=true, single-item columns a single-item request", async (t) => {
  const service = await serve(t);
  const missing = async (path: string) => {
    const answer = await ask(service, path);
    const body = json(answer) as { response: object | object[] };
    const item = [body.response].flat()[0] ?? {};
    return DYNAMIC_COLUMN_NAMES.filter((name) => !Object.hasOwn(item, name));
  };
  assert.deepEqual(await missing(`/api/v1/content?${ALL_COLUMNS}&gallery=true`), SINGLE);
  assert.deepEqual(await missing(`/api/v1/content/c-rich?${ALL_COLUMNS}`), GALLERY);
  assert.deepEqual(await missing(`/api/v1/content/c-rich?${ALL_COLUMNS}&gallery=true`), []);
  const both = DYNAMIC_COLUMN_NAMES.filter((name) => GALLERY.includes(name) || SINGLE.includes(name));
  assert.deepEqual(await missing(`/api/v1/content?${ALL_COLUMNS}&gallery=false`), both);
});

test("columns and gallery have no effect beside detail=basic or full", async (t) => {
  const service = await serve(t);
  for (const detail of ["basic", "full"]) {
    const plain = json(await ask(service, `/api/v1/content/c-rich?detail=${detail}`));
    const more = json(
      await ask(service, `/api/v1/content/c-rich?detail=${detail}&${ALL_COLUMNS}&gallery=true`),
    );
    assert.deepEqual(more, plain);
  }
});

test("every dynamic column of an item without values is its default", async (t) => {
  const service = await serve(t);
  const path = `/api/v1/content/c-bare?${ALL_COLUMNS}&gallery=true`;
  const { response } = await read(service, path, singleEnvelope(dynamicItem), { token: "t-viewer" });
  const given: Record<string, unknown> = {
    body_type: "html",
    content_file_format: null,
    content_type: "article",
    content_type_details: makeType("article", "html"),
    created_at: "2024-01-01T00:00:00Z",
    creator: null,
    creator_details: null,
    discussion_url: "https://press.example/content/bare/discussion",
    field_locks: {},
    full_content_type: makeType("article", "html"),
    id: "c-bare",
    instance: { id: "instance-1", name: "Press Office", subdomain: "press" },
    service_url: "https://press.example/c/c-bare",
    newsroom_id: "instance-1",
    slug: "bare",
    updated: "2024-03-03T03:03:03Z",
    updated_at: "2024-03-03T03:03:03.250000Z",
    url: "https://press.example/content/bare",
  };
  for (const name of DYNAMIC_COLUMN_NAMES) {
    const fallback = DYNAMIC_COLUMNS[name].default;
    assert.deepEqual(response[name], fallback === NO_DEFAULT ? given[name] : fallback, name);
  }
});

/** What the dynamic view computes of the document with everything, for a viewer; other columns show what it states. */
const DYNAMIC_COMPUTED: Shown = {
  added_to_collection_date: { "col-1": "2024-01-23T00:00:00Z", "col-2": "2024-01-24T00:00:00Z" },
  added_to_collection_dates: [
    { collection_id: "col-1", added_date: "2024-01-23T00:00:00Z" },
    { collection_id: "col-2", added_date: "2024-01-24T00:00:00Z" },
  ],
  author_details: WRITER_DYNAMIC,
  available_actions: [],
  body_type: "photo",
  campaign_details: [CAMPAIGN],
  can_destroy: false,
  can_modify: false,
  categories_array: ["News", null],
  collection_uids: ["col-1", "col-2"],
  content_file_format: { name: "Image", extensions: ["jpg", "png"] },
  content_type_details: PHOTO,
  creator_details: {
    ...WRITER_DYNAMIC,
    id: "admin",
    email: "admin@example.com",
    name: "Name of admin",
    slug: "slug-admin",
  },
  favorite: true,
  favorite_count: 2,
  favorite_dates: ["2024-01-07T00:00:00Z", "2024-01-08T00:00:00Z"],
  favorited_by_users: ["writer", "viewer"],
  full_content_type: PHOTO,
  gallery_preview_revision_id: "rev-1",
  initiatives_details: [CAMPAIGN],
  instance: { id: "instance-1", name: "Press Office", subdomain: "press" },
  service_url: "https://press.example/c/c-rich",
  newsroom_id: "instance-1",
  next_task: RICH.tasks?.[1],
  next_task_deadline: "2024-01-09T00:00:00Z",
  next_task_owner: ["writer", "admin"],
  next_task_title: "Publish it",
  pinned_collection_rank: { "col-1": 3 },
  preferred_title: "Ärger im Büro",
  preferred_title_sort: "ärger im büro",
  published_url: "https://site.example/rich",
  task_deadlines: [
    { description: "Draft", deadline: "2024-01-10T00:00:00Z", smart_deadline: false },
    { description: "Publish it", deadline: "2024-01-09T00:00:00Z", smart_deadline: true },
  ],
  tasks_begin_at: "2024-01-09T00:00:00Z",
  tasks_end_at: "2024-01-10T00:00:00Z",
  updated: "2024-02-02T02:02:02Z",
  url: "https://press.example/content/rich-item",
};

/** The document with everything, and an example of every other column that a document can state. */
const COMPLETE: Document = { ...examples(false), ...RICH, gallery: { ...examples(true), ...RICH.gallery } };

function examples(galleryOnly: boolean): object {
  const names = DYNAMIC_COLUMN_NAMES.filter((name) => {
    const column = DYNAMIC_COLUMNS[name];
    return !COMPUTED_COLUMNS.has(name) && !column.eventOnly && column.galleryOnly === galleryOnly;
  });
  return Object.fromEntries(names.map((name) => [name, exampleOf(DYNAMIC_COLUMNS[name].schema, name)]));
}

test("every dynamic column shows what an item has", async (t) => {
  const service = await serve(t, { documents: [BARE, COMPLETE] });
  const path = `/api/v1/content/c-rich?${ALL_COLUMNS}&gallery=true`;
  const { response } = await read(service, path, singleEnvelope(dynamicItem), { token: "t-viewer" });
  for (const name of DYNAMIC_COLUMN_NAMES.filter((each) => !each.includes("custom_field"))) {
    const { galleryOnly, eventOnly } = DYNAMIC_COLUMNS[name];
    const stated = eventOnly ? null : Reflect.get((galleryOnly ? COMPLETE.gallery : COMPLETE) ?? {}, name);
    const expected = DYNAMIC_COMPUTED[name] ?? stated;
    assert.notEqual(expected, undefined, name);
    assert.deepEqual(response[name], expected, name);
  }
});

test("event fields are shown on events, and are null on items of other types whatever their document says", async (t) => {
  const fields = DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name].eventOnly);
  const event = Object.fromEntries(
    fields.map((name) => [name, exampleOf(DYNAMIC_COLUMNS[name].schema, name)]),
  );
  const documents = [{ ...EVENT, event }, ODD];
  const service = await serve(t, { documents });
  const query = fields.map((name) => `columns[]=${name}`).join("&");
  const shown = await read(service, `/api/v1/content/c-event?${query}`, singleEnvelope(dynamicItem));
  for (const name of fields) assert.equal(shown.response[name], event[name], name);
  const odd = json(await ask(service, `/api/v1/content/c-odd?${query}`)) as {
    response: Record<string, unknown>;
  };
  for (const name of fields) assert.equal(odd.response[name], null, name);
});

test("an item is found by its ID and by its slug, however long", async (t) => {
  const long: Document = { ...BARE, id: "c-long", slug: `${"very-".repeat(100)}long/ä` };
  const service = await serve(t, { documents: [BARE, long] });
  for (const key of ["c-long", encodeURIComponent(long.slug)]) {
    const { response } = await read(service, `/api/v1/content/${key}`, singleEnvelope(dynamicItem));
    assert.equal(response.id, "c-long");
  }
});

test("archived and deleted items are listed like others", async (t) => {
  const documents = [
    { ...BARE, archived: true },
    { ...BARE, id: "c-deleted", slug: "deleted", deleted_at: "2024-05-05T00:00:00Z" },
  ];
  const service = await serve(t, { documents });
  const { response } = await read(service, "/api/v1/content?columns[]=archived", listEnvelope(dynamicItem));
  assert.deepEqual(
    response.map(({ id, archived, deleted_at }) => [id, archived, deleted_at]),
    [
      ["c-bare", true, null],
      ["c-deleted", false, "2024-05-05T00:00:00Z"],
    ],
  );
});

test("unknown fields of a document are sent in every view, in place of a column of the same name", async (t) => {
  const service = await serve(t);
  for (const query of ["detail=basic", "detail=full", "columns[]=tags"]) {
    const answer = await ask(service, `/api/v1/content/c-odd?${query}`);
    const body = json(answer) as { response: Record<string, unknown> };
    assert.deepEqual(body.response.sentiment, { score: 0.5 });
    assert.equal(body.response.tags, "single");
    assert.equal(answer.bytes.toString().split('"tags":').length, 2, "the name stands there once");
  }
});

test("an item of a type, an author and campaigns that the content set does not describe is served", async (t) => {
  const service = await serve(t);
  const item = json(await ask(service, `/api/v1/content/c-odd?${ALL_COLUMNS}`)) as {
    response: Record<string, unknown>;
  };
  assert.equal(item.response.content_type_details, null);
  assert.equal(item.response.author, "user-gone");
  assert.equal(item.response.author_details, null);
  assert.equal(item.response.preferred_title, "(no title)");
  const basic = json(await ask(service, "/api/v1/content/c-odd?detail=basic")) as {
    response: Record<string, unknown>;
  };
  assert.equal(basic.response.content_type, "type-gone");
});
