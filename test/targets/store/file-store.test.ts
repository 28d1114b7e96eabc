import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openStore } from "../../../src/targets/lake/lake.ts";
import { FileStore } from "../../../src/targets/store/file-store.ts";
import { temporaryFolder } from "../../folders.ts";
import { many } from "../../long.ts";
import { NEVER } from "../../never.ts";
import { contentOf, keysOf, storeLaws } from "./laws.ts";

const root = await temporaryFolder({ after });

suite("a store in a folder", () => {
  storeLaws({
    open: async (name, signal) => await openStore({ url: pathToFileURL(join(root, name)).href }, signal),
    schedules: many(60, 600),
  });

  test("removes folders with their last object, and itself stays", async () => {
    const folder = join(root, randomUUID());
    await using store = new FileStore(folder, NEVER);
    await store.put("a/b/c/1", Buffer.from(""));
    await store.put("a/d", Buffer.from(""));
    await store.remove(["a/b/c/1", "a/none/2"]);
    assert.deepEqual(await readdir(join(folder, "a")), ["d"]);
    await store.remove(["a/d"]);
    assert.deepEqual(await readdir(folder), [".tmp"]);
  });

  test("writes into a folder that somebody removes as an empty one at the same time", async () => {
    const folder = join(root, randomUUID());
    const [one, other] = [new FileStore(folder, NEVER), new FileStore(folder, NEVER)];
    for (let turn = 0; turn < 30; turn++) {
      await one.put("a/b/c/1", Buffer.from(""));
      await Promise.all([one.remove(["a/b/c/1"]), other.put("a/b/c/2", Buffer.from(""))]);
      assert.deepEqual(await keysOf(one), ["a/b/c/2"]);
      await other.remove(["a/b/c/2"]);
    }
  });

  test("shows nothing of a writer that was killed, and removes it after a day", async () => {
    const folder = join(root, randomUUID());
    const temporary = join(folder, ".tmp");
    await mkdir(temporary, { recursive: true });
    await writeFile(join(temporary, "young"), "half of it");
    await writeFile(join(temporary, "old"), "half of it");
    const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000);
    await utimes(join(temporary, "old"), yesterday, yesterday);
    await using store = new FileStore(folder, NEVER);
    assert.deepEqual(await keysOf(store), []);
    assert.deepEqual(await store.folders(""), []);
    await store.put("x", Buffer.from(""));
    assert.deepEqual(await readdir(temporary), ["young"]);
  });

  test("says that a folder cannot be written, and what to do", async () => {
    // No user may make folders there, root included.
    await assert.rejects(new FileStore("/sys/lake", NEVER).put("x", Buffer.from("")), {
      code: "target.refused",
      message:
        /^file:\/\/\/sys\/lake (?:cannot be read or written|does not allow what the lake needs|is read-only)/,
    });
  });

  test("names a file system that is read-only, and does not ask to try again", async (t) => {
    const folder = join(root, randomUUID());
    await mkdir(folder);
    const mount = spawnSync("mount", ["-t", "tmpfs", "-o", "ro", "none", folder], { encoding: "utf8" });
    if (mount.status !== 0) return t.skip(`only who may mount file systems has such a one: ${mount.stderr}`);
    t.after(() => spawnSync("umount", [folder]));
    for (const lake of [folder, join(folder, "lakes/one")]) {
      await assert.rejects(new FileStore(lake, NEVER).put("x", Buffer.from("")), {
        code: "target.refused",
        message: `${pathToFileURL(lake).href} is read-only; mount it for writing.`,
      });
    }
  });

  test("names a folder that cannot be made where a link leads nowhere, and does not ask to try again", async () => {
    const link = join(root, randomUUID());
    await symlink(join(root, "gone"), link);
    for (const lake of [link, join(link, "one"), "/proc/lake"]) {
      await assert.rejects(new FileStore(lake, NEVER).put("x", Buffer.from("")), {
        code: "target.refused",
        message: `${pathToFileURL(lake).href} does not exist and cannot be created; mount its file system, or choose another folder.`,
      });
    }
  });

  test("F23: follows no symbolic link, for any call, and may be one itself", async () => {
    const [folder, away, linked] = [
      join(root, randomUUID()),
      join(root, randomUUID()),
      join(root, randomUUID()),
    ];
    for (const path of [join(folder, "content"), away]) await mkdir(path, { recursive: true });
    for (const name of ["x", "old"]) await writeFile(join(away, name), "theirs");
    await symlink(folder, linked);
    await symlink(away, join(folder, "content/instance=a"));
    await symlink(join(away, "x"), join(folder, "content/file"));
    const store = new FileStore(linked, NEVER);
    const empty = Buffer.from("");
    const calls: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
      get: (key) => store.get(key),
      put: (key) => store.put(key, empty),
      putNew: (key) => store.putNew(key, empty),
      download: (key) => store.download(key, join(root, randomUUID()), contentOf(Buffer.from("theirs"))),
      remove: (key) => store.remove([key]),
    };
    const refused = {
      code: "target.refused",
      message: /has a symbolic link \S+\/(instance=a|file), which is not/,
    };
    for (const [name, call] of Object.entries(calls))
      for (const key of ["content/instance=a/x", "content/file"])
        await assert.rejects(call(key), refused, name);
    await assert.rejects(keysOf(store, "content/instance=a/"), refused);
    await assert.rejects(store.folders("content/instance=a/"), refused);
    await store.put("content/own", empty);
    assert.deepEqual(await keysOf(store, "content/own"), ["content/own"]);

    await rm(join(folder, ".tmp"), { recursive: true });
    await symlink(away, join(folder, ".tmp"));
    await utimes(join(away, "old"), 0, 0);
    const again = new FileStore(linked, NEVER);
    await assert.rejects(again.put("content/own", empty), {
      message: /has a symbolic link \S+\/\.tmp, which/,
    });
    assert.deepEqual(await readdir(away), ["old", "x"]);
    assert.equal(await readFile(join(away, "x"), "utf8"), "theirs");
  });

  test("says that a file stands where a folder is needed", async () => {
    const folder = join(root, randomUUID());
    const file = join(folder, "content");
    await mkdir(folder);
    await writeFile(file, "");
    const refused = (of: string) => ({
      code: "target.refused",
      message: `${pathToFileURL(of).href} has a file where a folder is needed, or the other way round; choose another folder.`,
    });
    await assert.rejects(new FileStore(file, NEVER).put("x", Buffer.from("")), refused(file));
    const store = new FileStore(folder, NEVER);
    await assert.rejects(Array.fromAsync(store.list("content/_delta_log/")), refused(folder));
    assert.deepEqual(
      Array.from(await Array.fromAsync(store.list("con")), ({ key }) => key),
      ["content"],
    );
  });
});
