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
import { fewSampleNights, site } from "../audit/two-nights.ts";
import { capture } from "../cli/capture.ts";
import { either } from "../long.ts";
import { HISTORY } from "./running.ts";

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

const { out, folder, night } = await site();

test("a night without changes has the files of the night before, and a damaged one gets into no other run", async () => {
  const data = either((await fewSampleNights(folder))[0], packagePath("data/sample"));
  const nextRun = async () =>
    join(out, "runs", await night(data, either<"nightly" | URL>(new URL(HISTORY), "nightly")));
  const [first, second] = [await nextRun(), await nextRun()];
  const [before, after] = [await dataFiles(first), await dataFiles(second)];
  const same: PublishedFile[] = [];
  const others: string[] = [];
  for (const [name, file] of after) {
    const old = before.get(name) ?? assert.fail(name);
    if (old.sha256 !== file.sha256) others.push(name);
    else {
      assert.equal(await inode(second, file), await inode(first, old), name);
      same.push(file);
    }
  }
  assert.deepEqual(others, ["run_history-0000.parquet"]);
  assert.ok(sumOf(same) >= either(0.9, 0.99) * sumOf([...after.values()]), `${sumOf(same)} bytes`);
  const shown = await capture(runsCommand, ["show", "current", "--warehouse", out]);
  assert.match(shown, /Size .* files \([\d.]+ .B shared with the run before\)/);
  const unchangedIn = async (run: string) =>
    JSON.parse(await capture(runsCommand, ["show", run, "--format", "json", "--warehouse", out])).unchanged;
  assert.equal(await unchangedIn("1"), null);
  assert.ok((await unchangedIn("2")).files >= either(12, 48));

  const damaged = after.get("content-0000.parquet") ?? assert.fail();
  const path = join(second, damaged.path);
  const bytes = await readFile(path);
  bytes[bytes.length >> 1] = 255 - (bytes[bytes.length >> 1] ?? 0);
  await chmod(path, 0o600);
  await writeFile(path, bytes);
  const third = await nextRun();
  const written = (await dataFiles(third)).get("content-0000.parquet") ?? assert.fail();
  assert.equal(written.sha256, damaged.sha256);
  assert.notEqual(await inode(third, written), await inode(second, damaged));
  await capture(runsCommand, ["prune", "--keep", "1", "--warehouse", out]);
  assert.match(await capture(verifyCommand, ["--warehouse", out]), /^Whole: /);
});
