/** What observers write, byte by byte, without a run. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/common/clock.ts";
import { WarehouseError } from "../../src/common/errors.ts";
import { metricsFileObserver } from "../../src/observe/metrics-file.ts";
import { observeWith } from "../../src/observe/observers.ts";
import type { Observer, RunEnd, RunPublished } from "../../src/observe/outcome.ts";
import { temporaryFolder } from "../run/running.ts";

const { signal } = new AbortController();

const STARTED = { warehouse: "/srv/warehouse", startedMs: Date.UTC(2026, 10, 20, 2) };

test("metrics say that a run began before they say how it ended, and keep the others until then", async (t) => {
  const file = join(await temporaryFolder(t), "run.prom");
  const attempts = "content_warehouse_attempt_timestamp_seconds";
  await writeFile(file, `${attempts}{warehouse="/srv/warehouse"} 1\ncontent_warehouse_run_exit_code{} 10\n`);
  await metricsFileObserver(file, STARTED).onStart?.();
  assert.equal(
    await readFile(file, "utf8"),
    `# HELP ${attempts} When the last run began.\n# TYPE ${attempts} gauge\n` +
      `${attempts}{warehouse="/srv/warehouse"} 1795140000\ncontent_warehouse_run_exit_code{} 10\n`,
  );
});

test("metrics escape what would end a label or a line, and leave out those without a sample", async (t) => {
  const file = join(await temporaryFolder(t), "run.prom");
  const warehouse = 'C:\\x"\n';
  const items = { listed: 1, loaded: 1, rejected: 0, vanished: 0, unread: 0 };
  const current = { run: "1", publishedAt: null };
  const named = { warehouse, run: "1", pipeline: "small", current };
  const outcome = {
    ...named,
    ok: true,
    exitCode: 0,
    items,
    rows: {},
    bytesPublished: 7,
    mappedValues: null,
  };
  const observer = metricsFileObserver(file, { warehouse, startedMs: 0 });
  await observer.onEnd({ outcome: outcome as unknown as RunPublished, current, endedMs: 1500 }, signal);
  const text = await readFile(file, "utf8");
  const [help, type, duration] = text.split("\n").slice(9);
  assert.equal(help, "# HELP content_warehouse_run_duration_seconds Time that the last run took.");
  assert.equal(type, "# TYPE content_warehouse_run_duration_seconds gauge");
  assert.equal(duration, 'content_warehouse_run_duration_seconds{warehouse="C:\\\\x\\"\\n"} 1.5');
  assert.match(text, /^content_warehouse_published_bytes\{.*\} 7$/m);
  assert.ok(!text.includes("values_without_external_value"));
  const at = (reception: "receiving" | "ignored", unmapped: number, unknown: number) => {
    return { id: "d", name: null, reception, mapped: 1, unmapped, unknown, empty: unknown };
  };
  const destinations = [at("receiving", 3, 1), at("ignored", 4, 0), at("receiving", 2, 0)];
  const mappedValues = { mapped: 3, unmapped: 9, unknown: 1, empty: 1, destinations };
  const counted = { ...outcome, mappedValues } as unknown as RunPublished;
  await observer.onEnd({ outcome: counted, current, endedMs: 1500 }, signal);
  const samples = [
    ...(await readFile(file, "utf8")).matchAll(/values_without_external_value\{.*?",(.*)\} (\d+)$/gm),
  ];
  assert.deepEqual(
    samples.map(([, labels, value]) => `${labels} ${value}`),
    [
      'status="unmapped",reception="receiving" 5',
      'status="unknown_value",reception="receiving" 1',
      'status="empty",reception="receiving" 1',
      'status="unmapped",reception="ignored" 4',
      'status="unknown_value",reception="ignored" 0',
      'status="empty",reception="ignored" 0',
    ],
  );
});

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
