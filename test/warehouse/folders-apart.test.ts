import assert from "node:assert/strict";
import { mkdir, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { outcome } from "../cli/capture.ts";
import { failsWith } from "../failing.ts";
import { exportFrom, publishedIds, temporaryFolder, treeOf } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { publish } from "./published.ts";

const LINKED: readonly (readonly [link: string, target: string])[] = [
  [".staging", "runs"],
  ["runs", ".staging"],
  [".staging", "."],
  ["runs", "."],
];

test("folders of a warehouse that are one by a link end a first run before any request", async (t) => {
  const service = await Scripted.start(t, itemsOf(3));
  for (const [link, target] of LINKED) {
    const out = await temporaryFolder(t);
    if (target !== ".") await mkdir(join(out, target));
    await symlink(target, join(out, link));
    const before = await treeOf(out);
    const error = await failsWith("config.output", exportFrom({ url: service.url, out }));
    assert.match(error.message, /are the same folder \(by a link or a mount\); use two folders/);
    assert.deepEqual(await treeOf(out), before);
  }
  assert.deepEqual(service.questions, []);
});

test("folders of a warehouse that are one by a link cost no published run: every command that changes the warehouse ends with 2", async (t) => {
  const out = await temporaryFolder(t);
  const { run } = await publish(out);
  const directory = join(out, "runs", run);
  const mode = (await stat(join(out, "runs"))).mode;
  await rm(join(out, ".staging"), { recursive: true });
  await symlink("runs", join(out, ".staging"));
  await failsWith("config.output", exportFrom({ url: "http://127.0.0.1:9", out }));
  for (const args of [
    ["prune", "--keep", "1"],
    ["rollback", "1"],
  ]) {
    const { error } = await outcome(runsCommand, [...args, "--warehouse", out]);
    assert.match(error?.message ?? "", /are the same folder/, args.join(" "));
  }
  assert.equal((await publishedIds(directory)).length, 3);
  assert.equal((await stat(join(out, "runs"))).mode, mode);
});
