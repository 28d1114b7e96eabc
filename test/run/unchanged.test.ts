/** What did not change since the run before is the same file. */
import assert from "node:assert/strict";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { isRunTable } from "../../src/tables/all.ts";
import { type PublishedFile, readManifest } from "../../src/warehouse/manifest.ts";
import { fewSampleNights } from "../audit/two-nights.ts";
import { capture } from "../cli/capture.ts";
import { either } from "../long.ts";
import { servedNight } from "./nights.ts";
import { HISTORY, NIGHTLY, temporaryFolder } from "./running.ts";

const tableOf = (path: string): string => path.split("/")[1] ?? "";

/** Parquet files of the tables of data, by table and number. */
async function dataFiles(directory: string): Promise<Map<string, PublishedFile>> {
  const { files } = await readManifest(directory);
  const data = files.filter(({ path }) => path.startsWith("parquet/") && !isRunTable(tableOf(path)));
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
