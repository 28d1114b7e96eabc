import assert from "node:assert/strict";
import { test } from "node:test";
import { countRepeatedLines } from "../../src/cli/repeated-lines.ts";
import { createLog, type Log } from "../../src/common/log.ts";

const START_MS = Date.UTC(2026, 10, 20, 2);

/** What stands in the log as `[seconds, message, count, attempt]`; `pass` lets seconds pass. */
function written(use: (log: Log, pass: (seconds: number) => void) => void): unknown[][] {
  let elapsedMs = 0;
  const lines: string[] = [];
  const clock = {
    now: () => START_MS + elapsedMs,
    elapsedMs: () => elapsedMs,
    sleep: () => Promise.reject(new Error("a log does not wait")),
  };
  const options = { level: "info", format: "json", secrets: [], clock } as const;
  {
    using log = countRepeatedLines(createLog({ ...options, write: (line) => void lines.push(line) }), clock);
    use(log, (seconds) => {
      elapsedMs += 1000 * seconds;
    });
  }
  return lines.map((line) => {
    const { time, msg, count, attempt } = JSON.parse(line);
    return [
      (Date.parse(time) - START_MS) / 1000,
      msg,
      ...(count ? [count] : []),
      ...(attempt ? [attempt] : []),
    ];
  });
}

test("a warning is written at once, and what comes again as one line with its number, every half minute", () => {
  const lines = written((log, pass) => {
    for (let attempt = 1; attempt <= 45; attempt += 1, pass(1)) log.warn("503.", { attempt });
  });
  assert.deepEqual(lines, [
    [0, "503.", 1],
    [30, "503. (30 times in the last 30 s)", 30, 31],
    [45, "503. (14 times in the last 15 s)", 14, 45],
  ]);
});

test("what is counted is written before another line, so that the log is in order", () => {
  const lines = written((log, pass) => {
    for (let times = 0; times < 4; times += 1, pass(2)) log.warn("503.");
    log.error("The run ends.");
  });
  assert.deepEqual(lines, [
    [0, "503."],
    [8, "503. (3 times in the last 8.0 s)", 3],
    [8, "The run ends."],
  ]);
});

test("causes that take turns have one line each, and one more for their numbers", () => {
  const lines = written((log, pass) => {
    for (let times = 0; times < 10; times += 1, pass(1)) {
      log.warn("503.");
      log.warn("Reset.");
    }
  });
  assert.deepEqual(lines, [
    [0, "503."],
    [0, "Reset."],
    [10, "503. (9 times in the last 10 s)", 9],
    [10, "Reset. (9 times in the last 10 s)", 9],
  ]);
});

test("what came once more is written as it came, and after half a minute of silence so is the first of a cause", () => {
  const lines = written((log, pass) => {
    log.warn("503.", { attempt: 2 });
    pass(5);
    log.warn("503.", { attempt: 3 });
    log.warn("Reset.");
    pass(40);
    log.warn("503.", { attempt: 4 });
  });
  assert.deepEqual(lines, [
    [0, "503.", 2],
    [5, "503.", 3],
    [5, "Reset."],
    [45, "503.", 4],
  ]);
});

test("lines of other instances, of another level, and what only informs are not taken for the same", () => {
  const lines = written((log) => {
    log.warn("Resuming.", { instance: "north" });
    log.warn("Resuming.", { instance: "south" });
    log.error("Resuming.", { instance: "south" });
    log.info("page read");
    log.info("page read");
  });
  assert.equal(lines.length, 5);
});
