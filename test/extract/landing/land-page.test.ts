import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { readPart } from "../../../src/storage/parquet-file.ts";
import type { TransformOutput } from "../../../src/transform/transform-group.ts";
import { bodyOf, DYNAMIC, FULL, NightlyLanding, turnedBodyOf } from "./nightly-landing.ts";

const NOWHERE = { fingerprint: "", updatedAt: null };

function contentRows({ parts }: TransformOutput): number | undefined {
  return parts.find(({ table }) => table === "content")?.part.rows;
}

test("C5: of a page that is damaged in its last document nothing stays, whatever came before it", async (t) => {
  const landing = await NightlyLanding.in(t);
  const { lander } = landing;
  const damaged = bodyOf('{"id":"a","odd":1}', '{"id":"b" "odd":1}');
  assert.throws(() => lander.page({ ...FULL, body: damaged }), { code: "source.damaged" });
  lander.page({ ...FULL, body: bodyOf('{"id":"a","odd":1}', '{"id":"b","odd":1}') });
  const { file, drift, rawFile } = landing.write(2);
  assert.ok(file);
  assert.equal(readPart(rawFile).rows, 2);
  assert.deepEqual(
    drift.map(({ path, count }) => [path, count]),
    [["odd", 2]],
  );
  assert.equal(contentRows(await landing.transformed()), 2);
});

test("pages that are written together may come in any order: its file has the order of the listing", async (t) => {
  for (const order of [
    [1, 2, 3],
    [3, 2, 1],
    [2, 3, 1],
  ]) {
    const landing = await NightlyLanding.in(t);
    for (const page of order)
      landing.lander.page({ ...FULL, page, body: bodyOf(`{"id":"a${page}"}`, `{"id":"b${page}"}`) });
    const { indexed, rawFile } = landing.write(2);
    assert.deepEqual(indexed?.ids, ["a1", "b1", "a2", "b2", "a3", "b3"]);
    assert.deepEqual(readPart(rawFile).cells("content_id").map(String), indexed?.ids);
  }
});

test("a page in a buffer of its own is told and kept like every other, and gives its memory back when it is written", async (t) => {
  const landing = await NightlyLanding.in(t);
  const { lander } = landing;
  const documents = [
    '{"id":"a","title": "\u00e9\u{1f600}"}',
    `{"id":"b","title":"${"x".repeat(2_000_000)}"}`,
  ];
  const text = Buffer.from(bodyOf(...documents).bytes);
  const bodies = [
    { bytes: new Uint8Array(text), contentEncoding: null, contentType: null },
    { bytes: new Uint8Array(gzipSync(text)), contentEncoding: "gzip", contentType: null },
  ];
  for (const [group, body] of bodies.entries()) {
    const page = { ...DYNAMIC, unit: group, body: { ...body, observedAt: 0, dated: true } };
    assert.equal(lander.page(page).decodedBytes, text.length);
    const { rawFile } = landing.write(group);
    assert.equal(body.bytes.length, 0);
    assert.deepEqual(readPart(rawFile).cells("document").map(String), documents);
  }
  for (const contentEncoding of [null, "gzip"]) {
    const bytes = new Uint8Array(contentEncoding === null ? text : gzipSync(text));
    const body = { bytes, contentEncoding, contentType: null, observedAt: 0, dated: true };
    const { decodedBytes } = lander.page({ ...DYNAMIC, mode: "basic", lands: false, body });
    assert.equal(decodedBytes, text.length);
    assert.equal(bytes.length, 0);
  }
});

test("C5: what is nested more deeply than it can be read is the service's fault, however it was asked for", async (t) => {
  const { lander } = await NightlyLanding.in(t);
  const deep = (levels: number) => `{"id":"a","x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  for (const bodyWith of [bodyOf, turnedBodyOf]) {
    const read = lander.page({ ...DYNAMIC, body: bodyWith(deep(2000)) });
    assert.deepEqual(read.rejects, []);
    for (const levels of [6000, 200_000]) {
      assert.throws(() => lander.page({ ...DYNAMIC, body: bodyWith(deep(levels)) }), {
        code: "source.damaged",
        message: /nested too deeply/,
      });
    }
  }
  const body = { ...bodyOf(), bytes: Buffer.from(deep(200_000)) };
  const place = { pass: 1, unit: 3, page: 1, position: 0, whole: true, lands: true, listed: NOWHERE };
  assert.throws(() => lander.item({ kind: "item", shape: "dynamic", contentId: "a", ...place, body }), {
    code: "source.damaged",
  });
});

test("the names of custom fields are told with the documents that carry them, by both modes and by single items", async (t) => {
  const landing = await NightlyLanding.in(t);
  const { lander } = landing;
  const fields = (key: string, ...names: unknown[]) =>
    `"${key}":[${names.map((name) => JSON.stringify({ id: `id of ${name}`, name })).join(",")}]`;
  const dynamic = fields("custom_fields_details", "Market", "Tone", 7);
  lander.page({
    ...DYNAMIC,
    body: bodyOf(`{"id":"a",${dynamic}}`, '{"id":"b","custom_fields_details":"none"}'),
  });
  assert.deepEqual(landing.write(1).fieldNames, ["Market", "Tone"]);
  lander.page({ ...FULL, body: bodyOf(`{"id":"a",${fields("custom_fields", "Market", "Season")}}`) });
  assert.deepEqual(landing.write(2).fieldNames, ["Market", "Season"]);
  const body = {
    ...bodyOf(),
    bytes: Buffer.from(`{"response":{"id":"a",${fields("custom_fields", "Alone")}}}`),
  };
  const place = { pass: 2, unit: 3, page: 1, position: 0, whole: true, lands: true, listed: NOWHERE };
  lander.item({ kind: "item", shape: "full", contentId: "a", ...place, body });
  assert.deepEqual(landing.write(3).fieldNames, ["Alone"]);
});
