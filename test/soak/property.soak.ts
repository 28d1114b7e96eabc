import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { packagePath } from "../../src/package-root.ts";

const SCHEDULES = 100_000;

test(`D11, D12, D13, D14: no run says complete wrongly, in ${SCHEDULES} further schedules`, async (t) => {
  // A file of tests begins with another seed each time.
  const child = spawn(process.execPath, [packagePath("test/property/certify.test.ts")], {
    env: { PATH: process.env.PATH, SCHEDULES: String(SCHEDULES) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const [code] = await once(child, "close");
  assert.equal(code, 0, output);
  t.diagnostic(`${SCHEDULES} schedules`);
});
