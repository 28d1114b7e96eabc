import assert from "node:assert/strict";
import { cp, mkdtemp, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { loadContentSet } from "../../src/service/load.ts";
import { createService } from "../../src/service/service.ts";
import { temporaryFolder } from "../folders.ts";
import { ALL_COLUMNS, ask, assertRefused, serve } from "./ask.ts";
import { BARE, CONTENT_SET, DOCUMENTS } from "./fixture.ts";
import { contentSetOf } from "./memory-set.ts";

const { shared } = CONTENT_SET;

function lines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

/** A folder with the fixture's content set, and these files in place of its own. */
async function folder(t: TestContext, files: Record<string, string | Buffer | null> = {}): Promise<string> {
  return temporaryFolder(t, {
    "content.ndjson": lines(DOCUMENTS),
    "content_types.ndjson": lines(shared.contentTypes),
    "users.ndjson": lines(shared.users),
    "campaigns.ndjson": lines(shared.campaigns),
    "custom_fields.ndjson": lines(shared.customFields),
    "destinations.ndjson": lines(shared.destinations),
    "tokens.json": JSON.stringify(shared.tokens),
    "instance.json": JSON.stringify(shared.instance),
    ...files,
  });
}

async function assertUnreadable(path: string, ...parts: string[]): Promise<void> {
  await assert.rejects(loadContentSet(path), (thrown) => {
    assert.ok(thrown instanceof WarehouseError);
    assert.equal(thrown.code, "config.content_set");
    for (const part of parts) assert.ok(thrown.message.includes(part), `${thrown.message} says ${part}`);
    return true;
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

test("lines may end in any way, be blank, and be longer than a read", async (t) => {
  const content = `<p>${"lång ".repeat(500_000)}</p>`;
  const rows = [
    BARE,
    { ...BARE, id: "c-long", slug: "long", content },
    { ...BARE, id: "c-last", slug: "last" },
  ];
  const text = `\n${rows.map((row) => JSON.stringify(row)).join("\r\n \n")}`;
  const set = await loadContentSet(await folder(t, { "content.ndjson": text }));
  t.after(() => set.close());
  assert.equal(set.documents.count, 3);
  assert.deepEqual(await set.documents.read([2, 0, 1]), [rows[2], rows[0], rows[1]]);
});

test("a folder or a file that is missing is a configuration error with a way out", async (t) => {
  await assertUnreadable("/nowhere/at/all", "/nowhere/at/all", "or leave it out to serve the sample");
  await assertUnreadable(await folder(t, { "users.ndjson": null }), "users.ndjson");
  await assertUnreadable(await folder(t, { "tokens.json": null }), "tokens.json");
  await assertUnreadable(await folder(t, { "content.ndjson": null }), "content.ndjson");
});

test("a line that cannot be read is named by file and line", async (t) => {
  const broken = `${lines([BARE])}\n{"id": "c-2", \n`;
  await assertUnreadable(await folder(t, { "content.ndjson": broken }), "content.ndjson, line 3", "JSON");
  const latin = Buffer.from(JSON.stringify({ ...BARE, title: "Büro" }), "latin1");
  await assertUnreadable(await folder(t, { "content.ndjson": latin }), "line 1", "UTF-8");
  const users = lines([shared.users[0], { id: "u-2" }]);
  await assertUnreadable(await folder(t, { "users.ndjson": users }), "users.ndjson, line 2", "email");
  await assertUnreadable(await folder(t, { "instance.json": "[]" }), "instance.json");
});

test("a document of another shape is refused with the field's name", async (t) => {
  const refused: [object, string][] = [
    [{ ...BARE, tags: "one" }, "tags"],
    [{ ...BARE, slug: undefined }, "slug"],
    [{ ...BARE, tasks: [{}] }, "tasks.0.id"],
    [{ ...BARE, catgories: [] }, "catgories"],
  ];
  for (const [document, name] of refused) {
    await assertUnreadable(await folder(t, { "content.ndjson": lines([document]) }), "line 1", name);
  }
});

test("an ID and a slug belong to one document", async (t) => {
  const sameId = lines([BARE, { ...BARE, slug: "other" }]);
  await assertUnreadable(await folder(t, { "content.ndjson": sameId }), 'same id "c-bare"', "1 and 2");
  const sameSlug = lines([BARE, { ...BARE, id: "other" }]);
  await assertUnreadable(await folder(t, { "content.ndjson": sameSlug }), 'same slug "bare"');
  assert.throws(() => contentSetOf({ ...CONTENT_SET, documents: [BARE, BARE] }), WarehouseError);
});

test("a file that is cut while it is served is a 500, and the service goes on", async (t) => {
  const path = await folder(t);
  const service = await createService({ data: path });
  t.after(() => service.close());
  await truncate(join(path, "content.ndjson"), 10);
  const sentence = assertRefused(await ask(service, "/api/v1/content"), 500);
  assert.ok(!sentence.includes("content.ndjson"));
  assert.equal((await ask(service, "/openapi.json")).status, 200);
});

test("the sample content set can be served, and be replaced while it is", async (t) => {
  const path = await mkdtemp(join(tmpdir(), "content-set-"));
  t.after(() => rm(path, { recursive: true }));
  await cp(packagePath("data/sample"), path, { recursive: true });
  const set = await loadContentSet(path);
  t.after(() => set.close());
  await rm(join(path, "content.ndjson"));
  assert.ok(set.documents.count >= 400);
  assert.equal((await set.documents.read([set.documents.count - 1])).length, 1);
});
