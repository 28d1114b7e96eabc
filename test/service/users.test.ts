import assert from "node:assert/strict";
import { test } from "node:test";
import { basicItem } from "../../src/api/basic.ts";
import { dynamicItem } from "../../src/api/dynamic.ts";
import { listEnvelope } from "../../src/api/envelope.ts";
import type { Document } from "../../src/service/content-set.ts";
import { ask, assertRefused, read, serve } from "./ask.ts";
import { BARE, CONTENT_SET, PRIVATE } from "./fixture.ts";
import { contentSetOf } from "./memory-set.ts";
import { singleEnvelope } from "./single-envelope.ts";

const PERMISSIONS =
  "columns[]=can_modify&columns[]=can_destroy&columns[]=available_actions&columns[]=favorite";

const MINE: Document = { ...BARE, id: "c-mine", slug: "mine", author: "writer" };
const OWNED: Document = {
  ...BARE,
  id: "c-owned",
  slug: "owned",
  owner: "writer",
  tags: ["x"],
  campaigns: ["camp-1"],
};
const LOCKED: Document = { ...OWNED, id: "c-locked", slug: "locked", locked: true };
const DELETED: Document = { ...OWNED, id: "c-deleted", slug: "deleted", deleted_at: "2024-05-05T00:00:00Z" };
const LIKED: Document = {
  ...BARE,
  id: "c-liked",
  slug: "liked",
  favorites: [{ user_id: "viewer", date: "2024-05-05" }],
};
const DATA = { ...CONTENT_SET, documents: [BARE, MINE, OWNED, LOCKED, DELETED, LIKED, PRIVATE] };

test("what the current user may do depends on the token", async (t) => {
  const service = await serve(t, { data: contentSetOf(DATA) });
  const may = async (token: string, id: string) => {
    const path = `/api/v1/content/${id}?${PERMISSIONS}`;
    const { response } = await read(service, path, singleEnvelope(dynamicItem), { token });
    const { can_modify, can_destroy, available_actions } = response;
    assert.equal(available_actions?.includes("delete"), can_destroy);
    assert.equal(available_actions?.length === 0, !can_modify);
    return `${can_modify ? "modify" : "-"} ${can_destroy ? "destroy" : "-"}`;
  };
  const table = async (token: string) =>
    Promise.all(["c-bare", "c-mine", "c-owned", "c-locked", "c-deleted"].map((id) => may(token, id)));
  assert.deepEqual(await table("t-admin"), [
    "modify destroy",
    "modify destroy",
    "modify destroy",
    "modify destroy",
    "- -",
  ]);
  assert.deepEqual(await table("t-writer"), ["- -", "modify -", "modify destroy", "- -", "- -"]);
  for (const token of ["t-viewer", "t-nobody"]) {
    assert.deepEqual(await table(token), ["- -", "- -", "- -", "- -", "- -"]);
  }
});

test("the available actions are those that make sense for the item, in the specification's order", async (t) => {
  const service = await serve(t, { data: contentSetOf(DATA) });
  const actions = async (token: string, id: string) => {
    const path = `/api/v1/content/${id}?columns[]=available_actions`;
    return (await read(service, path, singleEnvelope(dynamicItem), { token })).response.available_actions;
  };
  assert.deepEqual(await actions("t-writer", "c-owned"), [
    "publish",
    "publish_as_draft",
    "add_campaigns",
    "add_categories",
    "add_tags",
    "add_personas",
    "add_buying_stages",
    "copy_tags",
    "duplicate",
    "remove_initiatives",
    "sync_to_gallery",
    "archive",
    "delete",
    "set_progress_stage",
  ]);
  const admin = (await actions("t-admin", "c-bare")) ?? [];
  assert.ok(admin.includes("change_type") && admin.includes("add_visibility"));
  assert.ok(!admin.includes("copy_tags") && !admin.includes("update_tasks"));
});

test("favorite is the current user's", async (t) => {
  const service = await serve(t, { data: contentSetOf(DATA) });
  for (const [token, expected] of [
    ["t-viewer", true],
    ["t-writer", false],
  ] as const) {
    const path = `/api/v1/content/c-liked?${PERMISSIONS}&columns[]=favorite_count`;
    const { response } = await read(service, path, singleEnvelope(dynamicItem), { token });
    assert.equal(response.favorite, expected);
    assert.equal(response.favorite_count, 1);
  }
});

test("a private item is there for staff and for those whom its acl names, and for nobody else", async (t) => {
  const service = await serve(t, { data: contentSetOf(DATA) });
  const sees = async (token: string) => {
    const path = "/api/v1/content?detail=basic&sort_field=updated_at";
    const { response, pagination } = await read(service, path, listEnvelope(basicItem), { token });
    assert.equal(pagination.count, response.length);
    const listed = response.some(({ id }) => id === PRIVATE.id);
    for (const key of [PRIVATE.id, PRIVATE.slug]) {
      const single = await ask(service, `/api/v1/content/${key}`, { token });
      if (listed) assert.equal(single.status, 200);
      else assertRefused(single, 404);
    }
    return listed;
  };
  assert.deepEqual(
    [
      await sees("t-admin"),
      await sees("t-writer"),
      await sees("t-guest"),
      await sees("t-viewer"),
      await sees("t-nobody"),
    ],
    [true, true, true, false, false],
  );
});

test("an acl that is not private hides nothing", async (t) => {
  const summaries = ["PUBLIC", "PRIVATE_INSTANCE", "PRIVATE_MEMBERS"];
  const documents = summaries.map((access_summary) => ({
    ...BARE,
    id: access_summary,
    slug: access_summary,
    acl: { group_ids: [], user_ids: [], access_summary },
  }));
  const service = await serve(t, { data: contentSetOf({ ...CONTENT_SET, documents }) });
  const path = "/api/v1/content?columns[]=acl";
  const { response } = await read(service, path, listEnvelope(dynamicItem), { token: "t-viewer" });
  assert.deepEqual(
    response.map(({ acl }) => acl?.access_summary),
    summaries,
  );
});
