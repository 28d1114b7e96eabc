import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/common/clock.ts";
import { WarehouseError } from "../../src/common/errors.ts";
import { type EndedRun, type Observer, ONLY_END } from "../../src/observe/observer.ts";
import { observersOf } from "../../src/observe/observers.ts";
import type { RunFailed } from "../../src/observe/outcome.ts";

const FAILURE = new WarehouseError("disk.io", "The disk refused a write (EIO); check the disk.");
const STAGE = { event: "stage begins", stage: "load", pass: null, atMs: 0 } as const;

const OBSERVED = { warehouse: "/srv/warehouse", clock: systemClock, outSince: "2026-11-20T02:00:00.000Z" };

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
  const warnings = await observersOf([hanging, witness(told)], OBSERVED, 20).failed(FAILURE, null);
  assert.deepEqual(warnings, [
    "`onFinish` failed: it took longer than 0.02 s; the run does not depend on it.",
  ]);
  assert.ok(aborted);
  assert.equal(told.length, 1);
});

test("one that throws at each event is one warning, and the others are told of all", async () => {
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
  const observers = observersOf([throwing, witness(told)], OBSERVED, 1000);
  observers.onEvent(STAGE);
  observers.onEvent(STAGE);
  const warnings = await observers.failed(FAILURE, null);
  assert.deepEqual(warnings, ["OpenTelemetry failed: no such thing; the run does not depend on it."]);
  const { code, message } = FAILURE;
  const outcome = { ok: false, code, message, exitCode: 30, outageSince: null, run: null, pipeline: null };
  assert.deepEqual(told, [STAGE, STAGE, { ...outcome, warehouse: "/srv/warehouse" }]);
});

test("an outage that was told is known as such, and no other failure", async () => {
  const told: unknown[] = [];
  const observers = observersOf([witness(told)], OBSERVED, 1000);
  await observers.failed(new WarehouseError("source.unavailable", "The service is out; try again."), null);
  await observers.failed(FAILURE, null);
  const since = told.map((outcome) => (outcome as RunFailed).outageSince);
  assert.deepEqual(since, [OBSERVED.outSince, null]);
});
