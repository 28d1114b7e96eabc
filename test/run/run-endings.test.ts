import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { readdir, readlink, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type ErrorCode, WarehouseError } from "../../src/common/errors.ts";
import { silentLog } from "../../src/common/log.ts";
import { acquireLock, prepareOutput } from "../../src/warehouse/lock.ts";
import { startRun } from "../cli/running.ts";
import { failsWith } from "../failing.ts";
import { few, long } from "../long.ts";
import { exportFrom, NIGHTLY, scriptedWorld, temporaryFolder, treeOf, visibleIn } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

suite("a signal", () => {
  const signals = [
    ["SIGHUP", 143, "Terminated"],
    ["SIGQUIT", 143, "Terminated"],
    ["SIGTERM", 143, "Terminated"],
    ["SIGINT", 130, "Interrupted"],
  ] as const;
  for (const [signal, exitCode, word] of few(signals, 1)) {
    test(`F3: ${signal} while fetching ends a run within seconds with ${exitCode}, and keeps what was read; SIGUSR1 opens no debugger`, {
      timeout: 120_000,
    }, async (t) => {
      const service = await Scripted.start(t, itemsOf(2500));
      const asked = Promise.withResolvers<void>();
      service.script = ({ page }) => {
        if (page < 3) return undefined;
        asked.resolve();
        return "hang";
      };
      const folder = await temporaryFolder(t);
      const { child, ended } = startRun(service, join(folder, "warehouse"));
      await asked.promise;
      const sentMs = performance.now();
      // Would open a debugger, which says so on standard error.
      child.kill("SIGUSR1");
      child.kill(signal);
      const { code, stdout, stderr } = await ended;
      assert.deepEqual([code, stdout], [exitCode, ""]);
      const time = String.raw`\d\d:\d\d:\d\d`;
      const kept = `${time} warn {2}What was read is kept: [^\\n]*\\n`;
      assert.match(
        stderr,
        new RegExp(
          `^(?:${time} info {2}[a-z ]+: .*\\n)*${kept}${word}; nothing was published, and the next run resumes from what was kept\\.\\n$`,
        ),
      );
      assert.ok(performance.now() - sentMs < 20_000);
      assert.deepEqual(await visibleIn(join(folder, "warehouse")), []);
    });
  }

  for (const when of few(["between two tables", "while a table is made"], 1)) {
    test(`F3: that comes ${when} ends the run with its own reason`, async (t) => {
      const { out, exported } = await scriptedWorld(t);
      const controller = new AbortController();
      const stages: string[] = [];
      const run = exported({
        pipelineUrl: NIGHTLY,
        signal: controller.signal,
        onProgress: ({ stage }) => {
          stages.push(stage);
          const reason = new WarehouseError("run.terminated", "Terminated by this very test.");
          if (stage !== "load" || controller.signal.aborted) return;
          if (when === "between two tables") controller.abort(reason);
          else setTimeout(() => controller.abort(reason), 1);
        },
      });
      await failsWith("run.terminated", run);
      assert.ok(!stages.includes("publish"));
      assert.ok(stages.filter((stage) => stage === "load").length < 10, "the other tables are not made");
      assert.ok(!existsSync(join(out, "current")));
    });
  }
});

test("I5: a run that cannot become current is finished by the next one, as if it had been killed there", async (t) => {
  const { out, exported } = await scriptedWorld(t, itemsOf(3));
  const before = await exported();
  let inTheWay = "";
  const run = exported({
    onProgress: ({ stage }) => {
      if (stage !== "publish" || inTheWay !== "") return;
      inTheWay = join(out, `.current-${readdirSync(join(out, ".staging"))}`);
      mkdirSync(inTheWay);
    },
  });
  const { message } = await failsWith("internal", run);
  assert.match(message, /^The run 000002-\S+ is whole in .*, but is not current yet: .* The next run /);
  assert.equal(await readlink(join(out, "current")), `runs/${before.run}`);
  await rmdir(inTheWay);
  const { previousRun, sequence } = await exported();
  assert.deepEqual([previousRun?.slice(0, 6), sequence], ["000002", 3]);
  assert.deepEqual(await readdir(join(out, ".staging")), []);
});

test("F13: a second run against the same folder ends at once with 75 and without a request", {
  timeout: 120_000,
}, async (t) => {
  const service = await Scripted.start(t, itemsOf(3));
  const out = join(await temporaryFolder(t), "warehouse");
  await using _lock = await acquireLock(await prepareOutput(out));
  const before = await treeOf(out);
  const { code, stderr } = await startRun(service, out).ended;
  assert.equal(code, 75);
  assert.match(
    stderr,
    /^Another run is under way in .*\/warehouse \(process \d+\); wait until it ends, .*\n$/,
  );
  await failsWith("run.locked", exportFrom({ url: service.url, out }));
  assert.deepEqual(service.questions, []);
  assert.deepEqual(await treeOf(out), before, "what the first run made is not taken away");
});

/** A pipeline with a table of its own whose rows are made by this program text. */
async function ownPipeline(t: TestContext, rows: string): Promise<string> {
  const file = join(await temporaryFolder(t), "own.mjs");
  await writeFile(
    file,
    `import { contentTables, customTable, definePipeline, duckdb, integer, listing, parquet } from "content-warehouse";
     export default definePipeline({
       name: "own",
       description: "x",
       extract: [listing("dynamic"), listing("full")],
       transform: [contentTables({ only: ["content"] }), customTable({
         name: "own", comment: "x",
         columns: [integer("length", { comment: "x", required: true })],
         rows: ${rows},
       })],
       load: [duckdb(), parquet()],
     });`,
  );
  return pathToFileURL(file).href;
}

suite("a failure in a worker thread ends the run with a clear error, whatever else is under way:", () => {
  const cases: readonly (readonly [string, string, ErrorCode, RegExp])[] = [
    [
      "a function that throws",
      "() => { throw new Error('no luck'); }",
      "config.invalid",
      /^The table own of the pipeline cannot be made from item c-\d+: its function failed: no luck, at .*own\.mjs:\d+\.$/,
    ],
    ["a thread that ends itself", "() => process.exit(3)", "internal", /thread ended early \(exit code 3\)/],
    [
      "an exception that nobody catches",
      "() => { queueMicrotask(() => { throw new Error('uncaught'); }); return []; }",
      "internal",
      /^A worker thread failed: uncaught\.$/,
    ],
  ];
  for (const [what, rows, code, message] of few(cases, 2)) {
    test(what, { timeout: 120_000 }, async (t) => {
      const { out, exported } = await scriptedWorld(t, itemsOf(70));
      const pipelineUrl = await ownPipeline(t, rows);
      const run = exported({ pipelineUrl, threads: 1, config: { perPage: 1 } });
      assert.match((await failsWith(code, run)).message, message);
      assert.deepEqual(await treeOf(out), []);
    });
  }
});

long(
  "I8: two rows of one key in an own table are not published; the result is left to be looked into until the next run",
  async (t) => {
    const { service, out, exported } = await scriptedWorld(t, itemsOf(3));
    const pipelineUrl = await ownPipeline(t, "() => [{ length: 1 }, { length: 2 }]");
    const warned: string[] = [];
    const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
    const run = exported({ pipelineUrl, log });
    assert.match(
      (await failsWith("verify.failed", run)).message,
      /"unique key of own" failed \(3, expected 0/,
    );
    assert.deepEqual(warned, ["The staged files stay until the next run."]);
    assert.ok(!existsSync(join(out, "current")));
    assert.ok((await treeOf(out)).some((path) => /^\.staging\/.*\/warehouse\.duckdb$/.test(path)));
    const asked = service.questions.length;
    await failsWith("verify.failed", exported({ pipelineUrl }));
    assert.equal(service.questions.length, asked * 2, "no run goes on from it");
    assert.equal((await readdir(join(out, ".staging"))).length, 1);
  },
);
