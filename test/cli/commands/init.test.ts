import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { after, suite, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { initCommand } from "../../../src/cli/commands/init.ts";
import { asWarehouseError, type WarehouseError } from "../../../src/common/errors.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { createService } from "../../../src/service/service.ts";
import { temporaryFolder, treeOf } from "../../run/running.ts";
import { program } from "../running.ts";

const service = await createService({ data: packagePath("data/sample") });
after(() => service.close());
const { url } = service;
const [token = ""] = service.contentSet.tokens.keys();
const CONFIG = "content-warehouse.config.mjs";

interface Ran {
  readonly text: string;
  readonly error: WarehouseError | undefined;
}

/** `init` in a folder; with answers at a terminal, else without one. `"^D"` ends the input. */
async function init(
  cwd: string,
  args: readonly string[],
  { env = {}, answers }: { env?: Record<string, string>; answers?: readonly string[] } = {},
): Promise<Ran> {
  const input = Object.assign(new PassThrough(), { isTTY: answers !== undefined });
  const left = [...(answers ?? [])];
  let text = "";
  const answer = () => {
    const next = left.shift() ?? "^D";
    if (next === "^D") input.end();
    else input.write(`${next}\r`);
  };
  const out = Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        const before = text;
        text += stripVTControlCharacters(chunk);
        // A question is written in pieces, of which some only move the cursor.
        if (text !== before && text.endsWith(": ")) setImmediate(answer);
        done();
      },
    }),
    { isTTY: answers !== undefined },
  );
  const environment = {
    env,
    cwd,
    out,
    err: out,
    endWith: () => {},
    endSoon: () => {},
    input,
    program: ["/usr/bin/content-warehouse"],
  };
  const command = initCommand(environment)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const error = await command.parseAsync([...args], { from: "user" }).then(
    () => undefined,
    (thrown: unknown) => asWarehouseError(thrown),
  );
  return { text, error };
}

const configOf = (cwd: string) => loadConfig({ cwd, env: {}, flags: {}, sampleBy: "--sample" });

test("with options alone: a configuration that a run reads, and a token that only its owner can read", async (t) => {
  const cwd = await temporaryFolder(t);
  const destinations = ["--destination", "Web CMS", "--destination", "Print Archive:Archive"];
  const args = ["--url", `${url}/api/v1/`, "--token-file", "token", ...destinations];
  const { text, error } = await init(cwd, args, { env: { CONTENT_API_TOKEN: token } });
  assert.equal(error, undefined);
  assert.match(
    text,
    /the token may read 500 items\.\nWritten:\n {2}token \(only you can read it\)\n {2}content-/,
  );
  assert.equal((await stat(join(cwd, "token"))).mode & 0o777, 0o600);
  const config = await configOf(cwd);
  assert.ok(config.source.kind === "service");
  assert.deepEqual([config.source.url.origin, config.source.token.reveal()], [url, token]);
  assert.equal(config.source.url.prefix, "");
  assert.equal(config.warehouse, join(cwd, "warehouse"));
  assert.deepEqual(config.destinations, [
    { name: "Web CMS", platform: "External" },
    { name: "Print Archive", platform: "Archive" },
  ]);
  const written = await readFile(join(cwd, CONFIG), "utf8");
  assert.ok(!written.includes(token));
  assert.match(written, /^ {2}\/\/ Destinations whose external values are wanted\.\n {2}destinations: \[$/m);
  assert.match(written, /^ {2}\/\/ keepRuns: 7,$/m);
});

test("at a terminal: what is wrong is asked for again, and the token is not shown", async (t) => {
  const cwd = await temporaryFolder(t);
  const answers = ["content", url, "", token, "Web", "Web CMS", "", "data/out"];
  const { text, error } = await init(cwd, [], { answers });
  assert.equal(error, undefined, text);
  assert.match(text, /expected an address such as/);
  assert.match(text, /Its items name "Web CMS" and "Partner Portal"\./);
  assert.match(
    text,
    /There is no destination "Web" on platform "External".* Correct its name, or give its platform as "NAME:PLATFORM"\./,
  );
  assert.ok(!text.includes(token), "the token is not shown");
  const config = await configOf(cwd);
  assert.deepEqual(config.destinations, [{ name: "Web CMS", platform: "External" }]);
  assert.equal(config.warehouse, join(cwd, "data/out"));
  assert.deepEqual(await treeOf(cwd), [CONFIG, "token"]);
});

test("at a terminal, options are not asked for, and --yes asks nothing", async (t) => {
  const env = { CONTENT_API_TOKEN: token };
  const some = await init(await temporaryFolder(t), ["--url", url, "--warehouse", "w"], {
    env,
    answers: ["t", ""],
  });
  assert.equal(some.error, undefined, some.text);
  assert.ok(!/Address|Folder/.test(some.text), some.text);
  const cwd = await temporaryFolder(t);
  const { error } = await init(cwd, ["--yes", "--url", url], { env, answers: [] });
  assert.equal(error, undefined);
  assert.deepEqual(await treeOf(cwd), [CONFIG], "the token stays in its variable");
});

suite("nothing is written", () => {
  const env = { CONTENT_API_TOKEN: token };
  const cases: Readonly<
    Record<string, readonly [args: readonly string[], code: number, sentence: RegExp, env?: object]>
  > = {
    "without a terminal and options": [
      [],
      2,
      /^Nothing can be asked without a terminal.*--url.*--token-file/,
      {},
    ],
    "with a token that is refused": [
      ["--url", url],
      20,
      /refused the API token/,
      { CONTENT_API_TOKEN: "wrong" },
    ],
    "with a token that cannot be one": [
      ["--url", url],
      2,
      /^CONTENT_API_TOKEN: expected/,
      { CONTENT_API_TOKEN: "a b" },
    ],
    "without the token file, or a token for it": [
      ["--url", url, "--token-file", "t"],
      2,
      /set CONTENT_API_TOKEN/,
      {},
    ],
    "with a destination that is not there": [
      ["--url", url, "--destination", "Web CM"],
      2,
      /no destination "Web CM" on platform "External" \(did you mean "Web CMS"\?\)/,
    ],
    "with a token file in a folder that is not there": [
      ["--url", url, "--token-file", "no/t"],
      2,
      /no\/t cannot be written \(ENOENT\)/,
    ],
  };
  for (const [name, [args, code, sentence, variables = env]] of Object.entries(cases)) {
    test(name, async (t) => {
      const cwd = await temporaryFolder(t);
      const { error } = await init(cwd, args, { env: { ...variables } });
      assert.match(error?.message ?? "", sentence);
      assert.equal(error?.exitCode, code);
      assert.deepEqual(await treeOf(cwd), []);
    });
  }

  test("when the person leaves", async (t) => {
    const cwd = await temporaryFolder(t);
    const { error } = await init(cwd, [], { answers: [url, "", token, "^D"] });
    assert.equal(error?.code, "run.interrupted");
    assert.deepEqual(await treeOf(cwd), []);
  });
});

test("nothing is overwritten, whatever its extension, and no request is made", async (t) => {
  for (const name of ["content-warehouse.config.json", CONFIG]) {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, name), "mine");
    const args = ["--url", "http://127.0.0.1:1", "--token-file", "t"];
    const { error } = await init(cwd, args, { env: { CONTENT_API_TOKEN: token } });
    assert.equal(error?.exitCode, 2);
    assert.ok(error.message.startsWith(`There is a file ${name} already`), error.message);
    assert.equal(await readFile(join(cwd, name), "utf8"), "mine");
  }
});

suite("with --add", () => {
  const env = { CONTENT_API_TOKEN: token };
  const begun = async (t: Parameters<typeof temporaryFolder>[0]) => {
    const cwd = await temporaryFolder(t);
    const { error } = await init(cwd, ["--url", url, "--destination", "Web CMS"], { env });
    assert.equal(error, undefined);
    return cwd;
  };
  const textOf = (cwd: string, name = CONFIG) => readFile(join(cwd, name), "utf8");

  test("destinations come to those that are there, the rest of the file stays, and again changes nothing", async (t) => {
    const cwd = await begun(t);
    const edited = (await textOf(cwd))
      .replace("// keepRuns: 7", "keepRuns: 30")
      .replace("export default {", "// Ask Kim first.\nexport default {\n  onFinish() {},");
    await writeFile(join(cwd, CONFIG), edited);
    const args = ["--add", "--destination", "Print Archive:Archive", "--destination", "Web CMS"];
    const { text, error } = await init(cwd, args, { env });
    assert.equal(error, undefined);
    assert.ok(text.endsWith(`Added to ${CONFIG}: Print Archive:Archive.\n`), text);
    const after = await textOf(cwd);
    const before = '"platform": "External"\n    }';
    const second = ',\n    {\n      "name": "Print Archive",\n      "platform": "Archive"\n    }';
    assert.equal(after, edited.replace(before, `${before}${second}`));
    // In a process of its own: this one has read the file before.
    const again = await program(["init", ...args], { cwd, env });
    assert.equal(again.code, 0, again.stderr);
    assert.ok(again.stdout.endsWith(`Nothing to add: ${CONFIG} has them already.\n`), again.stdout);
    assert.equal(await textOf(cwd), after);
    assert.deepEqual(await treeOf(cwd), [CONFIG]);
  });

  test("at a terminal the destinations are asked for, also for a file without one and in JSON", async (t) => {
    const cwd = await temporaryFolder(t);
    const name = "content-warehouse.config.json";
    await writeFile(join(cwd, name), JSON.stringify({ url, destinations: [], keepRuns: 3 }, null, 2));
    const { error, text } = await init(cwd, ["--add"], { env, answers: ["Web CMS", ""] });
    assert.equal(error, undefined, text);
    const destinations = [{ name: "Web CMS", platform: "External" }];
    assert.equal(await textOf(cwd, name), JSON.stringify({ url, destinations, keepRuns: 3 }, null, 2));
  });

  const refused: Readonly<Record<string, (text: string) => string>> = {
    "that is made by code": (text) => text.replace(/destinations: \[[^\]]*\]/, "destinations: list()"),
    "that another setting's looks like": (text) =>
      text.replace("export default {", "const old = {\n  destinations: [],\n};\nexport default {"),
    "that is not what the file exports": (text) =>
      text
        .replace("export default {", "const old = {")
        .concat(`export default { url: ${JSON.stringify(url)}, destinations: [] };\n`),
  };
  for (const [what, edit] of Object.entries(refused)) {
    test(`a list ${what} is left as it is`, async (t) => {
      const cwd = await begun(t);
      const edited = `const list = () => [];\n${edit(await textOf(cwd))}`;
      await writeFile(join(cwd, CONFIG), edited);
      const { error } = await init(cwd, ["--add", "--destination", "Partner Portal"], { env });
      assert.match(
        error?.message ?? "",
        /does not have its `destinations` as init writes them.*add {"name":"Partner Portal","platform":"External"} by hand\.$/,
      );
      assert.equal(error?.exitCode, 2);
      assert.equal(await textOf(cwd), edited);
      assert.deepEqual(await treeOf(cwd), [CONFIG]);
    });
  }

  test("a file is needed, a destination, and no other option", async (t) => {
    const empty = await temporaryFolder(t);
    const messageOf = async (cwd: string, ...args: string[]) =>
      (await init(cwd, ["--add", ...args], { env })).error?.message ?? "";
    assert.match(await messageOf(empty, "--destination", "Web CMS"), /^There is no configuration file here/);
    const cwd = await begun(t);
    assert.match(await messageOf(cwd), /give --destination\.$/);
    assert.match(await messageOf(cwd, "--warehouse", "w"), /'--add' cannot be used with option '--warehouse/);
    assert.match(await messageOf(cwd, "--destination", "Web CM"), /did you mean "Web CMS"/);
  });

  test("what is on another platform that is known of is told, and suggested with it", async (t) => {
    const cwd = await temporaryFolder(t);
    const destinations = [{ name: "Print Archive", platform: "Archive" }];
    await writeFile(
      join(cwd, "content-warehouse.config.json"),
      JSON.stringify({ url, destinations }, null, 2),
    );
    const messageOf = async (name: string) =>
      (await init(cwd, ["--add", "--destination", name], { env })).error?.message ?? "";
    const no = (name: string, platform: string) =>
      `There is no destination "${name}" on platform "${platform}"`;
    const wayOut = 'Correct its name, or give its platform as "NAME:PLATFORM".';
    assert.deepEqual(
      [
        await messageOf("Print Archive"),
        await messageOf("Print Archiv:Archive"),
        await messageOf("Web CMS:Archive"),
      ],
      [
        `${no("Print Archive", "External")}, but on "Archive". ${wayOut}`,
        `${no("Print Archiv", "Archive")} (did you mean "Print Archive:Archive"?). ${wayOut}`,
        `${no("Web CMS", "Archive")}, but on "External". ${wayOut}`,
      ],
    );
  });
});
