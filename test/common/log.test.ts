import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../../src/common/clock.ts";
import { createLog, type LogFields, type LogLevel } from "../../src/common/log.ts";
import { Secret } from "../../src/common/secret.ts";

const AT_TWO: Clock = {
  now: () => Date.UTC(2026, 10, 20, 2),
  elapsedMs: () => 0,
  sleep: () => Promise.reject(new Error("a log does not wait")),
};

function logTo(lines: string[], format: "json" | "text" = "json", level: LogLevel = "debug") {
  const secrets = [new Secret("tok-1234")];
  return createLog({ level, format, secrets, clock: AT_TWO, write: (line) => lines.push(line) });
}

test("an event is one JSON object a line, with the time of the clock and no word of the machine", () => {
  const lines: string[] = [];
  logTo(lines).info("page read", { pages: 3, status: 200 });
  assert.equal(lines.length, 1);
  assert.equal(
    lines[0],
    '{"level":"info","time":"2026-11-20T02:00:00.000Z","pages":3,"status":200,"msg":"page read"}\n',
  );
});

test("S4: a secret is replaced in messages and fields", () => {
  for (const format of ["json", "text"] as const) {
    const lines: string[] = [];
    logTo(lines, format).warn("asked with tok-1234", { path: "/api/tok-1234" });
    assert.ok(!lines.join().includes("tok-1234"));
    assert.ok(lines.join().includes("[redacted]"));
  }
});

test("S5: fields that are not on the list are not written", () => {
  const lines: string[] = [];
  const fields = { pages: 1, headers: { authorization: "x" }, body: "jane@example.com" } as LogFields;
  logTo(lines).error("failed", fields);
  assert.deepEqual(Object.keys(JSON.parse(lines.join())), ["level", "time", "pages", "msg"]);
});

test("S19, S20: no text makes a second line or steers the terminal", () => {
  for (const format of ["json", "text"] as const) {
    const lines: string[] = [];
    logTo(lines, format).info('a\n{"level":"info"}\u001b]0;title\u0007\u202e\u009b31m', {
      file: "b\r\nc\u001b[2J",
    });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /^[^\n]*\n$/);
    assert.doesNotMatch((lines[0] ?? "").trimEnd(), /[\p{Cc}\p{Cf}]/u);
  }
});

test("the text form is for a person", () => {
  const lines: string[] = [];
  logTo(lines, "text").warn("the page came again", { pages: 3, status: 503 });
  assert.deepEqual(lines, ["02:00:00 warn  the page came again pages=3 status=503\n"]);
});

test("events below the level are not written", () => {
  const lines: string[] = [];
  const log = logTo(lines, "json", "warn");
  log.debug("a");
  log.info("b");
  log.warn("c");
  log.error("d");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ["c", "d"],
  );
});
