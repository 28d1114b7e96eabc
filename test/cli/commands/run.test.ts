import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { runCommand } from "../../../src/cli/commands/run.ts";
import type { WarehouseError } from "../../../src/common/errors.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { basicCredentials, Secret } from "../../../src/common/secret.ts";
import { long } from "../../long.ts";
import { assertNowhereIn, CANARY, temporaryFolder } from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { ran } from "../capture.ts";
import { program } from "../running.ts";

const SMALL = packagePath("test/run/small-pipeline.ts");

type Env = Readonly<Record<string, string>>;

/** `content-warehouse run` in this process: what it writes and how it ends; what it throws is thrown. */
const run = (args: readonly string[], env: Env, cwd: string) => ran(runCommand, args, { env, cwd });

suite("a run that cannot begin ends with 2, says why, and writes nothing:", () => {
  const cases: Readonly<
    Record<string, readonly [args: string, sentence: RegExp, files?: Readonly<Record<string, string>>]>
  > = {
    "no service": [
      "nightly",
      /The address of the service is missing: give --url, set CONTENT_API_URL.*--sample/,
    ],
    "a folder where none can be made": [
      "nightly --sample --warehouse /proc/warehouse",
      /a part of its path does not exist/,
    ],
    "a setting that there is not": [
      "nightly --config c.json --sample",
      /^c\.json: Unrecognized key: "perpage" \(did you mean "perPage"\?\)\.$/,
      { "c.json": '{ "perpage": 5 }' },
    ],
    "a pipeline that cannot be imported": [
      "./own.ts --sample",
      /^The pipeline .*own\.ts cannot be imported: /,
      { "own.ts": "export default definePipeline({" },
    ],
    "a pipeline of which much is wrong": [
      "./own.ts --sample",
      /own\.ts: The pipeline "own" cannot be run: extract has no listing.*; singleItems needs.*; load .*\.$/,
      {
        "own.ts": `import { contentTables, definePipeline, singleItems } from "content-warehouse";
       export default definePipeline({
         name: "own",
         extract: [singleItems()],
         transform: [contentTables({ only: ["content"] })],
         load: [],
       });`,
      },
    ],
    "a pipeline that is none": [
      "./own.mjs --sample",
      /own\.mjs exports no pipeline: its default export/,
      { "own.mjs": "export const x = 1;" },
    ],
    "a pipeline that imports what is not there": [
      "./own.js --sample",
      /Cannot find package 'no-such-package'/,
      { "own.js": 'import "no-such-package";' },
    ],
  };
  for (const [what, [args, sentence, files = {}]] of Object.entries(cases)) {
    test(what, async (t) => {
      const cwd = await temporaryFolder(t);
      for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
      await assert.rejects(run(args.split(" "), {}, cwd), ({ exitCode, message }: WarehouseError) => {
        assert.equal(exitCode, 2);
        assert.match(message, sentence);
        assert.match(message, /^[^\n]{20,600}$/);
        return true;
      });
      assert.deepEqual(await readdir(cwd), Object.keys(files));
    });
  }
});

function against(service: Scripted): Env {
  return { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
}

suite("a run against a service", () => {
  test("that is complete ends with 0 and a summary; the token stands nowhere but in the requests", async (t) => {
    const service = await Scripted.start(t, itemsOf(12));
    const cwd = await temporaryFolder(t);
    const { text, err, exitCode } = await run([SMALL, "--warehouse", "./warehouse"], against(service), cwd);
    assert.equal(exitCode, 0);
    assert.match(err, /^(?:\d\d:\d\d:\d\d info {2}[a-z ]+: .*\n)*$/, "nothing but progress");
    assert.match(text, /^Complete: run 000001-\d{8}T\d{6}Z of small, .* s\n\n {2}Items +12\n/);
    assert.match(text, /\n {2}Published {2}\d/);
    assert.doesNotMatch(text, /\n {2}Next /, "nobody reads it");
    const credentials = basicCredentials(new Secret(CANARY));
    assert.deepEqual([...service.authorizations], [credentials]);
    await assertNowhereIn(join(cwd, "warehouse/runs"), [CANARY, credentials.slice("Basic ".length, -4)]);
  });

  test("G15: by modules beside the package.json of npm init, with --json, prints one object", async (t) => {
    const service = await Scripted.start(t, itemsOf(12));
    const cwd = await temporaryFolder(t);
    const files = {
      "package.json": '{ "type": "commonjs" }',
      "content-warehouse.config.js": `import { defineConfig } from "content-warehouse";
        export default defineConfig({ perPage: 5 });`,
      "title.js": `import { text } from "content-warehouse";
        export const title = text("title", { comment: "Title." });`,
      "own.ts": `import { contentTables, customTable, definePipeline, duckdb, listing } from "content-warehouse";
        import { title } from "./title.js";
        const titles = customTable({ name: "titles", comment: "Titles.", columns: [title], rows: () => [{ title: "A title" }] });
        export default definePipeline({
          name: "own",
          extract: [listing("dynamic")],
          transform: [contentTables({ only: ["content"] }), titles],
          load: [duckdb()],
        });`,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
    const args = ["./own.ts", "--json", "--quiet", "--warehouse", "here"];
    const { text, err, exitCode } = await run(args, against(service), cwd);
    assert.deepEqual([exitCode, err], [0, ""]);
    assert.match(text, /^\{[^\n]*\}\n$/);
    const summary = JSON.parse(text);
    assert.deepEqual([summary.verdict, summary.items.loaded], ["complete", 12]);
    assert.equal(summary.directory, join(cwd, "here/runs", summary.run));
  });

  test("whose own loader cannot make it visible ends with 26, has its summary, and is delivered all the same", async (t) => {
    const service = await Scripted.start(t, itemsOf(3));
    const cwd = await temporaryFolder(t);
    const loader = `{ name: "own", stage: () => ({ abort() {}, commit() { throw new Error("it is shut"); } }) }`;
    await writeFile(
      join(cwd, "mine.mjs"),
      `import { contentTables, definePipeline, listing, parquet } from "content-warehouse";
       export default definePipeline({
         name: "mine",
         extract: [listing("full")],
         transform: [contentTables({ only: ["content"] })],
         load: [parquet(), ${loader}],
       });`,
    );
    const target = `{ name: "memory", last: () => null, stage: () => ({ commit() {}, abort() {} }) }`;
    const shut = `{ name: "shut", last: () => null, stage() { throw new Error("nobody is there") } }`;
    await writeFile(join(cwd, "c.mjs"), `export default { targets: [${target}, ${shut}] };`);
    const args = ["./mine.mjs", "--config", "c.mjs", "--quiet", "--json"];
    const { text, err, exitCode } = await run(args, against(service), cwd);
    assert.equal(exitCode, 26);
    const { verdict, deliveries, loadFailure, warnings, newWarnings } = JSON.parse(text);
    assert.deepEqual([verdict, deliveries[0].state], ["complete", "delivered"]);
    assert.match(err, /not delivered to shut: .* "content-warehouse deliver" repeats it/);
    assert.match(loadFailure.message, /^The loader own cannot make the run visible: it is shut/);
    assert.deepEqual([warnings.at(-1), newWarnings], [loadFailure.message, []]);
    assert.deepEqual(err.match(/\w+ +The loader .*/g), [`error ${loadFailure.message} code=load.failed`]);
  });

  test("that refuses the token and repeats it shows it nowhere", async (t) => {
    const service = await Scripted.start(t, []);
    service.script = () => ({ status: 401, body: { error: `No such token: ${CANARY}` } });
    const cwd = await temporaryFolder(t);
    const { code, stdout, stderr } = await program(["run", SMALL, "--debug"], { env: against(service), cwd });
    assert.deepEqual([code, stdout], [20, ""]);
    assert.match(
      stderr,
      /refused the API token \(401\); check the API token \(CONTENT_API_TOKEN\)\. It said: .*No such token: \[redacted\]/,
    );
    assert.match(stderr, /\n\s+at /);
    assert.ok(!stderr.includes(CANARY));
    assert.deepEqual(await readdir(cwd), []);
  });

  long("that has trouble says so at each attempt, as JSON", async (t) => {
    const service = await Scripted.start(t, itemsOf(12));
    const cwd = await temporaryFolder(t);
    // One request at a time, and never two of them in vain: that would be an outage.
    await writeFile(join(cwd, "content-warehouse.config.json"), '{ "perPage": 2, "concurrency": 1 }');
    let refused = 0;
    service.script = ({ number }) => {
      if (number % 3 !== 2 || refused === 6) return undefined;
      refused += 1;
      return { status: 503, headers: { "retry-after": "0" } };
    };
    const asked = [SMALL, "--log-format", "json"];
    const { err, exitCode } = await run(asked, against(service), cwd);
    assert.equal(exitCode, 0);
    const lines = err
      .split("\n")
      .filter((line) => line.includes("Retrying."))
      .map((line) => JSON.parse(line));
    const [first] = lines;
    assert.deepEqual([first.level, first.status, first.attempt], ["warn", 503, 2]);
    assert.match(first.msg, /^127\.0\.0\.1:\d+ is unavailable \(503\).* Retrying\.$/);
    assert.equal(lines.length, refused, err);
  });
});
