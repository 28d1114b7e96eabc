import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import type { Target } from "../../src/pipeline.ts";
import { deliver, deliveryError, deliveryWarnings } from "../../src/targets/deliver.ts";
import { readDeliveredRun } from "../../src/targets/published-run.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { findRun } from "../../src/warehouse/retention.ts";
import { temporaryFolder } from "../folders.ts";
import { NEVER } from "../never.ts";
import { publish } from "../warehouse/published.ts";
import { memoryTarget } from "./memory-target.ts";

const out = await temporaryFolder({ after });
await publish(out);
const found = await findRun(outputFolder(out), "current");
const { run } = found;
const OPTIONS = { runs: [], temporaryDirectory: join(out, "tmp"), signal: NEVER, onProgress: () => {} };

/** Delivers the published run. */
async function to(targets: readonly Target[], signal = NEVER) {
  return deliver(targets, await readDeliveredRun(found, { ...OPTIONS, signal }), {
    elapsedMs: () => 0,
    signal,
  });
}

const states = (deliveries: Awaited<ReturnType<typeof deliver>>) =>
  deliveries.map(({ target, state, failure }) => [target, state, failure?.code ?? null]);

test("a run is delivered once, whoever tells it again", async () => {
  const target = memoryTarget();
  assert.deepEqual(states(await to([target])), [["memory", "delivered", null]]);
  assert.deepEqual(states(await to([target])), [["memory", "present", null]]);
  assert.deepEqual(target.seen, [{ run, sequence: 1, rows: { content: 3, content_tags: 3 } }]);
  assert.deepEqual(target.calls, ["last", "stage", "commit", "last"]);
});

test("what a target does not have as it is in the run is told with its name", async () => {
  const [first, second] = [memoryTarget("first"), memoryTarget("second")];
  const stage: Target["stage"] = async (run) => ({
    ...(await second.stage(run)),
    warnings: ["No keys.", "No rows."],
  });
  const deliveries = await to([first, { ...second, stage }]);
  assert.deepEqual(
    deliveries.map(({ warnings }) => warnings),
    [[], ["No keys.", "No rows."]],
  );
  assert.deepEqual(deliveryWarnings(deliveries), ["second: No keys.", "second: No rows."]);
  assert.deepEqual(deliveryWarnings(await to([{ ...second, stage }])), []);
});

test("what goes wrong with one target is told, and keeps the run from no other", async () => {
  const [first, second, third] = [memoryTarget("first"), memoryTarget("second"), memoryTarget("third")];
  first.failures.set("last", new WarehouseError("target.unavailable", "Nobody answers; try again."));
  second.failures.set("commit", new Error("it broke"));
  const wrong = memoryTarget("wrong");
  wrong.failures.set("stage", new WarehouseError("config.invalid", "A package is missing; install it."));
  const deliveries = await to([first, second, third, wrong]);
  assert.deepEqual(states(deliveries), [
    ["first", "failed", "target.unavailable"],
    ["second", "failed", "target.refused"],
    ["third", "delivered", null],
    ["wrong", "failed", "target.refused"],
  ]);
  assert.deepEqual(second.calls, ["last", "stage", "commit", "abort"]);
  const error = deliveryError(run, deliveries);
  assert.deepEqual([error?.code, error?.exitCode], ["target.unavailable", 26]);
  assert.match(
    error?.message ?? "",
    /was not delivered to first: Nobody answers; try again\. Nor was it delivered to second: The target second failed: .* "content-/,
  );
  first.failures.clear();
  second.failures.clear();
  const again = await to([first, second, third]);
  assert.deepEqual(
    again.map(({ state }) => state),
    ["delivered", "delivered", "present"],
  );
  assert.equal(deliveryError(run, again), undefined);
});

test("a target keeps a run that is not before the delivered one", async () => {
  const target = memoryTarget();
  target.seen.push({ run: "000001-20261120T030000Z", sequence: 1, rows: {} });
  assert.deepEqual(states(await to([target])), [["memory", "failed", "target.fenced"]]);
  assert.deepEqual(target.calls, ["last"]);
});

test("a signal ends the delivery, whatever the target throws then, and is the reason even after a failure", async () => {
  const [broken, first, second] = [memoryTarget("broken"), memoryTarget("first"), memoryTarget("second")];
  broken.failures.set("last", new Error("it broke"));
  const controller = new AbortController();
  const stopping = {
    ...first,
    stage: async () => {
      controller.abort(new WarehouseError("run.terminated", "Terminated."));
      throw new Error("the connection was lost");
    },
  };
  const deliveries = await to([broken, stopping, second], controller.signal);
  assert.deepEqual(states(deliveries), [
    ["broken", "failed", "target.refused"],
    ["first", "failed", "run.terminated"],
    ["second", "failed", "run.terminated"],
  ]);
  assert.deepEqual(second.calls, []);
  assert.equal(deliveryError(run, deliveries)?.exitCode, 143);
});

test("a target that does not heed the signal is not waited for", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const controller = new AbortController();
  const deaf = {
    ...memoryTarget(),
    stage: () => {
      queueMicrotask(() => {
        controller.abort();
        t.mock.timers.tick(12_000);
      });
      return new Promise<never>(() => {});
    },
  };
  assert.deepEqual(states(await to([deaf], controller.signal)), [["memory", "failed", "run.interrupted"]]);
});

test("a run without Parquet files is refused with what to do", async () => {
  assert.ok(!(found.manifest instanceof Error));
  const without = { ...found, manifest: { ...found.manifest, loaders: ["duckdb" as const] } };
  const message = /has no Parquet files, .*add parquet\(\) to the loaders of the pipeline nightly/;
  await assert.rejects(readDeliveredRun(without, OPTIONS), { code: "config.invalid", message });
});
