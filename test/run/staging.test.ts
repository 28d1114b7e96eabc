import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { PartWriter, readPart } from "../../src/storage/parquet-file.ts";
import { RawWriter } from "../../src/raw/raw-file.ts";
import type { FlushResult } from "../../src/run/tasks.ts";
import { bodyOf, DYNAMIC, FULL, stagingIn, turnedBodyOf } from "./nightly-staging.ts";

/** A staging after a dynamic pass of one page, and what the pages of the full one have in common. */
async function afterDynamic(t: TestContext, ...documents: string[]) {
  const { staging, directory } = await stagingIn(t);
  staging.page({ ...DYNAMIC, body: bodyOf(...documents) });
  staging.close({ kind: "close", sweep: 1, group: 0, rawFile: "dynamic.parquet" });
  const full = { ...FULL, pairWith: { listed: join(directory, "dynamic.parquet"), singles: [] } };
  const close = () => staging.close({ kind: "close", sweep: 2, group: 0, rawFile: "full.parquet" });
  const rawRows = () => readPart(join(directory, "full.parquet")).rows;
  return { staging, full, close, rawRows };
}

function contentRows({ parts }: FlushResult): number | undefined {
  return parts.find(({ table }) => table === "content")?.part.rows;
}

test("C5: of a page that is damaged in its last document nothing stays, whatever came before it", async (t) => {
  const { staging, full, close, rawRows } = await afterDynamic(
    t,
    '{"id":"a","title":"A","strange":1}',
    '{"id":"b","title":"B"}',
  );
  const damaged = bodyOf('{"id":"a","odd":1}', '{"id":"b" "odd":1}');
  assert.throws(() => staging.page({ ...full, body: damaged }), { code: "source.damaged" });
  const { transformed } = staging.page({ ...full, body: bodyOf('{"id":"a","odd":1}', '{"id":"b","odd":1}') });
  assert.deepEqual(transformed, ["a", "b"]);
  const { file, drift } = close();
  assert.ok(file);
  assert.equal(rawRows(), 2);
  assert.deepEqual(
    drift.map(({ path, count }) => [path, count]),
    [["odd", 2]],
  );
  assert.equal(contentRows(staging.flush()), 2);
});

test("the pages of a group may come in any order: rows and drift are those of the order of the listing", async (t) => {
  const told = [];
  for (const order of [
    [1, 2, 3],
    [3, 2, 1],
    [2, 3, 1],
  ]) {
    const documents = ["a", "b"].map((id) => `{"id":"${id}","title":"1"}`);
    const { staging, full, close } = await afterDynamic(t, ...documents);
    // Items that several pages list, each time with another title: the first page that does counts.
    const listed = (page: number) =>
      (page === 3 ? ["b"] : ["a", "b"]).map((id) => `{"id":"${id}","title":"${page}"}`);
    const transformed = order.map(
      (page) => staging.page({ ...full, page, body: bodyOf(...listed(page)) }).transformed,
    );
    assert.deepEqual(transformed.flat(), ["a", "b"]);
    close();
    const flushed = staging.flush();
    assert.equal(contentRows(flushed), 2);
    told.push(flushed.drift.map(({ path, kind, count }) => [path, kind, count]));
  }
  assert.deepEqual(told, [[], [], []]);
});

test("of a pass that is made anew neither documents nor drift are left", async (t) => {
  const { staging, full, close, rawRows } = await afterDynamic(t, '{"id":"a","title":"A"}');
  const body = () => bodyOf('{"id":"a","title":"B"}');
  staging.page({ ...full, body: body() });
  staging.drop({ kind: "drop", sweep: 2 });
  staging.page({ ...full, body: body() });
  close();
  assert.equal(rawRows(), 1);
  assert.deepEqual(
    staging.flush().drift.map(({ path, kind, count }) => [path, kind, count]),
    [["content.title", "views_differ", 1]],
  );
});

test("the size of a page is told in bytes, however its characters are written", async (t) => {
  const { staging } = await stagingIn(t);
  const body = bodyOf('{"id":"a","title":"\u00e9\u{1f600}"}');
  const { result } = staging.page({ ...DYNAMIC, mode: "basic", lands: false, body });
  assert.equal(result.decodedBytes, body.bytes.length);
  assert.ok(body.bytes.length > String(body.bytes).length);
});

test("a page in a buffer of its own is told and kept like every other, and gives its memory back when it is written", async (t) => {
  const { staging, directory } = await stagingIn(t);
  const documents = ['{"id":"a","title": "A"}', `{"id":"b","title":"${"x".repeat(2_000_000)}"}`];
  const text = Buffer.from(bodyOf(...documents).bytes);
  const bodies = [
    { bytes: new Uint8Array(text), contentEncoding: null },
    { bytes: new Uint8Array(gzipSync(text)), contentEncoding: "gzip" },
  ];
  for (const [group, body] of bodies.entries()) {
    const page = { ...DYNAMIC, group, body: { ...body, observedAt: 0 } };
    assert.equal(staging.page(page).result.decodedBytes, text.length);
    const rawFile = `${group}.parquet`;
    staging.close({ kind: "close", sweep: 1, group, rawFile });
    assert.equal(body.bytes.length, 0);
    assert.deepEqual(readPart(join(directory, rawFile)).cells("document").map(String), documents);
  }
  for (const contentEncoding of [null, "gzip"]) {
    const bytes = new Uint8Array(contentEncoding === null ? text : gzipSync(text));
    const { result } = staging.page({
      ...DYNAMIC,
      mode: "basic",
      lands: false,
      body: { bytes, contentEncoding, observedAt: 0 },
    });
    assert.equal(result.decodedBytes, text.length);
    assert.equal(bytes.length, 0);
  }
});

test("C6: halves of characters are taken out of a page that is parsed as a whole, too", async (t) => {
  const { staging, directory } = await stagingIn(t);
  staging.page({ ...DYNAMIC, body: turnedBodyOf('{"id":"a","title":"x\\ud800"}') });
  const { drift } = staging.close({ kind: "close", sweep: 1, group: 0, rawFile: "dynamic.parquet" });
  assert.deepEqual(
    drift.map(({ path, kind }) => [path, kind]),
    [["title", "unreadable"]],
  );
  const [document] = readPart(join(directory, "dynamic.parquet")).cells("document");
  assert.equal(String(document), '{"id":"a","title":"x\ufffd"}');
});

test("an item that another page of its group lists again has the rows of the first alone", async (t) => {
  const { staging, full, close, rawRows } = await afterDynamic(t, '{"id":"a"}');
  const pages = [1, 2].map((page) => staging.page({ ...full, page, body: bodyOf('{"id":"a"}') }).transformed);
  assert.deepEqual(pages, [["a"], []]);
  close();
  assert.equal(contentRows(staging.flush()), 1);
  assert.equal(rawRows(), 2);
});

test("C5: what is nested more deeply than it can be read is the service's fault, however it was asked for", async (t) => {
  const { staging } = await stagingIn(t);
  const deep = (levels: number) => `{"id":"a","x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  for (const bodyWith of [bodyOf, turnedBodyOf]) {
    const read = staging.page({ ...DYNAMIC, body: bodyWith(deep(2000)) });
    assert.deepEqual(read.result.rejects, []);
    for (const levels of [6000, 200_000]) {
      assert.throws(() => staging.page({ ...DYNAMIC, body: bodyWith(deep(levels)) }), {
        code: "source.protocol",
        message: /nested too deeply/,
      });
    }
  }
  const body = { ...bodyOf(), bytes: Buffer.from(deep(200_000)) };
  const place = { sweep: 1, group: 0, page: 1, position: 0, whole: true };
  assert.throws(() => staging.item({ kind: "item", shape: "dynamic", contentId: "a", ...place, body }), {
    code: "source.protocol",
  });
});

test("a staged document that cannot be read is no answer of the service: nobody asks for it again", async (t) => {
  const { staging, directory } = await stagingIn(t);
  const file = join(directory, "broken.parquet");
  const view = { shape: "dynamic", order: 0, observedAt: 0 } as const;
  const place = { contentId: "a", mode: "dynamic", sweep: 1, page: 1, position: 0, whole: true } as const;
  new RawWriter(new PartWriter()).write(file, [
    { ...place, view, unknownFields: 0, largeNumbers: false, document: [Buffer.from('{"id":"a"')] },
  ]);
  assert.throws(
    () => staging.page({ ...FULL, pairWith: { listed: file, singles: [] }, body: bodyOf('{"id":"a"}') }),
    (error) => error instanceof TypeError && error.message.startsWith(file),
  );
});

test("what was read of other views is given back when the group is done, or given up", async (t) => {
  const bytes = 2 * 1024 * 1024;
  const large = JSON.stringify({ id: "a", title: "x".repeat(bytes) });
  const { staging, full } = await afterDynamic(t, large);
  for (const done of [
    () => staging.close({ kind: "close", sweep: 2, group: 0, rawFile: "full.parquet" }),
    () => staging.drop({ kind: "drop", sweep: 2 }),
  ]) {
    staging.page({ ...full, body: bodyOf('{"id":"b"}') });
    const before = process.memoryUsage().arrayBuffers;
    done();
    assert.ok(before - process.memoryUsage().arrayBuffers > 0.9 * bytes);
  }
});

test("a single-item answer adds to an item of the other listing, and is none of it", async (t) => {
  const { staging, full } = await afterDynamic(t, '{"id":"a","title":"A"}');
  for (const [position, contentId] of ["a", "b"].entries()) {
    const body = { ...bodyOf(), bytes: Buffer.from(`{"response":{"id":"${contentId}","event_agenda":"x"}}`) };
    const task = { sweep: 1, group: 7, page: 1, position, contentId, whole: false, body };
    staging.item({ kind: "item", shape: "dynamic", ...task });
  }
  const rawFile = "item.parquet";
  staging.close({ kind: "close", sweep: 1, group: 7, rawFile });
  const { listed } = full.pairWith;
  const pairWith = { listed, singles: [join(dirname(listed), rawFile)] };
  const page = { ...full, pairWith, body: bodyOf('{"id":"a"}', '{"id":"b"}') };
  // What the listing has of "b" is with another group: it is left for later.
  assert.deepEqual(staging.page(page).transformed, ["a"]);
});

test("tables that hold little wait when rows are written out, and come at the end", async (t) => {
  const ids = Array.from({ length: 18 }, (_, i) => `c-${i}`);
  const { staging, full } = await afterDynamic(
    t,
    ...ids.map((id) => `{"id":"${id}","content":"${"x".repeat(900 * 1024)}","tags":["one"]}`),
  );
  staging.page({ ...full, body: bodyOf(...ids.map((id) => `{"id":"${id}"}`)) });
  const { parts } = staging.flush();
  const rowsOf = (wanted: string) =>
    parts.filter(({ table }) => table === wanted).map(({ part }) => part.rows);
  assert.deepEqual(rowsOf("content"), [14, 4]);
  assert.deepEqual(rowsOf("content_tags"), [18]);
});
