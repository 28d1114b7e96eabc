import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Secret } from "../../src/common/secret.ts";
import { keyId } from "../../src/config/config.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { personalHash } from "../../src/raw/personal/policy.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { long } from "../long.ts";
import {
  assertNowhereIn,
  exportFrom,
  NIGHTLY,
  publishedIds,
  rowsOf,
  temporaryFolder,
  textsIn,
} from "./running.ts";
import { type Item, item, itemsOf, type Json, Scripted } from "./scripted.ts";

const NO_ITEMS: readonly (readonly [unknown, string])[] = [
  [null, "the listed item is not an object"],
  ["c-text", "the listed item is not an object"],
  [["c-list"], "the listed item is not an object"],
  [{ title: "Nameless" }, "the item has no id"],
  [{ id: null, title: "Null" }, "the item has no id"],
  [{ id: 17, title: "Number" }, "the item's id is a number, not a text"],
  [{ id: { $oid: "c-object" } }, "the item's id is a object, not a text"],
  [{ id: "" }, "the item's id is empty or has white space at its ends"],
  [{ id: " c-blank " }, "the item's id is empty or has white space at its ends"],
];

test("C14, C15: what is no item goes to run_rejects with its reason and document; the rest is published, and the account holds", async (t) => {
  const service = await Scripted.start(t, [...itemsOf(12), ...NO_ITEMS.map(([document]) => document)]);
  const summary = await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    config: { perPage: 4 },
  });
  const { listed, loaded, rejected, vanished, counted } = summary.accounting;
  assert.deepEqual(
    [summary.verdict, listed, loaded, rejected, vanished, counted],
    ["complete", 21, 12, 9, 0, 21],
  );
  const rejects = await rowsOf(
    summary.directory,
    "SELECT mode, page::INTEGER, position::INTEGER, reason, document::VARCHAR FROM run_rejects ORDER BY reject",
  );
  const expected = ["dynamic", "full"].flatMap((mode) =>
    NO_ITEMS.map(([document, reason], index) => {
      const place = 12 + index;
      return [mode, Math.floor(place / 4) + 1, place % 4, reason, JSON.stringify(document)];
    }),
  );
  assert.deepEqual(rejects, expected);
  assert.deepEqual(
    await publishedIds(summary.directory),
    itemsOf(12).map(({ id }) => id),
  );
  const checks =
    "SELECT verdict, figure, expected FROM run_checks WHERE check_name LIKE 'listed =%' ORDER BY check_name";
  assert.deepEqual(await rowsOf(summary.directory, checks), [
    ["passed", "21", "21"],
    ["passed", "21", "21"],
  ]);
});

test("E3: a single-item answer of another item is a reject, and the listed views count", async (t) => {
  const service = await Scripted.start(t, itemsOf(11));
  service.script = ({ kind, id }) =>
    kind === "item" && id === "c-010" ? { body: { response: itemsOf(11)[3] } } : undefined;
  const { directory, accounting } = await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    config: { details: "events", perPage: 100 },
  });
  assert.deepEqual([accounting.listed, accounting.loaded, accounting.rejected], [11, 11, 0]);
  assert.deepEqual(await rowsOf(directory, "SELECT mode, content_id, reason FROM run_rejects"), [
    ["item", "c-010", "the answer is of another item than the one asked for"],
  ]);
});

/** Names, addresses and numbers of people that stand nowhere else. */
const CANARIES = [
  "canary.mail@example.com",
  "Canary Name",
  "Canary Bio",
  "+43-CANARY-PHONE",
  "https://canary.example/avatar.png",
  "canary-user-slug",
  "canary.unknown@example.com",
  "canary.nested@example.com",
  "canary.reject@example.com",
  "canary.list@example.com",
  "Canary Editor",
];

const PERSON: Json = {
  id: "u-1",
  email: "canary.mail@example.com",
  name: "Canary Name",
  name_sort: "Canary Name",
  bio: "Canary Bio",
  short_bio: "Canary Bio",
  phone: "+43-CANARY-PHONE",
  slug: "canary-user-slug",
  avatar_feed_url: "https://canary.example/avatar.png",
  avatar_profile_url: "https://canary.example/avatar.png",
  tz: "Europe/Vienna",
};

/** An export of two items with people in every place that can have some, and of rejects that have some too. */
async function exportPeople(
  t: TestContext,
  personalData: Parameters<typeof exportFrom>[0]["config"],
): Promise<RunSummary> {
  const service = await Scripted.start(t, [
    item("c-1", 0, { author: "u-1" }),
    item("c-2", 1, {}),
    { title: "No ID", author_details: PERSON, contact_email: "canary.reject@example.com" },
    [{ email: "canary.list@example.com" }],
  ]);
  service.arrange = (items, { mode }) =>
    items.map((each) => {
      if (Array.isArray(each) || !("id" in (each as Json))) return each;
      const unknown = {
        reviewer: { contact_email: "canary.nested@example.com" },
        authorEmail: "canary.unknown@example.com",
      };
      const full = { owner_details: PERSON, last_updated_by: PERSON, last_updated_by_details: PERSON };
      const editing = [
        { id: "u-1", name: "Canary Editor", avatar_url: "https://canary.example/avatar.png", last_seen: 1 },
      ];
      const dynamic = { author_details: PERSON, creator_details: PERSON, currently_editing: editing };
      return { ...(each as Item), ...unknown, ...(mode === "full" ? full : dynamic) };
    });
  return exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    pipelineUrl: NIGHTLY,
    config: { details: "all", ...personalData },
  });
}

test("with the policy drop, which is the default, nothing of a person stands in any published file", async (t) => {
  const { directory } = await exportPeople(t, {});
  await assertNowhereIn(directory, CANARIES);
  assert.deepEqual(await rowsOf(directory, "SELECT user_id, email, name, tz FROM users"), [
    ["u-1", null, null, "Europe/Vienna"],
  ]);
  const dropped = await rowsOf(directory, "SELECT path FROM run_drift WHERE kind = 'personal_dropped'");
  for (const path of ["author_details.email", "authorEmail", "reviewer.contact_email", "contact_email"]) {
    assert.ok(dropped.flat().includes(path), `${path} is not among ${dropped.flat().join(", ")}`);
  }
  assert.equal((await rowsOf(directory, "FROM run_rejects")).length, 4);
});

long(
  "with the policy hash, keyed hashes stand in their place, and the manifest names the key without showing it",
  async (t) => {
    const key = new Secret("CANARY-KEY-0123456789abcdef0123456789abcdef");
    const { directory } = await exportPeople(t, { personalData: { policy: "hash", key } });
    await assertNowhereIn(directory, [...CANARIES, key.reveal()]);
    const hashed = personalHash(Buffer.from(key.reveal()), "email", "canary.mail@example.com");
    assert.deepEqual(await rowsOf(directory, "SELECT email FROM users"), [[hashed]]);
    const { policy, keyId: named } = (await readManifest(directory)).personalData;
    assert.deepEqual({ policy, named }, { policy: "hash", named: keyId(key) });
  },
);

long("with the policy keep, people are kept, in tables, raw documents and rejects", async (t) => {
  const { directory } = await exportPeople(t, { personalData: { policy: "keep", key: null } });
  const texts = (await textsIn(directory)).map(({ text }) => text).join("\n");
  for (const canary of CANARIES) assert.ok(texts.includes(canary), canary);
  assert.deepEqual(await rowsOf(directory, "SELECT name, phone FROM users"), [
    ["Canary Name", "+43-CANARY-PHONE"],
  ]);
});
