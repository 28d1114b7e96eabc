import assert from "node:assert/strict";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { packagePath } from "../../src/common/package-root.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { verifyRuns } from "../../src/warehouse/verify-run.ts";
import { program } from "../cli/running.ts";
import { many } from "../long.ts";
import { CANARY, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { type Started, start } from "./started.ts";

const RUNS = many(20, 300);
const ITEMS = 12;
/** Only so that the loop ends where something hangs: a run and its delivery take about two seconds. */
const LIMIT_MS = RUNS * 10_000;

/** Numbers of a run's name and of what `current` names; 0 before the first run. */
const numberOf = (run: string): number => Number(run.slice(0, 6));
function currentNumber(out: string): number {
  const link = join(out, "current");
  return existsSync(link) ? numberOf(readlinkSync(link).slice("runs/".length)) : 0;
}

/** When to kill a run that takes about so long: at any time, and in one of three cases when it is about to publish. */
function killAfter(typicalMs: number): number {
  const late = Math.random() < 1 / 3;
  return typicalMs * (late ? 0.75 + Math.random() * 0.3 : Math.random());
}

/** A configuration whose runs are delivered to a lake in a folder. */
async function lakeConfig(folder: string): Promise<string> {
  const config = join(folder, "config.json");
  const url = pathToFileURL(join(folder, "lake")).href;
  await writeFile(config, JSON.stringify({ targets: [{ type: "lake", url, instance: "main" }] }));
  return config;
}

test(`F2, G8, I1: ${RUNS} runs, half of them killed at any moment, with a reader all the while: no half run is seen, none is lost, in the lake neither, and none needs a repair`, async (t: TestContext) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  const out = await temporaryFolder(t);
  const folder = outputFolder(out);
  const env = {
    CONTENT_API_URL: service.url,
    CONTENT_API_TOKEN: CANARY,
    // Most of a small run is the loading of the program.
    NODE_COMPILE_CACHE: await temporaryFolder(t),
  };
  const config = await lakeConfig(await temporaryFolder(t));
  const pipeline = packagePath("test/run/small-pipeline.ts");
  const args = ["run", pipeline, "--warehouse", out, "--config", config, "--json"];
  const spawnRun = () => start("test/soak/run-when-told.ts", args, env);
  const began = performance.now();
  const tally = { runs: 0, complete: 0, killed: 0, published: 0 };
  let typicalMs = 1000;
  let waiting = spawnRun();
  let reader: Started | undefined;
  t.after(() => {
    waiting.child.kill("SIGKILL");
    reader?.child.kill("SIGKILL");
  });

  async function next(kill: boolean): Promise<void> {
    const run = waiting;
    await run.ready;
    waiting = spawnRun();
    const before = currentNumber(out);
    const from = performance.now();
    run.child.stdin?.write("go\n");
    const hurry = new AbortController();
    const killer = kill
      ? setTimeout(killAfter(typicalMs), undefined, { signal: hurry.signal }).then(
          () => run.child.kill("SIGKILL"),
          () => undefined,
        )
      : undefined;
    const { code, signal } = await run.ended;
    hurry.abort();
    await killer;
    const now = currentNumber(out);
    tally.runs += 1;
    assert.ok(now >= before, `current went back from run ${before} to run ${now}`);
    assert.ok(existsSync(join(out, "current")) || before === 0, "what current names is there");
    if (signal === "SIGKILL") {
      tally.killed += 1;
      if (now > before) tally.published += 1;
      return;
    }
    assert.equal(code, 0, run.output());
    const line =
      run
        .output()
        .split("\n")
        .find((each) => each.startsWith("{")) ?? "{}";
    const { run: reported }: { run?: string } = JSON.parse(line);
    assert.equal(
      readlinkSync(join(out, "current")),
      `runs/${reported}`,
      "what was reported is what readers see",
    );
    tally.complete += 1;
    const tookMs = performance.now() - from;
    typicalMs = tally.complete === 1 ? tookMs : typicalMs * 0.8 + tookMs * 0.2;
  }

  await next(false);
  reader = start("test/soak/read-current.ts", [out, String(ITEMS)], {});
  while (tally.runs < RUNS || tally.killed < RUNS / 2) {
    assert.ok(performance.now() - began < LIMIT_MS, `too slow: ${JSON.stringify(tally)}`);
    assert.equal(reader.child.exitCode, null, reader.output());
    await next(tally.killed < tally.runs / 2);
  }
  await next(false);
  reader.child.stdin?.end();
  const { code } = await reader.ended;
  assert.equal(code, 0, reader.output());
  const { reads, runs }: { reads: number; runs: number } = JSON.parse(reader.output());
  assert.ok(reads > RUNS / 2, `only ${reads} reads`);
  const { findings } = await verifyRuns(folder, undefined, await temporaryFolder(t));
  assert.deepEqual(findings, []);
  assert.deepEqual(readdirSync(folder.staging), []);
  assert.equal(readdirSync(folder.runs).length, 7, "as many runs as are kept");
  const { code: found, stderr } = await program(["lake", "verify", "--full", "--config", config]);
  assert.equal(found, 0, stderr);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  t.diagnostic(
    `${tally.runs} runs: ${tally.complete} complete, ${tally.killed} killed (${tally.published} of them after the ` +
      `switch); ${reads} reads saw ${runs} runs, each whole; ${seconds} s, ${typicalMs.toFixed(0)} ms a run`,
  );
});
