/** Nights while a run is pinned: published as ever, and seen by nobody who asks for what is current. */
import assert from "node:assert/strict";
import { readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { checkCommand } from "../../src/cli/commands/check.ts";
import { replayCommand } from "../../src/cli/commands/replay.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";
import type { RunOutcome } from "../../src/observe/outcome.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { listRuns } from "../../src/warehouse/retention.ts";
import { capture, outcome } from "../cli/capture.ts";
import { memoryTarget } from "../targets/memory-target.ts";
import { tell } from "./loading.ts";
import { CANARY, exportFrom, HISTORY, rowsOf, SMALL, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";
import { summaryText } from "./summary-text.ts";

const PINNED = /current stays at 000001-\d{8}T\d{6}Z \(pinned since \d{4}-\d\d-\d\d \d\d:\d\d UTC\)/;

async function world(t: TestContext) {
  const service = await Scripted.start(t, itemsOf(3));
  const folder = await temporaryFolder(t);
  const out = join(folder, "warehouse");
  const target = memoryTarget();
  const outcomes: RunOutcome[] = [];
  const observe = {
    onFinish: (outcome: RunOutcome) => outcomes.push(outcome),
    metricsFile: join(folder, "run.prom"),
    openLineage: { to: { file: join(folder, "lineage.ndjson") }, namespace: "nights" },
  };
  const lines = async (file: string) => (await readFile(join(folder, file), "utf8")).trim().split("\n");
  return {
    service,
    out,
    target,
    outcomes,
    night: (pipelineUrl = HISTORY) =>
      exportFrom({ url: service.url, out, pipelineUrl, config: { targets: [target], observe } }),
    runs: (...args: string[]) => capture(runsCommand, [...args, "--warehouse", out]),
    marks: async () => {
      const json = await capture(runsCommand, ["list", "--json", "--warehouse", out]);
      return JSON.parse(json).runs.map(({ mark }: { mark: string }) => mark);
    },
    metrics: async () => (await lines("run.prom")).filter((line) => /_current_.*\{/.test(line)),
    outputs: async () => JSON.parse((await lines("lineage.ndjson")).at(-1) ?? "").outputs,
    standing: async () =>
      (await listRuns(outputFolder(out))).map(({ sequence, current, latest }) => [sequence, current, latest]),
  };
}

test("nights while a run is pinned are published, not current, not delivered, and say so; unpin makes the last current", async (t) => {
  const { service, out, target, outcomes, night, runs, marks, metrics, outputs } = await world(t);
  const first = await night();
  assert.deepEqual(first.current, {
    run: first.run,
    publishedAt: first.current.publishedAt,
    pinnedSince: null,
  });
  await night();
  assert.match(await runs("rollback", "1", "--pin"), new RegExp(`^${PINNED.source}\n$`));
  assert.deepEqual(await marks(), ["/", "*"], "what was rolled back is marked at once");
  service.items = itemsOf(4);
  const third = await night();
  service.items = itemsOf(5);
  const fourth = await night();
  assert.deepEqual([third.previousRun, fourth.previousRun], [first.run, third.run]);
  assert.deepEqual([fourth.changes?.new, fourth.deliveries, fourth.verdict], [1, [], "complete"]);
  assert.deepEqual(
    target.seen.map(({ sequence }) => sequence),
    [1, 2],
  );
  assert.equal(await readlink(join(out, "current")), `runs/${first.run}`);

  const summary = summaryText(fourth);
  assert.match(
    summary,
    new RegExp(`Pinned +${PINNED.source}: readers get later runs by "content-warehouse runs unpin"`),
  );
  assert.match(summary, new RegExp(`Next +content-warehouse diff ${third.run} ${fourth.run}`));
  const outcome = outcomes.at(-1);
  assert.deepEqual(outcome?.ok && [outcome.exitCode, outcome.current], [0, fourth.current]);
  assert.equal(fourth.current.publishedAt, first.current.publishedAt);
  const seconds = (instant: string | null) => Date.parse(instant ?? "") / 1000;
  const labels = `{warehouse="${out}"}`;
  assert.deepEqual(await metrics(), [
    `content_warehouse_current_timestamp_seconds${labels} ${seconds(first.current.publishedAt)}`,
    `content_warehouse_current_pinned_timestamp_seconds${labels} ${seconds(fourth.current.pinnedSince)}`,
  ]);
  const [output] = await outputs();
  assert.ok(output.name.startsWith(join(out, "runs", fourth.run, "parquet")), output.name);
  assert.match(
    await readFile(join(fourth.directory, "report.html"), "utf8"),
    new RegExp(`When this page was made, ${PINNED.source}: `),
  );
  assert.match(await runs(), new RegExp(`Pinned: ${PINNED.source}; "content-warehouse runs unpin" makes`));
  assert.deepEqual(await marks(), ["", "", "/", "*"], "unpin makes the latest current, and never the second");
  assert.match(await runs(), /; \/ is not in the history of the latest run: put aside, or rolled back\.\n/);
  assert.match(await runs("show", "4"), new RegExp(`Pinned +${PINNED.source}`));
  assert.match(
    await capture(verifyCommand, ["--warehouse", out]),
    /run 000001-\S+ \(current, pinned since 2\d{3}-/,
  );
  const checked = await capture(
    checkCommand,
    ["--url", service.url, "--warehouse", out, "--json"],
    undefined,
    {
      env: { CONTENT_API_TOKEN: CANARY },
    },
  );
  const { checks } = JSON.parse(checked);
  const warned = checks.filter((each: { status: string }) => each.status === "warning");
  assert.match(
    warned[0]?.detail,
    new RegExp(`^${PINNED.source}: a run is published, and becomes current by `),
  );

  assert.match(
    await runs("unpin"),
    new RegExp(
      `^current is now ${fourth.run}; ${first.run} was pinned since .* UTC\ntargets keep what they have`,
    ),
  );
  const fifth = await night();
  assert.equal(fifth.current.run, fifth.run);
  assert.equal(fifth.previousRun, fourth.run);
  const shown = () => metrics().then((all) => all.map((line) => line.split(" ")[1] ?? ""));
  const failingNight = async () => {
    service.script = () => ({ status: 401 });
    await assert.rejects(night());
    service.script = () => undefined;
    return await shown();
  };
  await runs("rollback", "1", "--pin");
  const [published = "", pinned] = await failingNight();
  assert.equal(Number(published), seconds(first.current.publishedAt));
  assert.ok(Date.now() / 1000 - Number(pinned) < 600, pinned);
  await runs("unpin");
  assert.equal((await failingNight()).length, 1, "the pin is gone also where nothing is published");
  assert.deepEqual(
    (await metrics()).map((line) => line.split("{")[0]),
    ["content_warehouse_current_timestamp_seconds"],
  );
  assert.deepEqual(
    target.seen.map(({ sequence }) => sequence),
    [1, 2, 5],
  );
  const history = "SELECT run, previous_run FROM run_history ORDER BY sequence";
  assert.deepEqual(await rowsOf(fifth.directory, history), [
    [first.run, null],
    [third.run, first.run],
    [fourth.run, third.run],
    [fifth.run, fourth.run],
  ]);
});

test("the pin follows the runs that take the places of the pinned and the latest", async (t) => {
  const { out, night, runs, standing } = await world(t);
  await night(SMALL);
  await runs("rollback", "1", "--pin");
  await night(SMALL);
  const { error } = await outcome(replayCommand, ["1", "--yes", "--warehouse", out]);
  assert.equal(error, undefined);
  assert.deepEqual(await standing(), [
    [4, false, true],
    [3, true, false],
  ]);
  assert.equal((await night(SMALL)).previousRun?.slice(0, 6), "000004");
  assert.match(await runs("unpin"), /^current is now 000005-/);
});

test("loaders of one's own get no night while a run is pinned, and a warning says so", async (t) => {
  const said: string[] = [];
  tell(t, {
    stage: async () => ({
      commit: async () => void said.push("commit"),
      abort: async () => void said.push("abort"),
    }),
  });
  const { service, out, runs } = await world(t);
  const pipelineUrl = new URL("./loading-pipeline.ts", import.meta.url).href;
  const night = () => exportFrom({ url: service.url, out, pipelineUrl });
  await night();
  await runs("rollback", "current", "--pin");
  const committed = said.splice(0).length;
  const { warnings } = await night();
  assert.deepEqual(
    said,
    Array.from({ length: committed }, () => "abort"),
  );
  assert.match(
    warnings.join(),
    /^Nothing is delivered to .*: an earlier run is pinned, and the first run after /,
  );
});
