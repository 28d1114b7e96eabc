import assert from "node:assert/strict";
import { test } from "node:test";
import { fleetStatusText } from "../../../src/cli/commands/fleet.ts";
import type { InstanceStatus } from "../../../src/fleet/status.ts";
import { displayWidth } from "../../../src/show/terminal.ts";

const MESSAGE =
  "Not delivered to lake: The bucket reports answers 403 to this user; give it the right to put objects under the prefix nightly, and run again.";
const WELL: InstanceStatus = {
  instance: "north",
  published: {
    run: "000042-20261120T020000Z",
    verdict: "complete",
    endedMs: Date.UTC(2026, 10, 20, 2, 14),
  },
  failures: 0,
  exitCode: 0,
  message: null,
  lateSeconds: null,
  job: null,
};
const ILL: InstanceStatus = {
  ...WELL,
  instance: "south",
  failures: 3,
  exitCode: 26,
  message: `${MESSAGE}\u001b[2J`,
  lateSeconds: 7200,
  job: { state: "dead letter", fromMs: Date.UTC(2026, 10, 22, 2, 30) },
};

test("why an instance failed is told whole below the table, in lines that fit the terminal", () => {
  const lines = fleetStatusText([WELL, ILL], 80).trimEnd().split("\n");
  assert.deepEqual(
    lines.filter((line) => displayWidth(line) > 80),
    [],
  );
  const reason = lines.slice(lines.findIndex((line) => line.startsWith("south: ")));
  assert.ok(reason.length > 1, "it is wrapped");
  const told = reason.map((line) => line.slice("south: ".length)).join(" ");
  assert.ok(told.startsWith(MESSAGE) && !told.includes("\u001b"), told);
  assert.ok(!lines.some((line) => line.startsWith("north: ")));
  assert.match(lines.join("\n"), /│ south +│ +3 │ dead letter since 2026-11-22 02:30 │/);
});

test("a pipe gets each reason in a line", () => {
  const lines = fleetStatusText([ILL], undefined).trimEnd().split("\n");
  assert.ok(lines.at(-1)?.startsWith(`south: ${MESSAGE}`));
});
