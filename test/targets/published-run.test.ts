import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { test } from "node:test";
import { readDeliveredRun } from "../../src/targets/published-run.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { findRun } from "../../src/warehouse/retention.ts";
import { TAGS, temporaryFolder } from "../load/fixtures.ts";
import { publish } from "../warehouse/published.ts";

const options = (temporaryDirectory: string) => ({
  runs: [],
  temporaryDirectory,
  signal: new AbortController().signal,
  onProgress: () => {},
});

test("a published run has for a target what its manifest and its files say", async (t) => {
  const out = await temporaryFolder(t);
  const { files, instance } = await publish(out);
  const found = await findRun(outputFolder(out), "current");
  const run = await readDeliveredRun(found, options(join(out, "tmp")));
  assert.deepEqual(
    [run.run, run.sequence, run.pipeline, run.verdict, run.instance],
    [found.run, 1, "nightly", "complete", instance],
  );
  assert.deepEqual(run.files, files);
  const text = await readFile(join(found.directory, "manifest.json"));
  const sha256 = createHash("sha256").update(text).digest("hex");
  assert.deepEqual(run.manifest, { path: "manifest.json", bytes: text.length, sha256 });
  const [content, tags] = run.tables;
  assert.deepEqual([content?.table.name, tags?.table.name], ["content", "content_tags"]);
  assert.deepEqual(
    tags?.files.map((file) => relative(out, file)),
    [0, 1].map((part) =>
      join("runs", found.run, `parquet/content_tags/content_tags-000001-000${part}.parquet`),
    ),
  );
  assert.deepEqual(tags?.table.columns, TAGS.columns);
  const rows: unknown[] = [];
  for await (const row of tags?.cells() ?? []) rows.push(row);
  assert.deepEqual(
    rows,
    [0, 1, 2].map((item) => [`item-000${item}`, 0, found.run]),
  );
});

test("a run without Parquet files is refused with what to do", async (t) => {
  const out = await temporaryFolder(t);
  await publish(out);
  const found = await findRun(outputFolder(out), "current");
  assert.ok(!(found.manifest instanceof Error));
  const manifest = { ...found.manifest, loaders: ["duckdb" as const] };
  await assert.rejects(readDeliveredRun({ ...found, manifest }, options(join(out, "tmp"))), {
    code: "config.invalid",
    message:
      /^The run 000001-\S+ has no Parquet files, .*add parquet\(\) to the loaders of the pipeline nightly/,
  });
});
