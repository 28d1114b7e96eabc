import assert from "node:assert/strict";
import { test } from "node:test";
import { afterExit } from "../../src/fleet/outcome.ts";

test("only what may pass by itself is run again", () => {
  const codes = [0, 1, 2, 10, 20, 21, 22, 23, 24, 25, 26, 30, 31, 75, 130, 143, 200];
  const retried = codes.filter((code) => afterExit(code) === "retry");
  const done = codes.filter((code) => afterExit(code) === "done");
  assert.deepEqual({ retried, done }, { retried: [21, 26, 30, 75, 130, 143], done: [0, 10] });
});
