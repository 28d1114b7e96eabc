import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import type { Command } from "commander";
import { program as commandLine, everyCommand } from "../../src/cli/program.ts";
import { VERSION } from "../../src/common/version.ts";
import { program } from "./running.ts";

test("the version is printed", async () => {
  assert.deepEqual(await program(["--version"]), { code: 0, stdout: `${VERSION}\n`, stderr: "" });
});

test("without a command the help is shown, and the exit code is that of a configuration error", async () => {
  const { code, stdout, stderr } = await program([]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^Usage: content-warehouse /);
});

test("an unknown option ends with 2 and says which was meant", async () => {
  const { code, stdout, stderr } = await program(["run", "nightly", "--smaple"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^error: unknown option '--smaple'\n\(Did you mean --sample\?\)\n$/);
});

for (const [what, args, message] of [
  ["a command that there is not", ["exprot"], /unknown command 'exprot'/],
  ["a format that there is not", ["schema", "--format", "yaml"], /choices are text, json, markdown, mermaid/],
  ["no pipeline", ["run"], /missing required argument 'pipeline'/],
] as const) {
  test(`${what} is refused in words`, async () => {
    const root = commandLine();
    for (const command of everyCommand(root)) command.configureOutput({ writeErr: () => {} });
    await assert.rejects(root.parseAsync([...args], { from: "user" }), { message });
  });
}

suite("empty text, as a lost variable leaves it, is refused", () => {
  test("and nothing is written into the working directory", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "empty-"));
    after(() => rm(cwd, { recursive: true }));
    const { code, stdout, stderr } = await program(["run", "nightly", "--sample", "--warehouse", ""], {
      cwd,
    });
    assert.deepEqual([code, stdout], [2, ""]);
    assert.equal(
      stderr,
      "The option --warehouse is empty, as a variable that is not set leaves it; give it a value, or leave it out.\n",
    );
    assert.deepEqual(await readdir(cwd), []);
  });

  for (const command of everyCommand(commandLine()).filter((each) => each.commands.length === 0)) {
    const needed = [
      ...command.registeredArguments.filter(({ required }) => required).map(() => "1"),
      ...command.options.flatMap(({ mandatory, long }) => (mandatory ? [String(long), "1"] : [])),
    ];
    const path = pathOf(command);
    const texts = command.options.filter(
      ({ required, long, argChoices, parseArg }) =>
        required && long !== "--value" && argChoices === undefined && parseArg === undefined,
    );
    for (const { long } of texts) {
      test(`for ${path} ${long}`, async () => {
        await assert.rejects(
          commandLine().parseAsync([...path.split(" "), ...needed, `${long}`, " "], { from: "user" }),
          { code: "config.invalid", message: new RegExp(`^The option ${long} is empty`) },
        );
      });
    }
    for (const [index, argument] of command.registeredArguments.entries()) {
      test(`for ${path} ${argument.name()}`, async () => {
        const options = needed.slice(command.registeredArguments.filter(({ required }) => required).length);
        const args = command.registeredArguments.slice(0, index).map(() => "1");
        await assert.rejects(
          commandLine().parseAsync([...path.split(" "), ...args, "", ...options], { from: "user" }),
          { code: "config.invalid", message: new RegExp(`^The argument ${argument.name()} is empty`) },
        );
      });
    }
  }
});

suite("the help", () => {
  test("of the program lists the exit codes and has an example", async () => {
    const { code, stdout } = await program(["--help"]);
    assert.equal(code, 0);
    assert.match(stdout, /75 another run is under way/);
    assert.match(stdout, /\$ content-warehouse run nightly --sample/);
  });

  for (const command of everyCommand(commandLine()).slice(1)) {
    const path = pathOf(command);
    test(`of ${path} has an example`, async () => {
      let help = "";
      command.configureOutput({
        writeOut: (text) => {
          help += text;
        },
      });
      await assert.rejects(command.parseAsync(["--help"], { from: "user" }), { exitCode: 0 });
      assert.match(help, new RegExp(`^Usage: content-warehouse ${path} `));
      assert.match(help, new RegExp(`\\$ (?:[A-Z_]+=\\S+ )*content-warehouse ${path}`));
    });
  }
});

/** `runs show` */
function pathOf(command: Command): string {
  const parent =
    command.parent?.parent === null || command.parent === null ? "" : `${command.parent.name()} `;
  return `${parent}${command.name()}`;
}

suite("a failure", { concurrency: 2 }, () => {
  const args = ["run", "nightly", "--sample", "--warehouse", "/dev/null"];

  test("is one sentence on standard error, without a stack trace", async () => {
    assert.deepEqual(await program(args), {
      code: 2,
      stdout: "",
      stderr:
        "The output folder /dev/null cannot be used: a file is in the way; fix it or name another with --warehouse.\n",
    });
  });

  test("shows where it comes from with --debug, which may stand after the command", async () => {
    const { code, stderr } = await program([...args, "--debug"]);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^The output folder .*\nWarehouseError: .*\n\s+at .*prepareOutput.*caused by: Error: EEXIST/s,
    );
  });
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
