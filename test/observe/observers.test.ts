import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/common/clock.ts";
import { WarehouseError } from "../../src/common/errors.ts";
import { observeWith } from "../../src/observe/observers.ts";
import type { Observer, RunEnd } from "../../src/observe/outcome.ts";

const FAILURE = new WarehouseError("disk.io", "A disk failed (EIO); check it.");

const OBSERVED = { warehouse: "/srv/warehouse", clock: systemClock };

/** Keeps what it is told. */
function witness(told: unknown[]): Observer {
  return {
    name: "witness",
    onEnd: async (ended: RunEnd) => {
      told.push(ended.outcome);
    },
  };
}

test("one that never ends is given up after its time, with its signal aborted, and a warning", async () => {
  let aborted = false;
  const hanging: Observer = {
    name: "`onFinish`",
    onEnd: (_ended, signal) =>
      new Promise(() => {
        signal.addEventListener("abort", () => {
          aborted = true;
        });
      }),
  };
  const told: unknown[] = [];
  const warnings = await observeWith([hanging, witness(told)], OBSERVED, 20).failed(FAILURE, null);
  assert.deepEqual(warnings, [
    "`onFinish` failed: it took longer than 0.02 s; the run does not depend on it.",
  ]);
  assert.ok(aborted);
  assert.equal(told.length, 1);
});

test("one that throws at the start and at the end is one warning, and the others are told of all", async () => {
  const told: unknown[] = [];
  const throwing: Observer = {
    name: "`metricsFile`",
    onStart: async () => {
      throw new TypeError("no such thing");
    },
    onEnd: async () => {
      throw new TypeError("no such thing");
    },
  };
  const observers = observeWith([throwing, witness(told)], OBSERVED, 1000);
  observers.started("1");
  const warnings = await observers.failed(FAILURE, null);
  assert.deepEqual(warnings, ["`metricsFile` failed: no such thing; the run does not depend on it."]);
  const { code, message } = FAILURE;
  const outcome = { ok: false, code, message, exitCode: 30, run: "1", pipeline: null };
  assert.deepEqual(told, [{ ...outcome, warehouse: "/srv/warehouse" }]);
});
