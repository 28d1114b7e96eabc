import assert from "node:assert/strict";
import { test } from "node:test";
import { afterExit, outcomeOf, serviceAfter } from "../../src/fleet/outcome.ts";

test("only what may pass by itself is run again", () => {
  const codes = [0, 1, 2, 10, 20, 21, 22, 23, 24, 25, 26, 30, 31, 75, 130, 143, 200];
  const retried = codes.filter((code) => afterExit(code) === "retry");
  const done = codes.filter((code) => afterExit(code) === "done");
  assert.deepEqual({ retried, done }, { retried: [21, 26, 30, 75, 130, 143], done: [0, 10] });
});

test("a service is out where it did not answer, and not where the fleet's own database did not", () => {
  const found = [
    ["source.unavailable", 21],
    ["source.timeout", 21],
    ["queue.unavailable", 21],
    ["source.credentials", 20],
    ["config.invalid", 2],
  ].map(([code, exitCode]) => {
    const output = { code, message: "It failed." };
    const end = { exitCode: Number(exitCode), signal: null, output, lastLine: "", tookMb: null };
    return serviceAfter(outcomeOf(end, { memoryMb: 512 }));
  });
  assert.deepEqual(found, ["out", "out", "not asked", "there", "not asked"]);
});
