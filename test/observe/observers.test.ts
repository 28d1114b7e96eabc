import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/common/clock.ts";
import { WarehouseError } from "../../src/common/errors.ts";
import { type EndedRun, type Observer, ONLY_END } from "../../src/observe/observer.ts";
import { type Observed, observersOf } from "../../src/observe/observers.ts";
import { NOBODY, warningsIn } from "./observing.ts";

const FAILURE = new WarehouseError("disk.io", "The disk refused a write (EIO); check the disk.");
const STAGE = { event: "stage begins", stage: "load", pass: null, atMs: 0 } as const;

function observed(warnings: string[]): Observed {
  return { settings: NOBODY, warehouse: "/srv/warehouse", clock: systemClock, log: warningsIn(warnings) };
}

/** Keeps what it is told. */
function witness(told: unknown[]): Observer {
  return {
    name: "witness",
    onEvent: (event) => told.push(event),
    onStart: async () => {},
    onEnd: async (ended: EndedRun) => {
      told.push(ended.outcome);
    },
  };
}

test("one that never ends is given up after its time, with its signal aborted, and a warning", async () => {
  const warnings: string[] = [];
  let aborted = false;
  const hanging: Observer = {
    ...ONLY_END,
    name: "`onFinish`",
    onEnd: (_ended, signal) =>
      new Promise(() => {
        signal.addEventListener("abort", () => {
          aborted = true;
        });
      }),
  };
  const told: unknown[] = [];
  await observersOf([hanging, witness(told)], observed(warnings), 20).failed(FAILURE);
  assert.deepEqual(warnings, [
    "`onFinish` failed: it took longer than 0.02 s; the run does not depend on it.",
  ]);
  assert.ok(aborted);
  assert.equal(told.length, 1);
});

test("one that throws at each event is one warning, and the others are told of all", async () => {
  const warnings: string[] = [];
  const told: unknown[] = [];
  const throwing: Observer = {
    name: "OpenTelemetry",
    onEvent: () => {
      throw new TypeError("no such thing");
    },
    onStart: async () => {
      throw new TypeError("no such thing");
    },
    onEnd: async () => {
      throw new TypeError("no such thing");
    },
  };
  const observers = observersOf([throwing, witness(told)], observed(warnings), 1000);
  observers.onEvent(STAGE);
  observers.onEvent(STAGE);
  await observers.failed(FAILURE);
  assert.deepEqual(warnings, ["OpenTelemetry failed: no such thing; the run does not depend on it."]);
  const { code, message } = FAILURE;
  const outcome = { ok: false, code, message, exitCode: 30, run: null, pipeline: null };
  assert.deepEqual(told, [STAGE, STAGE, { ...outcome, warehouse: "/srv/warehouse" }]);
});
