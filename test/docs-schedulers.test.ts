import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { EXIT_CODES } from "../src/cli/exit-codes.ts";
import { packagePath } from "../src/common/package-root.ts";
import { VERSION } from "../src/common/version.ts";
import { afterExit } from "../src/fleet/outcome.ts";

const PAGE = packagePath("docs/operations.md");
/** Exit codes after which a run is started again, and those after which it is not; the others are of signals. */
function codesOf(outcome: "retry" | "not"): number[] {
  return EXIT_CODES.map(([code]) => code).filter(
    (code) => code !== 0 && code < 128 && (afterExit(code) === "retry") === (outcome === "retry"),
  );
}

test("cron, systemd and Kubernetes try again after the exit codes that may pass, and after no others", async () => {
  const page = await readFile(PAGE, "utf8");
  const codes = (pattern: RegExp) =>
    pattern
      .exec(page)?.[1]
      ?.split(/[^0-9]+/)
      .map(Number);
  assert.deepEqual(codes(/case \$code in ([\d|]+)\) sleep/), codesOf("retry"));
  assert.deepEqual(codes(/RestartPreventExitStatus=([\d ]+)$/m), codesOf("not"));
  assert.deepEqual(codes(/operator: In, values: \[([\d, ]+)\]/), codesOf("not"));
  assert.ok(page.includes(`image: content-warehouse:${VERSION}\n`));
});

test("every scheduler on the page runs the same command at two", async () => {
  const page = await readFile(PAGE, "utf8");
  const [, section = ""] = page.split("\n## Every night\n");
  const blocks = [...(section.split("\n## ")[0] ?? "").matchAll(/```(\w*)\n([\s\S]*?)```/g)];
  const schedules = blocks.map(([, , text = ""]) => text).filter((text) => text.includes("--config"));
  assert.equal(schedules.length, 6);
  for (const text of schedules) {
    const words = text.replace(/["',[\]]/g, " ").replace(/\s+/g, " ");
    assert.match(
      words,
      /run nightly --config (?:CONFIG|\/(?:srv\/content-warehouse|config)\/content-warehouse\.config\.mjs)/,
    );
  }
  assert.equal(page.match(/0 2 \* \* \*|02:00/g)?.length, 6);
});
