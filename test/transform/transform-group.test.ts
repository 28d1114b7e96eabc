import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { NOT_REUSED, RawFileWriter } from "../../src/raw/raw-file.ts";
import { PartWriter } from "../../src/storage/parquet-file.ts";
import type { TransformOutput } from "../../src/transform/transform-group.ts";
import { bodyOf, DYNAMIC, FULL, NightlyLanding } from "../extract/landing/nightly-landing.ts";

/** Landed documents of a dynamic pass of one page. */
async function afterDynamic(t: Parameters<typeof NightlyLanding.in>[0], ...documents: string[]) {
  const landing = await NightlyLanding.in(t);
  landing.lander.page({ ...DYNAMIC, body: bodyOf(...documents) });
  landing.write(1);
  return landing;
}

function rowsOf({ parts }: TransformOutput, wanted: string): number[] {
  return parts.filter(({ table }) => table === wanted).map(({ part }) => part.rows);
}

function driftOf({ drift }: TransformOutput) {
  return drift.map(({ path, kind, count }) => [path, kind, count]);
}

test("a single-item answer adds to what the listing has of the item", async (t) => {
  const landing = await afterDynamic(t, '{"id":"a","title":"A"}');
  const { lander } = landing;
  const body = { ...bodyOf(), bytes: Buffer.from('{"response":{"id":"a","event_start_date":"01/02/26"}}') };
  const listed = { fingerprint: "", updatedAt: null };
  const place = { pass: 1, unit: 7, page: 1, position: 0 };
  const task = { ...place, contentId: "a", whole: false, lands: true, listed, body };
  lander.item({ kind: "item", shape: "dynamic", ...task });
  landing.write(7);
  lander.page({ ...FULL, body: bodyOf('{"id":"a","title":"B"}') });
  landing.write(2);
  const transformed = await landing.transformed();
  assert.deepEqual(rowsOf(transformed, "content"), [1]);
  assert.deepEqual(rowsOf(transformed, "content_events"), [1]);
  assert.deepEqual(driftOf(transformed), [["content.title", "views_differ", 1]]);
});

test("a raw document that cannot be read is told with its file", async (t) => {
  const landing = await NightlyLanding.in(t);
  const file = join(landing.directory, "broken.parquet");
  const view = { shape: "dynamic", order: 0, observedAt: 0 } as const;
  const place = { contentId: "a", mode: "dynamic", pass: 1, page: 1, position: 0, whole: true } as const;
  new RawFileWriter(new PartWriter()).write(file, [
    {
      ...place,
      view,
      unknownFields: 0,
      largeNumbers: false,
      reuse: NOT_REUSED,
      document: [Buffer.from('{"id":"a"')],
    },
  ]);
  landing.index.add(file, { ids: ["a"], codes: Uint8Array.of(2), orders: Float64Array.of(0) });
  await assert.rejects(
    landing.transformed(),
    (error) => error instanceof TypeError && error.message.startsWith(file),
  );
});
