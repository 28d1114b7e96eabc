/** `replay --verify`: a run is what its raw documents give, or what differs is told. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmod, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { replayCommand } from "../../../src/cli/commands/replay.ts";
import type { Manifest } from "../../../src/warehouse/manifest.ts";
import { sampleWarehouse } from "../../audit/sample.ts";
import { few, long } from "../../long.ts";
import { exportFrom, temporaryFolder } from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { outcome } from "../capture.ts";

function verify(out: string, ...args: string[]): ReturnType<typeof outcome> {
  return outcome(replayCommand, ["--verify", ...args, "--warehouse", out]);
}

/** Replaces a file of the current run; its manifest says so where it is `stated`. */
async function replaceFile(out: string, path: string, make: (bytes: Buffer) => Buffer, stated: boolean) {
  const file = join(out, "current", path);
  const bytes = make(await readFile(file));
  await chmod(file, 0o600);
  await writeFile(file, bytes);
  if (!stated) return;
  const manifestFile = join(out, "current/manifest.json");
  const manifest: Manifest = JSON.parse(await readFile(manifestFile, "utf8"));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const files = manifest.files.map((each) =>
    each.path === path ? { ...each, bytes: bytes.length, sha256 } : each,
  );
  await chmod(manifestFile, 0o600);
  await writeFile(manifestFile, JSON.stringify({ ...manifest, files }));
}

test("the sample is what its raw documents give, also where it is published as Parquet files alone", async () => {
  for (const pipeline of few(["parquet", "nightly"] as const, 1)) {
    const { text, error } = await verify(await sampleWarehouse(pipeline));
    assert.equal(error, undefined);
    assert.match(
      text,
      /^Run 000001-\S+ was built again: the rows of 55 tables are equal, and so are the bytes of \d+ data files/,
    );
  }
});

long("a row that differs is shown, and one byte of a raw file ends with its name, both with 31", async () => {
  const out = await sampleWarehouse();
  const otherOrigin = (bytes: Buffer) =>
    Buffer.from(bytes.toString().replace('"origin":"sample"', '"origin":"elsewhere"'));
  await replaceFile(out, "raw/extract.json", otherOrigin, true);
  const { text, error } = await verify(out, "--format", "json");
  assert.equal(error?.exitCode, 31);
  const { differences, examples, files } = JSON.parse(text);
  assert.deepEqual(differences, [{ table: "run", published: 1, rebuilt: 1 }]);
  assert.equal(examples.length, 1);
  assert.deepEqual(
    [examples[0].published, examples[0].rebuilt].map((row) => JSON.parse(row)),
    [{ instance_url: "sample" }, { instance_url: "elsewhere" }],
  );
  assert.deepEqual(files, []);

  const [full = ""] = await readdir(join(out, "current/raw/full"));
  const path = `raw/full/${full}`;
  const damaged = (bytes: Buffer) => {
    bytes[1000] = (bytes[1000] ?? 0) ^ 1;
    return bytes;
  };
  await replaceFile(out, path, damaged, false);
  const ended = await verify(out);
  assert.deepEqual([ended.text, ended.error?.exitCode], ["", 31]);
  assert.ok(ended.error?.message.includes(path), ended.error?.message);
});

test("a published file that is not as it was published ends with its name and 31", async () => {
  const out = await sampleWarehouse();
  const folder = "parquet/content_files";
  const [name = ""] = await readdir(join(out, "current", folder));
  const path = `${folder}/${name}`;
  const whole = await readFile(join(out, "current", path));
  const otherByte = () => Buffer.from(whole.map((byte, place) => (place === 1000 ? byte ^ 1 : byte)));
  for (const [damage, finding] of [
    [() => replaceFile(out, path, () => whole.subarray(0, 3000), false), "has another size"],
    [() => replaceFile(out, path, otherByte, false), "has another content"],
    [() => rm(join(out, "current", path)), "is missing"],
  ] as const) {
    await damage();
    const { text, error } = await verify(out);
    assert.deepEqual([text, error?.exitCode], ["", 31]);
    assert.ok(error?.message.includes(`its file ${path} ${finding}`), error?.message);
  }
});

test("a run that is not there, or without raw documents, ends with 2", async (t) => {
  const out = await temporaryFolder(t);
  const service = await Scripted.start(t, itemsOf(5));
  await exportFrom({ url: service.url, out, config: { raw: false } });
  for (const [run, sentence] of [
    ["7", /^There is no run "7" in /],
    ["1", /has no raw documents; name a run/],
  ] as const) {
    const { error } = await verify(out, run);
    assert.equal(error?.exitCode, 2);
    assert.match(error?.message ?? "", sentence);
  }
});
