import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readPart } from "../../src/load/part.ts";
import { loadPipeline, pipelineUrl } from "../../src/run/pipelines.ts";
import { RawWriter } from "../../src/run/raw.ts";
import { Staging } from "../../src/run/staging.ts";
import type { PageTask } from "../../src/run/tasks.ts";

const PAGINATION = '{"previous":null,"next":null,"current":1,"per_page":9,"count":9,"pages":1}';
const PLACE = { kind: "page", group: 0, firstPage: 1, page: 1 } as const;

function bodyOf(...documents: string[]): PageTask["body"] {
  const bytes = Buffer.from(`{"response":[${documents.join(",")}],"pagination":${PAGINATION}}`);
  return { bytes, contentEncoding: null, observedAt: 1_000_000 };
}

async function stagingIn(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), "staging-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const staging = new Staging(await loadPipeline(pipelineUrl("nightly", directory)), {
    directory,
    worker: 0,
    policy: "drop",
    hashKey: undefined,
    aliases: {},
    limits: { decodedBytes: 1_000_000 },
  });
  return { staging, directory };
}

test("C5: of a page that is damaged in its last document nothing stays, whatever came before it", async (t) => {
  const { staging, directory } = await stagingIn(t);
  const dynamic = { ...PLACE, mode: "dynamic", sweep: 1, pairWith: undefined } as const;
  const first = '{"id":"a","title":"A","strange":1}';
  const second = '{"id":"b","title":"B"}';
  staging.page({ ...dynamic, body: bodyOf(first, second) });
  staging.close({ kind: "close", sweep: 1, group: 0, rawFile: "dynamic.parquet" });

  const pairWith = [join(directory, "dynamic.parquet")];
  const full = { ...PLACE, mode: "full", sweep: 2, pairWith } as const;
  const damaged = bodyOf('{"id":"a","odd":1}', '{"id":"b" "odd":1}');
  assert.throws(() => staging.page({ ...full, body: damaged }), { code: "source.damaged" });
  const { transformed } = staging.page({ ...full, body: bodyOf('{"id":"a","odd":1}', '{"id":"b","odd":1}') });
  assert.deepEqual(transformed, ["a", "b"]);

  const { file, drift } = staging.close({ kind: "close", sweep: 2, group: 0, rawFile: "full.parquet" });
  assert.ok(file);
  assert.equal(readPart(join(directory, "full.parquet"), ["content_id"]).numRows, 2);
  assert.deepEqual(
    drift.map(({ path, count }) => [path, count]),
    [["odd", 2]],
  );
  const rows = staging.flush().parts.find(({ table }) => table === "content")?.part.rows;
  assert.equal(rows, 2);
});

test("the pages of a group may come in any order: rows and drift are those of the order of the listing", async (t) => {
  const told = [];
  for (const order of [
    [1, 2, 3],
    [3, 2, 1],
    [2, 3, 1],
  ]) {
    const { staging, directory } = await stagingIn(t);
    const dynamic = { ...PLACE, mode: "dynamic", sweep: 1, pairWith: undefined } as const;
    const documents = ["a", "b"].map((id) => `{"id":"${id}","title":"1"}`);
    staging.page({ ...dynamic, body: bodyOf(...documents) });
    staging.close({ kind: "close", sweep: 1, group: 0, rawFile: "dynamic.parquet" });
    const pairWith = [join(directory, "dynamic.parquet")];
    const full = { ...PLACE, mode: "full", sweep: 2, pairWith } as const;
    // Items that several pages list, each time with another title: the first page that does counts.
    const listed = (page: number) =>
      (page === 3 ? ["b"] : ["a", "b"]).map((id) => `{"id":"${id}","title":"${page}"}`);
    const transformed = order.map(
      (page) => staging.page({ ...full, page, body: bodyOf(...listed(page)) }).transformed,
    );
    assert.deepEqual(transformed.flat(), ["a", "b"]);
    staging.close({ kind: "close", sweep: 2, group: 0, rawFile: "full.parquet" });
    const { parts, drift } = staging.flush();
    const content = parts.find(({ table }) => table === "content")?.part;
    assert.equal(content?.rows, 2);
    told.push(drift.map(({ path, kind, count }) => [path, kind, count]));
  }
  assert.deepEqual(told, [[], [], []]);
});

test("of a pass that is made anew neither documents nor drift are left", async (t) => {
  const { staging, directory } = await stagingIn(t);
  const dynamic = { ...PLACE, mode: "dynamic", sweep: 1, pairWith: undefined } as const;
  staging.page({ ...dynamic, body: bodyOf('{"id":"a","title":"A"}') });
  staging.close({ kind: "close", sweep: 1, group: 0, rawFile: "dynamic.parquet" });
  const pairWith = [join(directory, "dynamic.parquet")];
  const full = { ...PLACE, mode: "full", sweep: 2, pairWith } as const;
  const body = () => bodyOf('{"id":"a","title":"B"}');
  staging.page({ ...full, body: body() });
  staging.drop({ kind: "drop", sweep: 2 });
  staging.page({ ...full, body: body() });
  staging.close({ kind: "close", sweep: 2, group: 0, rawFile: "full.parquet" });
  assert.equal(readPart(join(directory, "full.parquet"), ["content_id"]).numRows, 1);
  assert.deepEqual(
    staging.flush().drift.map(({ path, kind, count }) => [path, kind, count]),
    [["content.title", "views_differ", 1]],
  );
});

test("the size of a page is told in bytes, however its characters are written", async (t) => {
  const { staging } = await stagingIn(t);
  const body = bodyOf('{"id":"a","title":"\u00e9\u{1f600}"}');
  const { result } = staging.page({ ...PLACE, mode: "basic", sweep: 1, pairWith: undefined, body });
  assert.equal(result.decodedBytes, body.bytes.length);
  assert.ok(body.bytes.length > String(body.bytes).length);
});

test("C6: halves of characters are taken out of a page that is parsed as a whole, too", async (t) => {
  const { staging, directory } = await stagingIn(t);
  const bytes = Buffer.from(`{"pagination":${PAGINATION},"response":[{"id":"a","title":"x\\ud800"}]}`);
  const body = { bytes, contentEncoding: null, observedAt: 1_000_000 };
  staging.page({ ...PLACE, mode: "dynamic", sweep: 1, pairWith: undefined, body });
  const { drift } = staging.close({ kind: "close", sweep: 1, group: 0, rawFile: "dynamic.parquet" });
  assert.deepEqual(
    drift.map(({ path, kind }) => [path, kind]),
    [["title", "unreadable"]],
  );
  const document = readPart(join(directory, "dynamic.parquet"), ["document"]).getChild("document")?.get(0);
  assert.equal(document, '{"id":"a","title":"x\ufffd"}');
});

test("an item that another page of its group lists again has the rows of the first alone", async (t) => {
  const { staging, directory } = await stagingIn(t);
  const dynamic = { ...PLACE, mode: "dynamic", sweep: 1, pairWith: undefined } as const;
  staging.page({ ...dynamic, body: bodyOf('{"id":"a"}') });
  staging.close({ kind: "close", sweep: 1, group: 0, rawFile: "dynamic.parquet" });
  const pairWith = [join(directory, "dynamic.parquet")];
  const full = { ...PLACE, mode: "full", sweep: 2, pairWith } as const;
  const pages = [1, 2].map((page) => staging.page({ ...full, page, body: bodyOf('{"id":"a"}') }).transformed);
  assert.deepEqual(pages, [["a"], []]);
  staging.close({ kind: "close", sweep: 2, group: 0, rawFile: "full.parquet" });
  assert.equal(staging.flush().parts.find(({ table }) => table === "content")?.part.rows, 1);
  assert.equal(readPart(join(directory, "full.parquet"), ["content_id"]).numRows, 2);
});

test("a staged document that cannot be read is no answer of the service: nobody asks for it again", async (t) => {
  const { staging, directory } = await stagingIn(t);
  const file = join(directory, "broken.parquet");
  const view = { shape: "dynamic", order: 0, observedAt: 0 } as const;
  const place = { contentId: "a", mode: "dynamic", sweep: 1, page: 1, position: 0 } as const;
  new RawWriter().write(file, [{ ...place, view, unknownFields: 0, document: '{"id":"a"' }]);
  const full = { ...PLACE, mode: "full", sweep: 2, pairWith: [file], body: bodyOf('{"id":"a"}') } as const;
  assert.throws(
    () => staging.page(full),
    (error) => error instanceof TypeError && error.message.startsWith(file),
  );
});
