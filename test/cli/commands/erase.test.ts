import assert from "node:assert/strict";
import { readdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { processEnvironment } from "../../../src/cli/command.ts";
import { deliverCommand } from "../../../src/cli/commands/deliver.ts";
import { eraseCommand } from "../../../src/cli/commands/erase.ts";
import { lakeCommand } from "../../../src/cli/commands/lake.ts";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { outputFolder } from "../../../src/warehouse/layout.ts";
import { acquireLock } from "../../../src/warehouse/lock.ts";
import { long } from "../../long.ts";
import { assertNowhereIn, exportFrom, NIGHTLY, temporaryFolder } from "../../run/running.ts";
import { item, Scripted } from "../../run/scripted.ts";
import { capture, outcome } from "../capture.ts";

const USER = "5f1e0c2ab4d3e90017c0ffe1";

async function warehouse(t: TestContext): Promise<string> {
  const author_details = { id: USER, name: "Anna Canary", email: "anna.canary@example.com" };
  const service = await Scripted.start(t, [item("c-1", 0, { author: USER, author_details })]);
  const out = await temporaryFolder(t);
  const personalData = { policy: "keep", key: null } as const;
  await exportFrom({ url: service.url, out, pipelineUrl: NIGHTLY, threads: 1, config: { personalData } });
  return out;
}

long(
  "erase says which runs took the place of which, and then that there is nothing more to erase",
  async (t) => {
    const out = await warehouse(t);
    const [run = ""] = await readdir(join(out, "runs"));
    const erase = (...args: string[]) => capture(eraseCommand, [...args, "--warehouse", out]);
    assert.equal(
      await erase("--user", "5f1e0c2ab4d3e90017c0ffe9"),
      'nothing to erase: 1 retained run searched, none knows a user with the ID "5f1e0c2ab4d3e90017c0ffe9"; if you expected one, check the ID in the table users\n',
    );
    const text = await capture(eraseCommand, ["--user", USER, "--warehouse", out], 80);
    const replacement = run.replace("000001", "000002");
    const lines = text.split("\n");
    assert.match(lines[3] ?? "", new RegExp(`^│ ${run} │ ${replacement} │ +3 │ +2 │$`));
    assert.equal(lines.length, 7, "all columns stand side by side on a screen of 80");
    assert.equal(
      lines[5],
      `1 retained run searched, 1 replaced; current is now ${replacement}; free text, such as a title, is not searched`,
    );
    assert.equal(await readlink(join(out, "current")), `runs/${replacement}`);
    const shown = await capture(runsCommand, ["show", "current", "--warehouse", out]);
    assert.match(
      shown,
      new RegExp(`\\n {2}Supersedes +${run}, erased \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC\\n`),
    );
    assert.equal(
      await erase("--user", USER),
      "nothing to erase: 1 retained run searched, the user is known in 1, by ID alone\n",
    );
    assert.deepEqual(JSON.parse(await erase("--user", USER, "--json")), {
      searched: 1,
      named: 1,
      replaced: [],
      targets: [],
    });
  },
);

long("an erasure whose report cannot be written is done, and says so without failing", async (t) => {
  const out = await warehouse(t);
  const full = new Writable({
    write: (_chunk, _encoding, done) =>
      done(Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })),
  });
  const said: string[] = [];
  const err = new Writable({
    write: (chunk, _encoding, done) => {
      said.push(String(chunk));
      done();
    },
  });
  const command = eraseCommand(processEnvironment({ out: full, err }));
  await command.parseAsync(["--user", USER, "--warehouse", out, "--json"], { from: "user" });
  assert.match(said.join(""), /^No retained run holds .* could not be written: .*\n$/);
  assert.match(await readlink(join(out, "current")), /^runs\/000002-/);
});

test("erase ends with 26 while a lake may hold the user, and names the command that ends it", async (t) => {
  const out = await warehouse(t);
  const cwd = await temporaryFolder(t);
  const config = join(cwd, "two targets.json");
  const url = pathToFileURL(join(cwd, "lake")).href;
  const targets = [
    { type: "lake", url, instance: "one", name: "first" },
    { type: "lake", url: `${url}-too`, instance: "one", name: "second" },
  ];
  await writeFile(config, JSON.stringify({ targets }));
  const places = ["--warehouse", out, "--config", config];
  await capture(deliverCommand, places);
  const erase = (...args: string[]) => outcome(eraseCommand, ["--user", USER, ...places, ...args]);

  const unknown = await outcome(eraseCommand, ["--user", "5f1e0c2ab4d3e90017c0ffe9", ...places]);
  assert.match(unknown.text, /^nothing to erase: 1 retained run searched, none knows a user /);
  assert.equal(unknown.error, undefined, "the lake has the current run alone");
  const left = await erase();
  const what = (name: string, lake: string) =>
    `${name} may still hold the user in earlier versions of 8 tables in ${lake}; "content-warehouse lake vacuum --all-versions --target ${name} --config '${config}'" ends that.`;
  const remaining = `${what("first", url)} ${what("second", `${url}-too`)}`;
  assert.deepEqual(
    [left.error?.exitCode, left.error?.message],
    [
      26,
      `The user is erased in the warehouse folder, but not in all targets: ${remaining} Then erase again; --keep-versions leaves that.`,
    ],
  );
  assert.match(
    left.text,
    /\nfirst: has the current run, and earlier versions of 8 tables in file:\S+\nsecond: /,
  );
  const never = await outcome(eraseCommand, ["--user", "5f1e0c2ab4d3e90017c0ffe9", ...places]);
  assert.deepEqual(
    [never.error?.exitCode, never.error?.message],
    [
      26,
      `No retained run knows the user, but targets may have what earlier runs knew: ${remaining} Then erase again; --keep-versions leaves that.`,
    ],
  );
  const kept = await erase("--keep-versions");
  assert.deepEqual([kept.error, kept.text.trimEnd().split("\n").at(-1)], [undefined, remaining]);
  const json = await erase("--keep-versions", "--json");
  assert.deepEqual(
    JSON.parse(json.text).targets.map(
      ({ left }: { left: readonly { command: string }[] }) => left[0]?.command,
    ),
    ["first", "second"].map((name) => `lake vacuum --all-versions --target ${name}`),
  );

  for (const [, command = ""] of remaining.matchAll(/"content-warehouse lake ([^"]*)"/g)) {
    const words = command.split(" --config ")[0]?.split(" ") ?? [];
    await capture(lakeCommand, [...words, "--config", config]);
  }
  const gone = await erase();
  assert.equal(gone.error, undefined);
  assert.match(gone.text, /\nsecond: has the current run, and nothing of earlier ones\n$/);
  await assertNowhereIn(cwd, ["Anna Canary", "anna.canary"]);
});

test("erase needs an ID, a warehouse, and the lock", async (t) => {
  const out = await warehouse(t);
  const erase = (...args: string[]) => capture(eraseCommand, args);
  await assert.rejects(erase("--warehouse", out), { code: "commander.missingMandatoryOptionValue" });
  await assert.rejects(erase("--user", USER, "--warehouse", await temporaryFolder(t)), {
    code: "config.not_found",
  });
  await using _lock = await acquireLock(outputFolder(out));
  await assert.rejects(erase("--user", USER, "--warehouse", out), { code: "run.locked", exitCode: 75 });
});
