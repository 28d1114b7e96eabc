import assert from "node:assert/strict";
import { readFile, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import type { CliEnvironment } from "../../../src/cli/command.ts";
import { lakeCommand } from "../../../src/cli/commands/lake.ts";
import { restoreCommand } from "../../../src/cli/commands/restore.ts";
import { lake } from "../../../src/targets/lake/lake.ts";
import { FileStore } from "../../../src/targets/store/file-store.ts";
import { temporaryFolder } from "../../folders.ts";
import { NEVER } from "../../never.ts";
import { deliver } from "../../targets/lake/deliver.ts";
import { makeRun } from "../../targets/lake/runs.ts";
import { silentServer } from "../../targets/store/silent-server.ts";
import { ran } from "../capture.ts";
import { program } from "../running.ts";

const folder = await temporaryFolder({ after });
const url = pathToFileURL(join(folder, "lake")).href;
const names: string[] = [];

suite("commands on a lake", () => {
  before(async () => {
    const first = await makeRun(join(folder, "made"), { sequence: 1, machine: "a" });
    const second = await makeRun(join(folder, "made"), { sequence: 2, machine: "a", after: first });
    for (const run of [first, second]) {
      await deliver(lake({ url, instance: "main" }), run);
      names.push(run.run);
    }
    await configure([{ type: "lake", url, instance: "main" }]);
  });

  async function configure(targets: readonly object[]): Promise<void> {
    await writeFile(join(folder, "content-warehouse.config.json"), JSON.stringify({ targets }));
  }

  async function answer(
    make: (environment: CliEnvironment) => Command,
    args: readonly string[],
    listen: (chunk: string) => void = () => {},
  ): Promise<string> {
    return (await ran(make, args, { cwd: folder, onChunk: listen })).text;
  }

  test("status lists the instances with their last runs", async () => {
    const text = await answer(lakeCommand, ["status"]);
    assert.match(text, /│ main +│ 000002-20261120T020000Z │ complete │/);
    const status = JSON.parse(await answer(lakeCommand, ["--json"]));
    assert.deepEqual(status.instances[0].run, names[1]);
  });

  test("verify compares the last run by sizes, or in full, and finds a file that somebody changed", async () => {
    for (const args of [[], ["--full"]])
      assert.match(
        await answer(lakeCommand, ["verify", ...args]),
        /^Whole: run 000002-20261120T020000Z of main, 4 files/,
      );
    assert.equal(JSON.parse(await answer(lakeCommand, ["verify", "--json"])).ok, true);
    const store = new FileStore(join(folder, "lake"), NEVER);
    let key = "";
    for await (const each of store.list("_published/instance=main/000002"))
      if (each.key.endsWith("report.html")) key = each.key;
    const before = (await store.get(key)) ?? assert.fail();
    await store.put(key, Buffer.from("x".repeat(before.length)));
    const found = { code: "verify.failed", exitCode: 31, message: /^1 finding/ } as const;
    await assert.rejects(answer(lakeCommand, ["verify", "--full"]), found);
    await store.put(key, before);
  });

  test("restore brings the last run back, and makes it current", async () => {
    const warehouse = join(folder, "restored");
    const text = await answer(restoreCommand, ["--warehouse", warehouse]);
    assert.equal(text, `restored ${names[1]} from lake; it is current now\n`);
    assert.equal(await readlink(join(warehouse, "current")), `runs/${names[1]}`);
    const report = await readFile(join(warehouse, "current/report.html"), "utf8");
    assert.equal(report, `a ${names[1]}`);
    const again = await answer(restoreCommand, ["--warehouse", warehouse]);
    assert.equal(again, `${warehouse} already has run ${names[1]}, and it is current\n`);
    await rm(join(warehouse, "current"));
    await assert.rejects(answer(restoreCommand, ["--warehouse", warehouse]), {
      code: "config.invalid",
      message: /already has run 000002-\S+; "content-warehouse runs rollback 000002-/,
    });
  });

  test("vacuum removes earlier versions, and says how much that is", async () => {
    assert.match(await answer(lakeCommand, ["vacuum"]), /^removed 0 data files .* the copies of 1 run\n$/);
    assert.equal(await answer(lakeCommand, ["vacuum"]), "nothing to remove\n");
    assert.match(
      await answer(lakeCommand, ["vacuum", "--all-versions"]),
      /^removed 3 data files \(\d+ kB\), \d+ files of logs and the copies of 0 runs\n$/,
    );
    assert.match(await answer(lakeCommand, ["verify"]), /^Whole: /);
  });

  test("remove says what it would remove, with --yes takes an instance out, and says what ends its earlier versions", async () => {
    for (const instance of ["north", "west"]) {
      const run = await makeRun(join(folder, instance), { sequence: 1, machine: "a" });
      await deliver(lake({ url, instance }), run);
    }
    const remove = (...args: string[]) => answer(lakeCommand, ["remove", ...args]);
    await assert.rejects(remove("nort", "--yes"), {
      code: "config.not_found",
      exitCode: 2,
      message: /^There is no instance "nort" in file:\S+\/lake\. The nearest is "north"\. "content-/,
    });
    await assert.rejects(remove("north"), {
      code: "config.invalid",
      exitCode: 2,
      message:
        /^This removes all that file:\S+\/lake has of north: 3 tables \(3 files, 8 rows, \d+ kB\); to go on, give --yes\.$/,
    });
    assert.match(await answer(lakeCommand, ["status"]), /│ north /);
    assert.match(
      await remove("north", "--yes"),
      /^removed north from file:\S+: 3 tables \(3 files, 8 rows, \d+ kB\)\n.* until "content-warehouse lake vacuum" finds.*"content-warehouse lake vacuum --all-versions" removes them now\.\n$/,
    );
    const json = JSON.parse(await remove("west", "--yes", "--json"));
    assert.deepEqual([json.instance, json.tables, json.rows], ["west", 3, 8]);
    assert.doesNotMatch(await answer(lakeCommand, ["status"]), /│ (north|west) /);
    assert.match(await answer(lakeCommand, ["verify"]), /^Whole: /);
  });

  test("status ends at once on Ctrl-C while a store does not answer", { timeout: 60_000 }, async () => {
    await using server = await silentServer({ begins: false });
    const config = join(folder, "silent.json");
    const target = { type: "lake", url: "s3://bucket/lake", endpoint: server.endpoint, instance: "main" };
    await writeFile(config, JSON.stringify({ targets: [target] }));
    const { code, stderr } = await program(["lake", "status", "--config", config], {
      env: { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" },
      begun: (child) => void server.heard().then(() => child.kill("SIGINT")),
    });
    assert.equal(code, 130, stderr);
    assert.match(stderr, /Interrupted; nothing was changed\./);
  });

  test("one of several lakes is to be named", async () => {
    await configure([
      { type: "lake", url, instance: "main" },
      { type: "lake", url, instance: "main", name: "other" },
    ]);
    await assert.rejects(answer(lakeCommand, ["status"]), {
      code: "config.invalid",
      message: /\(lake, other\); name one with --target/,
    });
    assert.match(await answer(lakeCommand, ["status", "--target", "other"]), /main/);
    await rm(join(folder, "content-warehouse.config.json"));
    await assert.rejects(answer(lakeCommand, ["status"]), {
      code: "config.invalid",
      message: /^No targets are configured/,
    });
  });
});
