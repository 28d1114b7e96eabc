/** What did not change since the run before is the same file. */
import assert from "node:assert/strict";
import { chmod, link, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";
import { systemClock } from "../../src/common/clock.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { eraseUser } from "../../src/erase/erase.ts";
import { isAboutTheRun } from "../../src/tables/all.ts";
import { freeBytes } from "../../src/warehouse/disk.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { type PublishedFile, readManifest } from "../../src/warehouse/manifest.ts";
import { digestOf } from "../../src/warehouse/verify.ts";
import { fewSampleNights } from "../audit/two-nights.ts";
import { capture } from "../cli/capture.ts";
import { generateContentSet } from "../generator/generate.ts";
import { either, long } from "../long.ts";
import { servedNight } from "./nights.ts";
import { HISTORY, NIGHTLY, temporaryFolder } from "./running.ts";

const tableOf = (path: string): string => path.split("/")[1] ?? "";

/** Parquet files of the tables of data, by table and number. */
async function dataFiles(directory: string): Promise<Map<string, PublishedFile>> {
  const { files } = await readManifest(directory);
  const data = files.filter(({ path }) => path.startsWith("parquet/") && !isAboutTheRun(tableOf(path)));
  return new Map(data.map((file) => [basename(file.path).replace(/-\d{6}-/, "-"), file]));
}

const inode = async (directory: string, { path }: PublishedFile): Promise<number> =>
  (await stat(join(directory, path))).ino;

const sumOf = (files: readonly PublishedFile[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

test("a night without changes has the files of the night before, and a damaged one gets into no other run", async (t) => {
  const out = join(await temporaryFolder(t), "warehouse");
  const [few] = await fewSampleNights(await temporaryFolder(t));
  const night = {
    out,
    data: either(few, packagePath("data/sample")),
    pipelineUrl: either(HISTORY, NIGHTLY),
  } as const;
  const { summary: first, port } = await servedNight({ ...night, port: 0 });
  const { summary: second } = await servedNight({ ...night, port });
  const [before, after] = [await dataFiles(first.directory), await dataFiles(second.directory)];
  const same: PublishedFile[] = [];
  const others: string[] = [];
  for (const [name, file] of after) {
    const old = before.get(name) ?? assert.fail(name);
    if (old.sha256 !== file.sha256) others.push(name);
    else {
      assert.equal(await inode(second.directory, file), await inode(first.directory, old), name);
      same.push(file);
    }
  }
  assert.deepEqual(others, ["run_history-0000.parquet"]);
  assert.ok(sumOf(same) >= either(0.9, 0.99) * sumOf([...after.values()]), `${sumOf(same)} bytes`);
  assert.ok((second.unchanged?.files ?? 0) >= either(12, 48), JSON.stringify(second.unchanged));
  assert.equal(first.unchanged, null);
  const shown = await capture(runsCommand, ["show", "current", "--warehouse", out]);
  assert.match(shown, /Size .* files; \d+ of them, [\d.]+ .B, as in the run before/);
  for (const [run, unchanged] of [
    ["2", second.unchanged],
    ["1", null],
  ] as const) {
    const json = await capture(runsCommand, ["show", run, "--format", "json", "--warehouse", out]);
    assert.deepEqual(JSON.parse(json).unchanged, unchanged);
  }

  const damaged = after.get("content-0000.parquet") ?? assert.fail();
  const path = join(second.directory, damaged.path);
  const bytes = await readFile(path);
  bytes[bytes.length >> 1] = 255 - (bytes[bytes.length >> 1] ?? 0);
  await chmod(path, 0o600);
  await writeFile(path, bytes);
  const { summary: third } = await servedNight({ ...night, port });
  const written = (await dataFiles(third.directory)).get("content-0000.parquet") ?? assert.fail();
  assert.equal(written.sha256, damaged.sha256);
  assert.notEqual(await inode(third.directory, written), await inode(second.directory, damaged));
  await capture(runsCommand, ["prune", "--keep", "1", "--warehouse", out]);
  assert.match(await capture(verifyCommand, ["--warehouse", out]), /^Whole: /);
});

long("an erasure changes no file that has another name", async (t) => {
  const folder = await temporaryFolder(t);
  const [data, out] = [join(folder, "data"), join(folder, "warehouse")];
  await generateContentSet({ items: 30, seed: 3, out: data });
  const night = {
    out,
    data,
    pipelineUrl: NIGHTLY,
    config: { personalData: { policy: "keep", key: null } },
  } as const;
  const { summary: first, port } = await servedNight({ ...night, port: 0 });
  const { summary: second } = await servedNight({ ...night, port });
  const kept = new Map<string, string>();
  for (const [name, { path, sha256 }] of await dataFiles(second.directory)) {
    await link(join(second.directory, path), join(folder, name));
    kept.set(name, sha256);
  }
  const [line = ""] = (await readFile(join(data, "users.ndjson"), "utf8")).split("\n");
  const { replaced } = await eraseUser(outputFolder(out), {
    userId: JSON.parse(line).id,
    clock: systemClock,
    threads: 1,
    freeBytes,
    onStep: () => {},
  });
  assert.deepEqual(replaced.map(({ run }) => run).toSorted(), [first.run, second.run]);
  for (const [name, sha256] of kept) assert.equal((await digestOf(join(folder, name))).sha256, sha256, name);
  const runs = replaced.map(({ replacedBy }) => join(out, "runs", replacedBy));
  const [one, other] = await Promise.all(runs.map(dataFiles));
  const users = "users-0000.parquet";
  assert.notEqual(one?.get(users)?.sha256, kept.get(users));
  const types = "content_types-0000.parquet";
  const inodes = [one, other].map((files, at) => inode(runs[at] ?? "", files?.get(types) ?? assert.fail()));
  assert.equal(await inodes[0], await inodes[1]);
  assert.match(await capture(verifyCommand, ["--all", "--warehouse", out]), /Whole/);
});
