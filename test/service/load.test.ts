import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { assembleContentSet, loadContentSet, repeatContentSet } from "../../src/service/load.ts";
import { createService } from "../../src/service/service.ts";
import { temporaryFolder } from "../folders.ts";
import { ALL_COLUMNS, ask, serve } from "./ask.ts";
import { BARE, CONTENT_SET, DOCUMENTS } from "./fixture.ts";

function lines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

/** A folder with the fixture's content set, and these files in place of its own. */
async function folder(t: TestContext, files: Record<string, string | Buffer | null> = {}): Promise<string> {
  return temporaryFolder(t, {
    "content.ndjson": lines(DOCUMENTS),
    "content_types.ndjson": lines(CONTENT_SET.contentTypes),
    "users.ndjson": lines(CONTENT_SET.users),
    "campaigns.ndjson": lines(CONTENT_SET.campaigns),
    "custom_fields.ndjson": lines(CONTENT_SET.customFields),
    "destinations.ndjson": lines(CONTENT_SET.destinations),
    "tokens.json": JSON.stringify(CONTENT_SET.tokens),
    "instance.json": JSON.stringify(CONTENT_SET.instance),
    ...files,
  });
}

test("a content set on disk is served as one in memory is", async (t) => {
  const onDisk = await createService({ data: await folder(t) });
  t.after(() => onDisk.close());
  const inMemory = await serve(t);
  for (const query of [
    "detail=basic",
    "detail=full",
    `${ALL_COLUMNS}&gallery=true`,
    "sort_field=updated_at",
  ]) {
    const path = `/api/v1/content?per_page=3&page=1&${query}`;
    assert.deepEqual((await ask(onDisk, path)).bytes, (await ask(inMemory, path)).bytes);
  }
});

test("lines may end in any way, and be blank", async (t) => {
  const rows = [BARE, { ...BARE, id: "c-2", slug: "two" }, { ...BARE, id: "c-3", slug: "three" }];
  const text = `\n${rows.map((row) => JSON.stringify(row)).join("\r\n \n")}`;
  const { documents } = await loadContentSet(await folder(t, { "content.ndjson": text }));
  assert.deepEqual(documents, rows);
});

const latin = Buffer.from(JSON.stringify({ ...BARE, title: "Büro" }), "latin1");

/** Files in place of the fixture's, and what the error says of them. */
const UNREADABLE: readonly (readonly [
  files: Record<string, string | Buffer | null>,
  parts: readonly string[],
])[] = [
  [{ "users.ndjson": null }, ["users.ndjson", "or leave it out to serve the sample"]],
  [{ "tokens.json": null }, ["tokens.json"]],
  [{ "content.ndjson": null }, ["content.ndjson"]],
  [{ "content.ndjson": `${lines([BARE])}\n{"id": "c-2", \n` }, ["content.ndjson, line 3", "JSON"]],
  [{ "content.ndjson": latin }, ["content.ndjson", "UTF-8"]],
  [{ "users.ndjson": lines([CONTENT_SET.users[0], { id: "u-2" }]) }, ["users.ndjson, line 2", "email"]],
  [{ "instance.json": "[]" }, ["instance.json"]],
  [{ "content.ndjson": lines([{ ...BARE, tags: "one" }]) }, ["line 1", "tags"]],
  [{ "content.ndjson": lines([{ ...BARE, slug: undefined }]) }, ["line 1", "slug"]],
  [{ "content.ndjson": lines([{ ...BARE, tasks: [{}] }]) }, ["line 1", "tasks.0.id"]],
  [{ "content.ndjson": lines([{ ...BARE, catgories: [] }]) }, ["line 1", "catgories"]],
  [{ "content.ndjson": lines([BARE, { ...BARE, slug: "other" }]) }, ['same id "c-bare"', "1 and 2"]],
  [{ "content.ndjson": lines([BARE, { ...BARE, id: "other" }]) }, ['same slug "bare"']],
];

test("a folder that cannot be served is a configuration error that names file, line and field", async (t) => {
  const folders = UNREADABLE.map(async ([files, parts]) => [await folder(t, files), parts] as const);
  for (const [path, parts] of [...(await Promise.all(folders)), ["/nowhere", ["/nowhere"]] as const])
    await assert.rejects(loadContentSet(path), (thrown) => {
      assert.ok(thrown instanceof WarehouseError);
      assert.equal(thrown.code, "config.content_set");
      for (const part of parts) assert.ok(thrown.message.includes(part), `${thrown.message} says ${part}`);
      return true;
    });
});

test("a set that is served three times has three times the items, each with an ID, a slug and times of its own", async () => {
  const set = await loadContentSet(packagePath("data/sample"));
  const count = set.documents.length;
  const { documents, find } = repeatContentSet(set, 3);
  assert.equal(new Set(documents.map(({ id }) => id)).size, 3 * count);
  const [first, second, third] = [documents[7], documents[count + 7], documents[2 * count + 7]];
  assert.ok(first !== undefined && third !== undefined);
  assert.equal(first, set.documents[7], "the first is the document itself");
  const { id, slug, created_at, updated_at } = first;
  assert.deepEqual([second?.id, second?.slug, third.id], [`${id}-1`, `${slug}-1`, `${id}-2`]);
  assert.equal(Date.parse(updated_at) - Date.parse(third.updated_at), 2000);
  assert.deepEqual({ ...third, id, slug, created_at, updated_at }, first, "all else is as it was");
  assert.equal(find(`${slug}-2`), third);
  assert.throws(() => assembleContentSet({ ...CONTENT_SET, documents: [BARE, BARE] }), WarehouseError);
});
