import assert from "node:assert/strict";
import { mkdtemp, readFile, readlink, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { Command } from "commander";
import { type CliEnvironment, processEnvironment } from "../../../src/cli/command.ts";
import { lakeCommand } from "../../../src/cli/commands/lake.ts";
import { restoreCommand } from "../../../src/cli/commands/restore.ts";
import { removeTree } from "../../../src/common/tree.ts";
import { lake } from "../../../src/targets/lake/lake.ts";
import { register } from "../../../src/targets/lake/registration.ts";
import { openFileStore } from "../../../src/targets/store/file-store.ts";
import { NEVER } from "../../never.ts";
import { deliver } from "../../targets/lake/deliver.ts";
import { makeRun } from "../../targets/lake/runs.ts";
import { silentServer } from "../../targets/store/silent-server.ts";
import { ran } from "../capture.ts";
import { program } from "../running.ts";

suite("commands on a lake", () => {
  let folder = "";
  let names: string[] = [];

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "lake-command-")));
    const url = pathToFileURL(join(folder, "lake")).href;
    for (const sequence of [1, 2]) {
      const run = await makeRun(join(folder, "made"), { sequence, machine: "a" });
      await deliver(lake({ url, instance: "main" }), run);
      names = [...names, run.run];
    }
    await configure([{ type: "lake", url, instance: "main" }]);
  });
  after(() => removeTree(folder));

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

  test("status lists the instances and the tables", async () => {
    // All that a first delivery leaves that failed before its claim, but for files that nobody names.
    const store = openFileStore(join(folder, "lake"), NEVER);
    await register(store, { instance: "new", since: 0 }, { id: null, origin: "https://new.example.org" });
    const text = await answer(lakeCommand, ["status"]);
    assert.match(text, /│ main +│ 000002-20261120T020000Z │ complete │/);
    assert.match(text, /│ new +│ +│ +│ nothing yet +│ https:/);
    assert.match(text, /│ run_snapshots │ +1 │ +1 │ +6 │/);
    const status = JSON.parse(await answer(lakeCommand, ["--json"]));
    assert.deepEqual(status.instances[0].run, names[1]);
  });

  test("verify reads the last run back, or one by name or number", async () => {
    assert.match(
      await answer(lakeCommand, ["verify"]),
      /^Whole: run 000002-20261120T020000Z of main, 4 files/,
    );
    assert.match(await answer(lakeCommand, ["verify", "1"]), /^Whole: run 000001-/);
    assert.equal(JSON.parse(await answer(lakeCommand, ["verify", names[0] ?? "", "--json"])).ok, true);
    await assert.rejects(answer(lakeCommand, ["verify", "000001-20251120T020000Z"]), {
      code: "config.not_found",
      message: /has no run "000001-20251120T020000Z"/,
    });
    await assert.rejects(answer(lakeCommand, ["verify", "7"]), {
      code: "config.not_found",
      message: /no run "7"/,
    });
  });

  test("restore brings the last run back, and makes it current", async () => {
    const list = await answer(restoreCommand, ["--list"]);
    assert.equal(list, `${names.toReversed().join("\n")}\n`);
    const warehouse = join(folder, "restored");
    const text = await answer(restoreCommand, ["--warehouse", warehouse]);
    assert.equal(text, `restored ${names[1]} from lake; it is current now\n`);
    assert.equal(await readlink(join(warehouse, "current")), `runs/${names[1]}`);
    const report = await readFile(join(warehouse, "current/report.html"), "utf8");
    assert.equal(report, `a ${names[1]}`);
    await assert.rejects(answer(restoreCommand, ["--warehouse", warehouse]), {
      code: "config.invalid",
      message: /has the run 000002-\S+ already; "content-warehouse runs rollback 000002-/,
    });
    await answer(restoreCommand, ["--warehouse", warehouse, "--run", "1", "--json"]);
    assert.equal(await readlink(join(warehouse, "current")), `runs/${names[0]}`);
    await assert.rejects(answer(restoreCommand, ["--warehouse", warehouse, "--run", "9"]), {
      code: "config.not_found",
      message: /keeps no run "9"/,
    });
  });

  test("a file that somebody changed is found by verify, and not restored", async () => {
    const store = openFileStore(join(folder, "lake"), NEVER);
    const keys: string[] = [];
    for await (const { key } of store.list("_published/instance=main/runs/000002")) keys.push(key);
    const key = keys.find((each) => each.endsWith("report.html")) ?? "";
    const before = await store.get(key);
    await store.put(key, Buffer.from("x".repeat(before?.length ?? 0)));
    await assert.rejects(answer(lakeCommand, ["verify"]), { code: "verify.failed", message: /^1 finding/ });
    const warehouse = join(folder, "damaged");
    const config = join(folder, "content-warehouse.config.json");
    const places = ["--warehouse", warehouse, "--config", config];
    const waysOut = [
      "put back what was delivered, remove it and run where its run is still published",
      `or restore another run by "content-warehouse restore --run RUN ${places.join(" ")}"; only where `,
      `by "content-warehouse lake remove INSTANCE --config ${config}".`,
    ];
    await assert.rejects(answer(restoreCommand, places), ({ code, message }) => {
      const found = waysOut.map((way) => message.indexOf(way));
      assert.deepEqual(
        found,
        found.filter((place) => place > 0).toSorted((a, b) => a - b),
        message,
      );
      return code === "target.refused";
    });
    await assert.rejects(readlink(join(warehouse, "current")), { code: "ENOENT" });
    await store.put(key, before ?? Buffer.alloc(0));
  });

  test("vacuum removes earlier versions, and says how much that is", async () => {
    assert.equal(await answer(lakeCommand, ["vacuum"]), "nothing to remove\n");
    assert.match(
      await answer(lakeCommand, ["vacuum", "--all-versions"]),
      /^removed 3 data files \(\d+ kB\), 3 files of logs and the copies of 1 run\n$/,
    );
    assert.match(await answer(lakeCommand, ["verify"]), /^Whole: /);
  });

  test("status and vacuum take what can be read where the rest is damaged, and end with its sentence", async () => {
    const store = openFileStore(join(folder, "lake"), NEVER);
    // The vacuum before left it the newest version alone.
    const lost = "tags/_delta_log/00000000000000000001.checkpoint.parquet";
    const before = (await store.get(lost)) ?? Buffer.alloc(0);
    await store.remove([lost]);
    const problem =
      /^The log of the table tags in file:\S+ is damaged: version 0 is missing; bring its files back, or deliver into another lake\.$/;
    let text = "";
    const listen = (chunk: string) => {
      text += chunk;
    };
    await assert.rejects(answer(lakeCommand, ["status"], listen), {
      code: "target.refused",
      message: problem,
    });
    assert.match(text, /│ main +│ 000002-20261120T020000Z │ complete │/);
    assert.match(text, /│ run_snapshots │/);
    assert.match(text.split("DAMAGED: ")[1]?.trimEnd() ?? "", problem);
    text = "";
    await assert.rejects(answer(lakeCommand, ["status", "--json"], listen));
    const { tables, damaged } = JSON.parse(text);
    assert.deepEqual(
      tables.map(({ table }: { table: string }) => table),
      ["content", "empty", "run_snapshots"],
    );
    assert.deepEqual(
      damaged.map(({ what, name }: { what: string; name: string }) => [what, name]),
      [["table", "tags"]],
    );
    text = "";
    await assert.rejects(answer(lakeCommand, ["vacuum"], listen), {
      code: "target.refused",
      message: problem,
    });
    assert.match(text, /^nothing to remove\n\nDAMAGED: The log of the table tags /);
    await store.put(lost, before);
  });

  /** `lake remove` at a terminal that answers, or without one. */
  async function remove(args: readonly string[], said?: string): Promise<{ text: string; asked: string }> {
    const input = Object.assign(new PassThrough(), { isTTY: said !== undefined });
    const [out, err] = [new PassThrough(), new PassThrough()];
    let [text, asked] = ["", ""];
    out.on("data", (chunk) => {
      text += chunk;
    });
    err.on("data", (chunk) => {
      const isFirst = asked === "";
      asked += stripVTControlCharacters(String(chunk));
      if (isFirst) setImmediate(() => input.write(`${said}\r`));
    });
    const terminal = { input, out: Object.assign(out, { isTTY: said !== undefined }), err };
    const command = lakeCommand(processEnvironment({ cwd: folder, ...terminal }));
    await command.parseAsync(["remove", ...args], { from: "user" });
    return { text, asked };
  }

  test("remove asks, takes an instance out, and says what ends its earlier versions", async () => {
    const url = pathToFileURL(join(folder, "lake")).href;
    for (const instance of ["north", "south", "west"]) {
      const run = await makeRun(join(folder, instance), { sequence: 1, machine: "a" });
      await deliver(lake({ url, instance }), run);
    }
    await assert.rejects(remove(["nort", "--yes"]), {
      code: "config.not_found",
      exitCode: 2,
      message: /^There is no instance "nort" in file:\S+\/lake\. The nearest is "north"\. "content-/,
    });
    const all =
      /All that file:\S+\/lake has of north, 4 tables \(4 files, 11 rows, \d+ kB\) and the copies of 1 run \(\d+ kB\), there since \d{4}-\d\d-\d\d \d\d:\d\d, will be gone/;
    const refused = {
      code: "config.invalid",
      exitCode: 2,
      message: /type its name at a terminal, or give --yes\.$/,
    };
    await assert.rejects(remove(["north"]), refused);
    await assert.rejects(remove(["north"]), { message: all });
    await assert.rejects(remove(["north"], "no"), refused);
    await assert.rejects(remove(["north"], "south"), refused);
    assert.match(await answer(lakeCommand, ["status"]), /│ north /);
    const { text, asked } = await remove(["north"], "north");
    assert.match(asked, all);
    assert.match(asked, /Type its name, or y, to go on \[no\]: /);
    assert.match(
      text,
      /^removed north from file:\S+: 4 tables \(4 files, 11 rows, \d+ kB\) and the copies of 1 run .*\n.*"content-warehouse lake vacuum --all-versions" ends them now\.\n$/,
    );
    const named = ["--config", join(folder, "content-warehouse.config.json")];
    assert.match(
      (await remove(["south", ...named], "y")).text,
      /^removed south .*\n.* until "content-warehouse lake vacuum --config \S+\.json" finds/,
    );
    const json = JSON.parse((await remove(["west", "--yes", "--json"])).text);
    assert.deepEqual([json.instance, json.tables, json.rows, json.copies], ["west", 4, 11, 1]);
    assert.doesNotMatch(await answer(lakeCommand, ["status"]), /│ (north|south|west) /);
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
    const url = pathToFileURL(join(folder, "lake")).href;
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
