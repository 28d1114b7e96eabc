/** Paths in files that somebody has changed, in a lake and in a warehouse, whose digests were put right: none is followed. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { lakeCommand } from "../../src/cli/commands/lake.ts";
import { replayCommand } from "../../src/cli/commands/replay.ts";
import { restoreCommand } from "../../src/cli/commands/restore.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";
import { readTable } from "../../src/targets/lake/delta/log.ts";
import { activeFiles } from "../../src/targets/lake/delta/state.ts";
import { lake } from "../../src/targets/lake/lake.ts";
import { readSnapshotRows, type SnapshotRow, snapshotFile } from "../../src/targets/lake/snapshots.ts";
import { FileStore } from "../../src/targets/store/file-store.ts";
import { type Manifest, readManifest } from "../../src/warehouse/manifest.ts";
import { outcome } from "../cli/capture.ts";
import { temporaryFolder } from "../folders.ts";
import { NEVER } from "../never.ts";
import { nightOn, type World, worldOf } from "../run/two-machines.ts";

const INSTANCE = "main";
const [FIRST, SECOND] = ["000001-20261120T020000Z", "000002-20261121T020000Z"];
const COPY = `_published/instance=${INSTANCE}/000002`;

const lakeIn = (folder: string) => ({ url: pathToFileURL(join(folder, "lake")).href, instance: INSTANCE });

/** A file of a table again, under another path: the store has its content. */
function withPath({ files }: Manifest, path: string): Pick<Manifest, "files"> {
  const file = files.find((each) => each.path.startsWith("parquet/content/")) ?? assert.fail();
  return { files: [...files, { ...file, path }] };
}

/** The lake of two nights of machine A; `warehouse` is the folder of that machine, `empty` that of another one. */
async function copied(t: TestContext, base: World, lakeFolder: string) {
  const folder = await temporaryFolder(t);
  await cp(join(lakeFolder, "lake"), join(folder, "lake"), { recursive: true });
  const [warehouse, empty] = [join(folder, "deep/a"), join(folder, "deep/b")];
  await cp(base.folders.A, warehouse, { recursive: true, verbatimSymlinks: true });
  const targets = [{ type: "lake", ...lakeIn(folder) }];
  await writeFile(join(folder, "content-warehouse.config.json"), JSON.stringify({ targets }));
  const store = new FileStore(join(folder, "lake"), NEVER);
  const env = { ...process.env, CONTENT_API_TOKEN: "token" };
  const ask = (make: Parameters<typeof outcome>[0], ...args: string[]) =>
    outcome(make, args, { cwd: folder, env });
  const run = () =>
    nightOn({ ...base, target: lake(lakeIn(folder)), folders: { A: warehouse, B: empty } }, "B", 2);

  const state = await readTable(store, "run_snapshots");
  const [file] = activeFiles(state, INSTANCE);
  const rows = await readSnapshotRows(store, state, INSTANCE);

  /** Changes the rows that `run_snapshots` was delivered with, in its only file. */
  async function changeRows(change: (row: SnapshotRow) => Partial<SnapshotRow>): Promise<void> {
    const body = snapshotFile(rows.map((row) => ({ ...row, ...change(row) })));
    await store.put(`run_snapshots/${file?.path}`, body);
  }

  /** Changes the manifest of the last run in the lake, and puts its digest right. */
  async function changeCopy(path: string): Promise<void> {
    const manifest = await readManifest(join(base.folders.A, "runs", SECOND));
    const body = Buffer.from(JSON.stringify({ ...manifest, ...withPath(manifest, path) }));
    await store.put(`${COPY}/manifest.json`, body);
    const manifest_sha256 = hash("sha256", body);
    await changeRows(({ run }) => (run === SECOND ? { manifest_sha256 } : {}));
  }

  return { folder, warehouse, empty, ask, run, changeRows, changeCopy };
}

/** A file of a published run that can be changed. */
async function unsealed(directory: string, path = "manifest.json"): Promise<string> {
  await chmod(directory, 0o755);
  await chmod(join(directory, path, ".."), 0o755);
  await chmod(join(directory, path), 0o644);
  return join(directory, path);
}

const refused = (code: string, exitCode: number, message: RegExp) => ({ code, exitCode, message });

test("paths in tampered files", async (t) => {
  const folder = await temporaryFolder(t);
  const base = await worldOf(t, lake(lakeIn(folder)));
  for (const night of [0, 1]) await nightOn(base, "A", night);

  await t.test("F22: a lake's manifest puts no file outside of the warehouse", async (t) => {
    const { folder: around, empty, ask, run, changeCopy } = await copied(t, base, folder);
    // From .staging/RUN/result to the folder that has the warehouse.
    const path = "parquet/../../../../../stolen";
    await changeCopy(path);
    const message = new RegExp(
      `^${COPY}/manifest\\.json in file:\\S+ cannot be read \\(it is not a manifest at files\\.\\d+\\.path: the path "${path}" leads out of its folder\\); somebody changed it`,
    );
    const restored = await ask(restoreCommand, "--warehouse", empty);
    assert.ok(!existsSync(join(around, "deep/stolen")));
    assert.deepEqual([restored.error?.code, restored.exitCode], ["target.refused", 26]);
    assert.match(restored.error?.message ?? "", message);
    await assert.rejects(run(), refused("target.refused", 26, message));
    const verified = await ask(lakeCommand, "verify");
    assert.match(verified.text, new RegExp(`^DAMAGED: .*\n  ${message.source.slice(1)}`));
    assert.equal(verified.exitCode, 31);
    assert.ok(!existsSync(join(around, "deep/stolen")));
    assert.ok(!existsSync(join(empty, "current")));
  });

  await t.test("F22: no form of a path that leads out of its folder is taken from a lake", async (t) => {
    const { empty, ask, changeCopy, changeRows } = await copied(t, base, folder);
    for (const path of [
      "",
      "/stolen",
      "parquet//x",
      "parquet/./x",
      "parquet/..",
      "parquet\\..\\x",
      "parquet/\0",
    ]) {
      await changeCopy(path);
      const { error } = await ask(restoreCommand, "--warehouse", empty);
      assert.equal(error?.exitCode, 26, path);
      assert.match(error?.message ?? "", /leads out of its folder/, path);
    }
    for (const change of [{ table_name: "../x" }, { files: [{ path: "../x", bytes: 1, sha256: "" }] }]) {
      await changeRows(() => change);
      const { error } = await ask(restoreCommand, "--warehouse", empty);
      assert.equal(error?.exitCode, 26);
      assert.match(error?.message ?? "", /^run_snapshots\/instance=main\/\S+ in file:\S+ cannot be read \(`/);
    }
  });

  await t.test("F22: a manifest of the warehouse leads no command out of its run", async (t) => {
    const { warehouse, ask } = await copied(t, base, folder);
    for (const run of [FIRST, SECOND]) {
      const directory = join(warehouse, "runs", run);
      const manifest = await readManifest(directory);
      const path = "raw/../../../stolen.parquet";
      const [file] = manifest.files.filter((each) => each.path.startsWith("parquet/content/"));
      await copyFile(join(directory, file?.path ?? ""), join(warehouse, "stolen.parquet"));
      const changed = JSON.stringify({ ...manifest, ...withPath(manifest, path) });
      await writeFile(await unsealed(directory), changed);
    }
    const named =
      /^The manifest \S+\/manifest\.json cannot be read \(it is not a manifest at files\.\d+\.path: the path "raw\/\.\.\/\.\.\/\.\.\/stolen\.parquet" leads out of its folder\)/;
    for (const [make, ...args] of [[runsCommand, "rollback", "1"], [replayCommand]] as const) {
      const { error } = await ask(make, ...args, "--warehouse", warehouse);
      assert.deepEqual([error?.code, error?.exitCode], ["verify.failed", 31]);
      assert.match(error?.message ?? "", named);
    }
    const { text, exitCode } = await ask(verifyCommand, "--json", "--warehouse", warehouse);
    assert.equal(exitCode, 31);
    assert.match(JSON.parse(text).findings[0], named);
    assert.equal(await readlink(join(warehouse, "current")), `runs/${SECOND}`);
    assert.ok(!existsSync(join(warehouse, ".staging/stolen.parquet")));
  });

  await t.test("F22: a replay executes no file of a run", async (t) => {
    const { folder: around, warehouse, ask } = await copied(t, base, folder);
    const directory = join(warehouse, "runs", SECOND);
    const manifest = await readManifest(directory);
    const [module, proof] = [join(directory, "raw/evil.mjs"), join(around, "executed")];
    const text = await readFile(await unsealed(directory, "raw/extract.json"), "utf8");
    const record = JSON.parse(text);
    const pipeline = { name: "evil", module: pathToFileURL(module).href };
    const facts = { ...record, asked: { ...record.asked, pipeline } };
    const contents = {
      "raw/extract.json": JSON.stringify(facts),
      "raw/evil.mjs": `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(proof)}, "");`,
    };
    const others = manifest.files.filter(({ path }) => !Object.hasOwn(contents, path));
    const changed = Object.entries(contents).map(([path, content]) => {
      return { path, bytes: content.length, sha256: hash("sha256", content), rows: null };
    });
    for (const [path, content] of Object.entries(contents)) await writeFile(join(directory, path), content);
    await writeFile(
      await unsealed(directory),
      JSON.stringify({ ...manifest, files: [...others, ...changed] }),
    );
    const { error } = await ask(replayCommand, "--warehouse", warehouse);
    assert.ok(!existsSync(proof));
    assert.deepEqual([error?.code, error?.exitCode], ["verify.failed", 31]);
    assert.match(error?.message ?? "", /names the pipeline module \S+\/raw\/evil\.mjs, a file of a run/);
  });

  await t.test("F23: a symbolic link in a run or a lake is not followed", async (t) => {
    const { folder: around, warehouse, empty, ask } = await copied(t, base, folder);
    const away = join(around, "away");
    await mkdir(away);
    for (const run of [FIRST, SECOND]) {
      const raw = await unsealed(join(warehouse, "runs", run), "raw/dynamic");
      await chmod(raw, 0o755);
      await rename(raw, join(away, run));
      await symlink(join(away, run), raw);
    }
    for (const [make, ...args] of [
      [runsCommand, "rollback", "1"],
      [replayCommand],
      [verifyCommand],
    ] as const) {
      const { error, text } = await ask(make, ...args, "--warehouse", warehouse);
      assert.deepEqual([error?.code, error?.exitCode], ["verify.failed", 31]);
      assert.match(`${text}${error?.message}`, /raw\/dynamic/);
    }
    assert.equal(await readlink(join(warehouse, "current")), `runs/${SECOND}`);

    const copies = join(around, "lake", COPY);
    await rename(copies, join(away, "copies"));
    await symlink(join(away, "copies"), copies);
    const { error } = await ask(restoreCommand, "--warehouse", empty);
    assert.deepEqual([error?.code, error?.exitCode], ["target.refused", 26]);
    assert.match(error?.message ?? "", /has a symbolic link \S+\/000002, which is not followed/);
    await rm(copies);
  });

  await t.test("F23: a folder of a run that is a symbolic link is damage", async (t) => {
    const { folder: around, warehouse, ask } = await copied(t, base, folder);
    const directory = join(warehouse, "runs", FIRST);
    await chmod(directory, 0o755);
    await rename(directory, join(around, FIRST));
    await symlink(join(around, FIRST), directory);
    const { error } = await ask(runsCommand, "rollback", "1", "--warehouse", warehouse);
    assert.match(error?.message ?? "", /is neither a file nor a folder/);
    assert.equal(error?.exitCode, 31);
    assert.match(await readFile(join(around, FIRST, "manifest.json"), "utf8"), /"run": "000001/);
  });
});
