/** Commands that a signal ends say so, and what is true then. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { CANARY, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { type Outcome, program } from "./running.ts";

/** The second target waits until its signal; observers write into the folder. */
const CONFIG = `
import { writeFileSync } from "node:fs";
const first = { name: "first", last: async () => null, stage: async () => ({ commit: async () => {}, abort: async () => {} }) };
const slow = {
  name: "slow",
  last: async () => null,
  stage: ({ signal }) => {
    const alive = setInterval(() => {}, 1000);
    process.stderr.write("the target waits\\n");
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        clearInterval(alive);
        reject(new Error("the connection was lost"));
      });
    });
  },
};
export default {
  targets: [first, slow],
  onFinish: (outcome) => writeFileSync("outcome.json", JSON.stringify(outcome)),
  metricsFile: "run.prom",
  openLineage: { file: "lineage.jsonl" },
};
`;

/** A folder with a configuration, whose warehouse has a run that was published while nothing took it. */
async function setting(t: TestContext) {
  const service = await Scripted.start(t, itemsOf(3));
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, "content-warehouse.config.mjs"), CONFIG);
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  /** Runs a command that gets the signal once it has written a text to standard error. */
  const interrupted = (args: readonly string[], once: string, signal: NodeJS.Signals): Promise<Outcome> =>
    program(args, {
      cwd,
      env,
      begun: (child) =>
        child.stderr?.on("data", (text) => {
          if (String(text).includes(once)) child.kill(signal);
        }),
    });
  return { cwd, interrupted };
}

test("a signal while a target takes the run: it is published and not delivered, and everybody is told so", async (t) => {
  const { cwd, interrupted } = await setting(t);
  const pipeline = packagePath("test/run/small-pipeline.ts");
  const ended = await interrupted(["run", pipeline, "--json"], "the target waits", "SIGINT");
  assert.equal(ended.code, 130, ended.stderr);
  const sentence =
    /The run 000001-\S+ is published, but was not delivered to slow: The delivery was interrupted\. "content-warehouse deliver" repeats it, and the next run delivers itself\./;
  assert.match(ended.stderr, sentence);
  const summary = JSON.parse(ended.stdout);
  const states = summary.deliveries.map(({ target, state, failure }: Record<string, { code?: string }>) => [
    target,
    state,
    failure?.code,
  ]);
  assert.deepEqual(states, [
    ["first", "delivered", undefined],
    ["slow", "failed", "run.interrupted"],
  ]);
  const read = (name: string) => readFile(join(cwd, name), "utf8");
  const outcome = JSON.parse(await read("outcome.json"));
  assert.deepEqual([outcome.ok, outcome.exitCode, outcome.run], [true, 130, summary.run]);
  const metrics = await read("run.prom");
  assert.match(metrics, /^content_warehouse_run_exit_code\{.*\} 130$/m);
  assert.match(metrics, new RegExp(`^content_warehouse_published_info\\{.*"${summary.run}"`, "m"));
  assert.match(await read("lineage.jsonl"), /"START".*\n.*"COMPLETE"/);
});
