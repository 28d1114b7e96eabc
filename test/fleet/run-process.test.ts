import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createLog, type Log } from "../../src/common/log.ts";
import { readFleet } from "../../src/fleet/fleet.ts";
import { type Outcome, outcomeOf } from "../../src/fleet/outcome.ts";
import { type RunEnd, startRun } from "../../src/fleet/run-process.ts";
import { FakeClock } from "../fake-clock.ts";
import { temporaryFolder } from "../folders.ts";

const NORTH = { name: "north", url: "https://north.example.com", tokenEnv: "TOKEN", memoryMb: 448 };

/** A script in the place of the program: how its process ends, and what is logged of it. */
async function started(t: TestContext, script: string) {
  const files = { "fleet.json": JSON.stringify({ instances: [NORTH] }), "entry.mjs": script };
  const folder = await temporaryFolder(t, files);
  const entry = join(folder, "entry.mjs");
  const fleet = await readFleet(folder, "fleet.json");
  const [instance] = fleet.instances;
  assert.ok(instance !== undefined);
  const lines: string[] = [];
  const log = loggedTo(lines);
  return { run: startRun({ entry, fleet, instance, outSince: null, log }), lines, instance, fleet };
}

function loggedTo(lines: string[]): Log {
  const write = (line: string) => lines.push(line);
  return createLog({ level: "info", format: "text", secrets: [], clock: new FakeClock(), write });
}

test("a run's process gets its instance, and gives its log and what it prints", async (t) => {
  const { run, lines, fleet } = await started(
    t,
    `console.error(JSON.stringify({ level: "info", time: "x", msg: "3 of 5 pages", page: 3 }));
    console.error(JSON.stringify({ level: "warn", time: "x", msg: "a page came again", secret: "s" }));
    console.error("what is no log");
    console.log(JSON.stringify(process.argv.slice(2)));
    process.exitCode = 10;`,
  );
  const end = await run.ended;
  assert.deepEqual(end, {
    exitCode: 10,
    signal: null,
    output: ["run", "--instance", "north", "--fleet", fleet.path, "--json", "--log-format", "json"],
    lastLine: "what is no log",
    tookMb: null,
  });
  assert.deepEqual(
    lines.map((line) => line.slice(9)),
    [
      "info  3 of 5 pages instance=north page=3\n",
      "warn  a page came again instance=north\n",
      "warn  what is no log instance=north\n",
    ],
  );
});

test("a run that takes more memory than it may is ended, and not tried again", async (t) => {
  const { run, instance } = await started(
    t,
    "const taken = Buffer.alloc(600e6, 1); setTimeout(() => console.log(taken.length), 60000);",
  );
  const end = await run.ended;
  const outcome = outcomeOf(end, instance);
  assert.ok(outcome.after === "stop");
  assert.match(
    outcome.message,
    /^The run took \d{3} MB of memory, more than the 448 MB that `memoryMb` allows;/,
  );
});

test("a run ends with the process that started it", async (t) => {
  const { run } = await started(
    t,
    `import { StopSignals } from ${JSON.stringify(new URL("../../src/cli/command.ts", import.meta.url).href)};
    const stop = new StopSignals("nothing was published");
    stop.signal.addEventListener("abort", () => process.exit(stop.exitCode));
    setTimeout(() => {}, 60000);
    process.disconnect();`,
  );
  assert.equal((await run.ended).exitCode, 143);
});

const END: RunEnd = { exitCode: 0, signal: null, output: undefined, lastLine: "", tookMb: null };
const failed = (exitCode: number, code: string) => ({
  ...END,
  exitCode,
  output: { code, message: `It failed: ${code}.`, exitCode },
});

/** A run that is published, and that its targets did not take, nor a loader where one failed. */
const undelivered = (codes: readonly string[], loadFailure: string | null = null) => ({
  ...END,
  exitCode: 26,
  output: {
    run: "000042-20261120T020000Z",
    verdict: "complete",
    deliveries: [
      { target: "files", state: "delivered", failure: null },
      ...codes.map((code) => ({ target: code, state: "failed", failure: { code, message: `${code}.` } })),
    ],
    loadFailure: loadFailure && { code: loadFailure, message: "It is shut." },
  },
});

test("the end of a run says whether it is tried again", () => {
  const published = { run: "000042-20261120T020000Z", verdict: "complete", accounting: { loaded: 500 } };
  const { run, verdict } = published;
  const withoutRun = { published: null };
  const unnamed = { code: null, ...withoutRun };
  const withRun = { published: { run, verdict, items: null } };
  const cases: readonly (readonly [end: RunEnd, outcome: Outcome | Outcome["after"]])[] = [
    [
      { ...END, output: published },
      { after: "done", exitCode: 0, run, verdict, items: 500 },
    ],
    [{ ...END, exitCode: 10, output: published }, "done"],
    [
      failed(21, "source.unavailable"),
      {
        after: "retry",
        exitCode: 21,
        code: "source.unavailable",
        message: "It failed: source.unavailable.",
        ...withoutRun,
      },
    ],
    [failed(75, "run.locked"), "retry"],
    [
      undelivered(["target.unavailable"]),
      {
        after: "retry",
        exitCode: 26,
        code: "target.unavailable",
        message: "Not delivered to target.unavailable: target.unavailable.",
        ...withRun,
      },
    ],
    // The next run goes on from the later one that the target has.
    [undelivered(["target.fenced"]), "retry"],
    [
      undelivered(["target.refused"]),
      {
        after: "stop",
        exitCode: 26,
        code: "target.refused",
        message: "Not delivered to target.refused: target.refused.",
        ...withRun,
      },
    ],
    // Those that can take it are not to wait for somebody who looks at the other.
    [undelivered(["target.refused", "target.unavailable"]), "retry"],
    [failed(26, "load.failed"), "stop"],
    [
      undelivered([], "load.failed"),
      { after: "stop", exitCode: 26, code: "load.failed", message: "It is shut.", ...withRun },
    ],
    [undelivered(["target.unavailable"], "load.failed"), "retry"],
    // A run without a warehouse that its target keeps, which nobody could ask.
    [failed(26, "target.unavailable"), "retry"],
    [failed(20, "source.credentials"), "stop"],
    [failed(24, "guard.shrink"), "stop"],
    [
      { ...END, exitCode: null, signal: "SIGKILL", lastLine: "" },
      { after: "retry", exitCode: null, message: "The run's process was ended by SIGKILL.", ...unnamed },
    ],
    // A success that says nothing is none.
    [END, { after: "stop", exitCode: 0, message: "The run ended with 0 and said nothing.", ...unnamed }],
  ];
  for (const [end, expected] of cases) {
    const outcome = outcomeOf(end, { memoryMb: 512 });
    if (typeof expected === "string") assert.equal(outcome.after, expected);
    else assert.deepEqual(outcome, expected);
  }
});
