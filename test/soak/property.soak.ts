import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { suite, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";

interface Long {
  readonly title: string;
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Files of tests that run longer where they are told to. Each begins with other seeds each time, unless it says so. */
const LONG: readonly Long[] = [
  {
    title: "D11, D12, D13, D14: no run says complete wrongly, in 100000 further schedules",
    file: "test/property/certify.test.ts",
    env: { SCHEDULES: "100000" },
  },
  {
    title: "D11, D12, D13, D19: what a run says of a churning service is true, with 60 seeds",
    file: "test/extract/passes/churn.test.ts",
    env: { CHURN_SEEDS: "60" },
  },
];

suite("longer", { concurrency: true }, () => {
  for (const { title, file, env } of LONG) {
    test(title, async (t) => {
      const child = spawn(process.execPath, [packagePath(file)], {
        env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
        stdio: ["ignore", "pipe", "inherit"],
      });
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
      const [code] = await once(child, "close");
      assert.equal(code, 0, output);
      t.diagnostic(Object.entries(env).join(" "));
    });
  }
});
