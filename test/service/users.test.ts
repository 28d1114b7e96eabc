import assert from "node:assert/strict";
import { test } from "node:test";
import { basicItem } from "../../src/api/basic.ts";
import { dynamicItem } from "../../src/api/dynamic.ts";
import { listEnvelope } from "../../src/api/envelope.ts";
import type { Document } from "../../src/service/content-set.ts";
import { ask, assertRefused, read, serve, singleEnvelope } from "./ask.ts";
import { BARE, PRIVATE } from "./fixture.ts";

/** A document that differs from the bare one by its ID, its slug and these facts. */
function item(id: string, facts: Partial<Document>): Document {
  return { ...BARE, id, slug: id, ...facts };
}

const owned = { owner: "writer", tags: ["x"], campaigns: ["camp-1"] };
const documents = [
  BARE,
  item("mine", { author: "writer" }),
  item("owned", owned),
  item("locked", { ...owned, locked: true }),
  item("deleted", { ...owned, deleted_at: "2024-05-05T00:00:00Z" }),
  item("liked", { favorites: [{ user_id: "viewer", date: "2024-05-05" }] }),
  PRIVATE,
];

test("what the current user may do depends on the token, and actions that make sense for the item are available", async (t) => {
  const service = await serve(t, { documents });
  const columns = "columns[]=can_modify&columns[]=can_destroy&columns[]=available_actions";
  const found = async (token: string, id: string) =>
    (await read(service, `/api/v1/content/${id}?${columns}`, singleEnvelope(dynamicItem), { token }))
      .response;
  const NOTHING = ["- -", "- -", "- -", "- -", "- -"];
  const EXPECTED: Readonly<Record<string, readonly string[]>> = {
    "t-admin": ["modify destroy", "modify destroy", "modify destroy", "modify destroy", "- -"],
    "t-writer": ["- -", "modify -", "modify destroy", "- -", "- -"],
    "t-viewer": NOTHING,
    "t-nobody": NOTHING,
  };
  for (const [token, expected] of Object.entries(EXPECTED)) {
    const may: string[] = [];
    for (const id of ["c-bare", "mine", "owned", "locked", "deleted"]) {
      const { can_modify, can_destroy, available_actions } = await found(token, id);
      assert.equal(available_actions?.includes("delete"), can_destroy);
      assert.equal(available_actions?.length === 0, !can_modify);
      may.push(`${can_modify ? "modify" : "-"} ${can_destroy ? "destroy" : "-"}`);
    }
    assert.deepEqual(may, expected, token);
  }
  const ofWriter =
    "publish publish_as_draft add_campaigns add_categories add_tags add_personas add_buying_stages copy_tags duplicate remove_initiatives sync_to_gallery archive delete set_progress_stage";
  assert.equal((await found("t-writer", "owned")).available_actions?.join(" "), ofWriter);
  const ofAdmin = new Set((await found("t-admin", "c-bare")).available_actions);
  assert.ok(ofAdmin.isSupersetOf(new Set(["change_type", "add_visibility"])));
  assert.ok(ofAdmin.isDisjointFrom(new Set(["copy_tags", "update_tasks"])));
});

test("favorite is the current user's", async (t) => {
  const service = await serve(t, { documents });
  for (const token of ["t-viewer", "t-writer"]) {
    const path = "/api/v1/content/liked?columns[]=favorite&columns[]=favorite_count";
    const { response } = await read(service, path, singleEnvelope(dynamicItem), { token });
    assert.deepEqual([response.favorite, response.favorite_count], [token === "t-viewer", 1]);
  }
});

test("a private item is there for staff and for those whom its acl names, and for nobody else", async (t) => {
  const service = await serve(t, { documents });
  for (const token of ["t-admin", "t-writer", "t-guest", "t-viewer", "t-nobody"]) {
    const isListed = !["t-viewer", "t-nobody"].includes(token);
    const path = "/api/v1/content?detail=basic&sort_field=updated_at";
    const { response, pagination } = await read(service, path, listEnvelope(basicItem), { token });
    assert.equal(pagination.count, response.length);
    assert.equal(
      response.some(({ id }) => id === PRIVATE.id),
      isListed,
      token,
    );
    for (const key of [PRIVATE.id, PRIVATE.slug]) {
      const single = await ask(service, `/api/v1/content/${key}`, { token });
      if (isListed) assert.equal(single.status, 200);
      else assertRefused(single, 404);
    }
  }
});

test("an acl that is not private hides nothing", async (t) => {
  const summaries = ["PUBLIC", "PRIVATE_INSTANCE", "PRIVATE_MEMBERS"];
  const service = await serve(t, {
    documents: summaries.map((access_summary) =>
      item(access_summary, { acl: { group_ids: [], user_ids: [], access_summary } }),
    ),
  });
  const path = "/api/v1/content?columns[]=acl";
  const { response } = await read(service, path, listEnvelope(dynamicItem), { token: "t-viewer" });
  assert.deepEqual(
    response.map(({ acl }) => acl?.access_summary),
    summaries,
  );
});
