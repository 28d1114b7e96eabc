/** A run tells its observers what it does; whatever they do, the run ends as it would have. */
import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ObserveSettings, RunOutcome } from "../../src/observe/outcome.ts";
import { program } from "../cli/running.ts";
import { failsWith } from "../failing.ts";
import { CANARY, scriptedWorld, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { warningsIn } from "./observing.ts";

/** A service of 12 items, and observers of each kind. */
async function observed(t: TestContext) {
  const { service, out: folder, exported } = await scriptedWorld(t);
  const outcomes: RunOutcome[] = [];
  const warnings: string[] = [];
  const settings: ObserveSettings = {
    onFinish: (outcome) => outcomes.push(outcome),
    metricsFile: join(folder, "run.prom"),
  };
  const out = join(folder, "warehouse");
  const run = (changes: Partial<ObserveSettings> = {}) =>
    exported({
      out,
      config: { observe: { ...settings, ...changes } },
      log: warningsIn(warnings),
    });
  return { service, folder, outcomes, warnings, run };
}

test("a run that is published calls onFinish with its summary and exit code, and writes the metrics", async (t) => {
  const { service, folder, outcomes, warnings, run } = await observed(t);
  const summary = await run();
  assert.deepEqual(warnings, []);
  assert.deepEqual(outcomes, [{ ok: true, exitCode: 0, ...summary }]);
  const metrics = await readFile(join(folder, "run.prom"), "utf8");
  assert.match(metrics, /^content_warehouse_published_items\{.*state="loaded"\} 12$/m);
  assert.ok(metrics.includes(`status="200"} ${service.questions.length}\n`), metrics);
  assert.deepEqual((await readdir(folder)).sort(), ["run.prom", "warehouse"]);
});

test("a run that fails calls onFinish with the reason, keeps the metrics of the last success", async (t) => {
  const { service, folder, outcomes, run } = await observed(t);
  await run();
  const before = await readFile(join(folder, "run.prom"), "utf8");
  service.script = ({ kind }) => (kind === "list" ? { status: 401 } : undefined);
  const error = await failsWith("source.credentials", run());
  assert.deepEqual(outcomes[1], {
    ok: false,
    code: "source.credentials",
    message: error.message,
    exitCode: 20,
    warehouse: join(folder, "warehouse"),
    run: outcomes[1]?.run,
    pipeline: "small",
  });
  assert.match(String(outcomes[1]?.run), /^000002-/);
  const after = await readFile(join(folder, "run.prom"), "utf8");
  const published = (text: string) => text.split("\n").filter((line) => line.includes("_published_"));
  assert.deepEqual(published(after), published(before));
  assert.match(after, /^content_warehouse_run_exit_code\{.*\} 20$/m);
  assert.match(after, /status="401"\} 1$/m);
});

test("a start that is refused while another run is under way is told to nobody", async (t) => {
  const { outcomes, run, folder } = await observed(t);
  const [first, second] = await Promise.allSettled([run(), run()]);
  const refused = first.status === "rejected" ? first : second;
  assert.ok(refused.status === "rejected" && refused.reason.code === "run.locked");
  assert.deepEqual(
    outcomes.map(({ exitCode }) => exitCode),
    [0],
  );
  assert.match(await readFile(join(folder, "run.prom"), "utf8"), /run_exit_code\{.*\} 0$/m);
});

test("a run that ends before it has a name tells onFinish and the metrics", async (t) => {
  const { outcomes, run, folder } = await observed(t);
  await writeFile(join(folder, "warehouse"), "a file");
  await failsWith("config.output", run());
  const [first] = outcomes;
  assert.ok(first?.ok === false && first.run === null);
  assert.match(await readFile(join(folder, "run.prom"), "utf8"), /run_exit_code\{.*\} 2$/m);
});

test("what onFinish leaves under way does not keep the command from ending", async (t) => {
  const service = await Scripted.start(t, itemsOf(1));
  service.script = () => ({ status: 401 });
  const cwd = await temporaryFolder(t);
  const config = "export default { onFinish: (outcome) => setInterval(() => {}, 1000, outcome) };";
  await writeFile(join(cwd, "content-warehouse.config.mjs"), config);
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  const { code, stderr } = await program(["run", "nightly"], { cwd, env });
  assert.equal(code, 20, stderr);
});
