import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { after, suite, test } from "node:test";
import { initCommand } from "../../../src/cli/commands/init.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { createService } from "../../../src/service/service.ts";
import { temporaryFolder, treeOf } from "../../run/running.ts";
import { outcome } from "../capture.ts";

const service = await createService({ data: packagePath("data/sample") });
after(() => service.close());
const { url } = service;
const [token = ""] = service.contentSet.tokens.keys();
const CONFIG = "content-warehouse.config.json";

const init = (cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  outcome(initCommand, args, { cwd, env });

test("with a token: a configuration that a run reads, with the destinations of the service", async (t) => {
  const cwd = await temporaryFolder(t);
  const { text, error } = await init(cwd, ["--url", `${url}/api/v1/`], { CONTENT_API_TOKEN: token });
  assert.equal(error, undefined);
  assert.match(text, /the token can read 500 items\. .* "Web CMS", "Partner Portal"\.\nWritten: content-/);
  assert.ok(text.endsWith("Next:\n  content-warehouse check\n  content-warehouse run nightly --limit 20\n"));
  assert.deepEqual(await treeOf(cwd), [CONFIG], "the token stays where it is");
  const { $schema, ...settings } = JSON.parse(await readFile(join(cwd, CONFIG), "utf8"));
  assert.equal(resolve(cwd, $schema), packagePath("config.schema.json"));
  const destinations = ["Web CMS", "Partner Portal"].map((name) => ({ name, platform: "External" }));
  assert.deepEqual(settings, { url, tokenFile: "./token", destinations });

  const load = () => loadConfig({ cwd, env: {}, flags: {}, sampleBy: "--sample" });
  const wayOut = /there is no file \S+token; put the API token into it, with mode 0600\.$/;
  await assert.rejects(load(), { code: "config.invalid", message: wayOut });
  await writeFile(join(cwd, "token"), token, { mode: 0o600 });
  const config = await load();
  assert.ok(config.source.kind === "service");
  assert.deepEqual([config.source.url.origin, config.source.token.reveal()], [url, token]);
  assert.deepEqual(config.destinations, destinations);
});

test("the token may be in a file", async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, "key"), `${token}\n`, { mode: 0o600 });
  const { text, error } = await init(cwd, ["--url", url, "--token-file", "key"]);
  assert.equal(error, undefined);
  assert.match(text, /the token can read 500 items/);
  assert.match(await readFile(join(cwd, CONFIG), "utf8"), /"tokenFile": "key"/);
});

test("without a token the service is not asked, and the next step is the token", async (t) => {
  const cwd = await temporaryFolder(t);
  const { text, error } = await init(cwd, [], { CONTENT_API_URL: "http://127.0.0.1:1" });
  assert.equal(error, undefined);
  assert.match(text, /^Written: .*\nNext:\n {2}put the API token into \.\/token, which only you can read\n/);
  assert.equal((await stat(join(cwd, "token"))).mode & 0o777, 0o600);
  assert.equal(await readFile(join(cwd, "token"), "utf8"), "");
  assert.match(await readFile(join(cwd, CONFIG), "utf8"), /"destinations": \[\]/);
});

for (const [where, args, env, correct] of [
  ["CONTENT_API_TOKEN", [], { CONTENT_API_TOKEN: "wrong" }, "CONTENT_API_TOKEN"],
  ["--token-file", ["--token-file", "key"], {}, "key"],
] as const) {
  test(`a wrong token of ${where} is named, and the configuration written all the same`, async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, "key"), "wrong", { mode: 0o600 });
    const { text, error } = await init(cwd, ["--url", url, ...args], env);
    assert.equal(error?.exitCode, 20);
    assert.ok(error.message.includes(`refused the API token (401); check the API token (${where}).`));
    assert.ok(text.startsWith(`Written: ${CONFIG}\nNext:\n  correct the token in ${correct}, and fill in`));
    assert.match(await readFile(join(cwd, CONFIG), "utf8"), /"destinations": \[\]/);
  });
}

suite("nothing is written", () => {
  const cases: Readonly<
    Record<string, readonly [args: readonly string[], code: number, sentence: RegExp, token?: string]>
  > = {
    "without an address": [[], 2, /--url/],
    "with an address that is none": [["--url", "content"], 2, /^--url: expected an address/],
    "with a token that cannot be one": [["--url", url], 2, /^CONTENT_API_TOKEN: expected/, "a b"],
  };
  for (const [name, [args, code, sentence, given = token]] of Object.entries(cases)) {
    test(name, async (t) => {
      const cwd = await temporaryFolder(t);
      const { error } = await init(cwd, args, { CONTENT_API_TOKEN: given });
      assert.match(error?.message ?? "", sentence);
      assert.equal(error?.exitCode, code);
      assert.deepEqual(await treeOf(cwd), []);
    });
  }

  test("over a configuration, whatever its extension, and no request is made", async (t) => {
    for (const name of ["content-warehouse.config.mjs", CONFIG]) {
      const cwd = await temporaryFolder(t);
      await writeFile(join(cwd, name), "mine");
      const { error } = await init(cwd, ["--url", "http://127.0.0.1:1"], { CONTENT_API_TOKEN: token });
      assert.equal(error?.code, "config.output");
      assert.ok(error.message.startsWith(`There is already a file ${name}`), error.message);
      assert.equal(await readFile(join(cwd, name), "utf8"), "mine");
    }
  });
});
