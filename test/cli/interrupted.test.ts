/** Commands that a signal ends say so, and what is true then. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { checkCommand } from "../../src/cli/commands/check.ts";
import { replayCommand } from "../../src/cli/commands/replay.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { long } from "../long.ts";
import { CANARY, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { until } from "../until.ts";
import { publish } from "../warehouse/published.ts";
import { outcome } from "./capture.ts";
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
    /The run 000001-\S+ is published, but was not delivered to slow: The delivery was interrupted\. "content-warehouse deliver" repeats it, and the next run is delivered anyway\./;
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

  const again = await interrupted(["deliver"], "the target waits", "SIGTERM");
  assert.equal(again.code, 143, again.stderr);
  assert.match(
    again.stderr,
    /The run 000001-\S+ is published, but was not delivered to slow: The delivery was interrupted\. "content-warehouse deliver" repeats it\.\n/,
  );
  assert.match(again.stdout, /^first: delivered .*\nslow: FAILED\n$/);
});

/** What a command in this process ends with whose own listeners are told of a signal as soon as there are any. */
async function told(make: Parameters<typeof outcome>[0], args: readonly string[], cwd: string) {
  const before = new Set(process.listeners("SIGINT"));
  const ended = outcome(make, args, { env: {}, cwd });
  let own: NodeJS.SignalsListener[] = [];
  const listens = () => {
    own = process.listeners("SIGINT").filter((listener) => !before.has(listener));
    return own.length > 0;
  };
  await until("it listens to signals", listens, { ended, everyMs: 0 });
  for (const listener of own) listener("SIGINT");
  const { text, error } = await ended;
  return [error?.code, error?.message, text];
}

test("an interrupted command says what it leaves, and no question is answered", async (t) => {
  const out = await temporaryFolder(t);
  await publish(out);
  for (const [make, args, left] of [
    [verifyCommand, [], "the question was not answered"],
    [replayCommand, [], "nothing was published"],
    [checkCommand, ["--sample", "--format", "json"], "the check is not finished"],
  ] as const) {
    const said = await told(make, [...args, "--warehouse", out], out);
    assert.deepEqual(said, ["run.interrupted", `Interrupted; ${left}.`, ""]);
  }
  assert.deepEqual(await readdir(join(out, ".staging")), []);
});

long(
  "a command that has nothing to put in order says that it was interrupted, and ends at once",
  async (t) => {
    const cwd = await temporaryFolder(t);
    const question = join(cwd, "question.sql");
    await promisify(execFile)("mkfifo", [question]);
    const { promise: reading, resolve } = Promise.withResolvers<void>();
    const { code, stdout, stderr } = await program(["sql", "-f", question], {
      cwd,
      begun: async (child) => {
        // It can be opened once the command reads it.
        const handle = await open(question, "w");
        child.kill("SIGINT");
        await once(child, "exit");
        await handle.close();
        resolve();
      },
    });
    await reading;
    assert.deepEqual([code, stdout, stderr], [null, "", "Interrupted.\n"]);
  },
);
