/** The command line as a whole: help, empty arguments, and how failures are reported. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { after, suite, test } from "node:test";
import type { Command } from "commander";
import { helpCommand } from "../../src/cli/commands/help.ts";
import { program as commandLine, everyCommand } from "../../src/cli/program.ts";
import { VERSION } from "../../src/common/version.ts";
import { configSpec } from "../../src/config/config-spec.ts";
import { temporaryFolder } from "../folders.ts";
import { callAll } from "./calls.ts";
import { capture } from "./capture.ts";
import { program } from "./running.ts";

const RUN = ["run", "nightly", "--sample"] as const;
const NOWHERE = [...RUN, "--warehouse", "/dev/null"] as const;
/** Calls with an empty argument, as an unset variable leaves it, and how the sentence begins. */
const EMPTY = [
  [[...RUN, "--warehouse", ""], "The value of --warehouse"],
  [[...RUN, "--warehouse= "], "The value of --warehouse"],
  [["diff", "1", " "], "An argument"],
  [["audit", "--value", "", "--field="], "The value of --field"],
] as const;

const cwd = await temporaryFolder({ after });
const [version, nothing, help, debug, failed, misused, ...empty] = await callAll(
  [
    ["--version"],
    [],
    ["--help"],
    [...NOWHERE, "--debug"],
    [...NOWHERE, "--json", "--log-format", "json"],
    ["run", "--json"],
    ...EMPTY.map(([args]) => args),
  ],
  { cwd },
);

test("the version is printed", () => {
  assert.deepEqual(version, { code: 0, stdout: `${VERSION}\n`, stderr: "" });
});

test("without a command the help is shown, and the exit code is that of a configuration error", () => {
  assert.deepEqual([nothing?.code, nothing?.stdout], [2, ""]);
  assert.match(nothing?.stderr ?? "", /^Usage: content-warehouse /);
});

test("an empty argument, as an unset variable leaves it, is refused, and nothing is written", async () => {
  for (const [at, { code, stdout, stderr }] of empty.entries()) {
    assert.deepEqual([code, stdout], [2, ""]);
    const begin = `${EMPTY[at]?.[1]} is empty, perhaps because a variable is not set; `;
    assert.ok(stderr.startsWith(begin), stderr);
  }
  assert.deepEqual(await readdir(cwd), []);
});

const printed: { readonly out: string[]; readonly err: string[] } = { out: [], err: [] };
const wholeProgram = await commandLine(printed);

suite("the help", () => {
  test("of the program lists the exit codes and has an example", () => {
    const { code, stdout = "" } = help ?? {};
    assert.equal(code, 0);
    assert.match(stdout, /75 another run is under way/);
    assert.match(stdout, /\$ content-warehouse run nightly --sample/);
    const [, groups = ""] = /\n\n(Every night:\n.*)\n\nExit codes/s.exec(stdout) ?? [];
    const names = wholeProgram.commands.map((command) => command.name());
    const listed = groups.split("\n").flatMap((line) => (line.startsWith("  ") ? [line] : []));
    assert.deepEqual(
      listed.map((line) => line.trim().split(" ")[0]),
      names,
      "each command is one line",
    );
    for (const line of listed) assert.match(line, /^ {2}\S+ {2,}\w/);
    assert.deepEqual(tooWide(stdout), []);
  });

  test("has topics: the exit codes with what to do, and the settings", async () => {
    const codes = await capture(helpCommand, ["exit-codes"]);
    assert.match(codes, /\n {3}24 {2}stop {3}mass change: .*\n {7}with --accept-shrink\.\n/);
    const settings = await capture(helpCommand, ["configuration"]);
    assert.match(settings, /\n {2}CONTENT_API_TOKEN +its API token; it cannot be a flag/);
    for (const name of Object.keys(configSpec.shape).filter((each) => each !== "$schema"))
      assert.match(settings, new RegExp(`\\n {2}${name} +\\S`));
    assert.deepEqual([...tooWide(codes), ...tooWide(settings)], []);
  });

  for (const command of everyCommand(wholeProgram).slice(1)) {
    const path = pathOf(command);
    test(`of ${path} has an example, and fits 45 lines of 80 columns`, async () => {
      await assert.rejects(command.parseAsync(["--help"], { from: "user" }), { exitCode: 0 });
      const help = printed.out.splice(0).join("");
      assert.deepEqual(tooWide(help), []);
      assert.ok(help.split("\n").length <= 45);
      assert.match(help, new RegExp(`^Usage: content-warehouse ${path} `));
      assert.match(help, new RegExp(`\\$ (?:[A-Z_]+=\\S+ )*content-warehouse ${path}`));
    });
  }
});

function tooWide(text: string): string[] {
  return text.split("\n").filter((line) => line.length > 80);
}

/** `runs show` */
function pathOf(command: Command): string {
  const parent =
    command.parent?.parent === null || command.parent === null ? "" : `${command.parent.name()} `;
  return `${parent}${command.name()}`;
}

test("a failure shows where it comes from with --debug, which may stand after the command", () => {
  assert.equal(debug?.code, 2);
  assert.match(
    debug.stderr,
    /^The output folder .*\nWarehouseError: .*\n\s+at .*prepareOutput.*caused by: Error: EEXIST/s,
  );
});

test("run --json that fails prints one object, and the sentence on standard error", () => {
  const { message, ...failure } = JSON.parse(failed?.stdout ?? "");
  const hint = 'Correct what the message names; see "content-warehouse help configuration".';
  assert.deepEqual(failure, { code: "config.output", hint, exitCode: 2 });
  assert.match(message, /^The output folder \/dev\/null cannot be used: /);
  const { time, ...line } = JSON.parse(failed?.stderr ?? "");
  assert.deepEqual(line, { level: "error", code: "config.output", msg: message });
  assert.ok(!Number.isNaN(Date.parse(time)));
  const wrong = JSON.parse(misused?.stdout ?? "");
  assert.equal(wrong.code, "config.invalid");
  assert.match(wrong.message, /^"content-warehouse run": missing required argument 'pipeline'\./);
  assert.deepEqual([misused?.code, misused?.stderr], [2, `${wrong.message}\n`]);
});

test("~/ in an option is the home folder, though no shell expands it after an equals sign", async (t) => {
  const home = await temporaryFolder(t);
  const asked = (folder: string) =>
    program(["runs", "list", `--warehouse=${folder}`], { env: { HOME: home } });
  assert.match((await asked("~/here")).stderr, new RegExp(`^There is no warehouse in ${home}/here;`));
  assert.match((await asked("~night/here")).stderr, /^"~night" could be .*"\.\/~night\/here"\.$/m);
  const out = await program(["sql", "SELECT 1", "--out=~night/a.csv"], { cwd: home });
  assert.match(out.stderr, /^"~night" could be /);
});

test("the help of the program, and its version, load no command", async () => {
  const hook = `import { registerHooks } from "node:module";
    registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });`;
  const node = ["--import", `data:text/javascript,${encodeURIComponent(hook)}`];
  for (const args of [["--help"], ["--version"], []]) {
    const { stderr } = await program(args, { node });
    assert.match(stderr, /\/src\/cli\/program\.ts\n/);
    assert.doesNotMatch(stderr, /\/src\/cli\/commands\/|duckdb/);
  }
});

test("an older Node is told what is needed, before anything is loaded", async () => {
  const older =
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.18.0' } })";
  const { code, stdout, stderr } = await program(["--help"], {
    node: ["--import", `data:text/javascript,${encodeURIComponent(older)}`],
  });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^content-warehouse needs Node 22\.19 or newer; this is 22\.18\.0\. Install .*\n$/);
});
