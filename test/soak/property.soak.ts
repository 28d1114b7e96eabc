import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { suite, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";
import { many } from "../long.ts";

interface Long {
  readonly title: string;
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

const SEED = process.env.PROPERTY_SEED === undefined ? {} : { PROPERTY_SEED: process.env.PROPERTY_SEED };
const SCHEDULES = many(10_000, 100_000);
const SEEDS = many(6, 60);
/** Files of tests that run longer where they are told to. Each begins with other seeds each time, but for `PROPERTY_SEED`. */
const LONG: readonly Long[] = [
  {
    title: `D11, D12, D13, D14: no run says complete wrongly, in ${SCHEDULES} further schedules`,
    file: "test/property/certify.test.ts",
    env: { SCHEDULES: String(SCHEDULES) },
  },
  {
    title: `D11, D12, D13, D19: what a run says of a churning service is true, with ${SEEDS} seeds`,
    file: "test/extract/passes/churn.test.ts",
    env: { CHURN_SEEDS: String(SEEDS) },
  },
];

suite("longer", { concurrency: true }, () => {
  for (const { title, file, env } of LONG) {
    test(title, async (t) => {
      const child = spawn(process.execPath, [packagePath(file)], {
        env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...SEED, ...env },
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
