import assert from "node:assert/strict";
import { test } from "node:test";
import { fleetAnswer, fleetFigures, fleetMetrics, type InstanceStatus } from "../../../src/fleet/status.ts";
import { answerText } from "../../../src/show/answer.ts";
import { displayWidth } from "../../../src/show/terminal.ts";

const MESSAGE =
  "Not delivered to lake: The bucket reports answers 403 to this user; give it the right to put objects under the prefix nightly, and run again.";
const WELL: InstanceStatus = {
  instance: "north",
  run: "000042-20261120T020000Z",
  verdict: "complete",
  ended: new Date(Date.UTC(2026, 10, 20, 2, 14)),
  failures: 0,
  exit_code: 0,
  message: null,
  late: null,
  job: null,
  job_since: null,
};
const ILL: InstanceStatus = {
  ...WELL,
  instance: "south",
  failures: 3,
  exit_code: 26,
  message: `${MESSAGE}\u001b[2J`,
  late: 7_200_000,
  job: "dead letter",
  job_since: new Date(Date.UTC(2026, 10, 22, 2, 30)),
};
const WAITING: InstanceStatus = {
  ...WELL,
  instance: "east",
  job: "waiting",
  job_since: new Date(Date.UTC(2026, 10, 22, 2, 31)),
};
const NOW_MS = Date.UTC(2026, 10, 22, 2, 32);

test("why an instance failed is told whole below the table, in lines that fit the terminal", () => {
  const text = answerText(fleetAnswer([WELL, ILL], NOW_MS), { width: 80, isColoured: false });
  const lines = text.trimEnd().split("\n");
  assert.deepEqual(
    lines.filter((line) => displayWidth(line) > 80),
    [],
  );
  assert.equal(lines[0], "Look: of 2 instances 1 late, 1 with a dead letter.");
  const reason = lines.slice(lines.findIndex((line) => line.startsWith("  south ")));
  assert.ok(reason.length > 1, "it is wrapped");
  const told = reason.map((line) => line.trim().replace(/^south +/, "")).join(" ");
  assert.ok(told.startsWith(MESSAGE) && !told.includes("\u001b"), told);
  assert.ok(!lines.some((line) => line.startsWith("  north ")));
  assert.match(text, /│ south +│ dead letter +│ 2026-11-22 02:30 +│|│ +3 │ dead letter │ 2026-11-22 02:30 │/);
});

test("a pipe gets each reason in a line", () => {
  const text = answerText(fleetAnswer([ILL], NOW_MS), { width: undefined, isColoured: false });
  assert.ok(text.split("\n").some((line) => line.trim().startsWith(`south      ${MESSAGE}`)));
});

test("the figures of the queue are how many instances are so, and how long the oldest job waits", () => {
  const figures = fleetFigures([WELL, ILL, WAITING], NOW_MS);
  assert.deepEqual(figures, { waiting: 1, running: 0, dead: 1, late: 1, oldestSeconds: 60 });
  const lines = fleetMetrics(figures, NOW_MS)
    .split("\n")
    .filter((line) => !line.startsWith("#"));
  assert.deepEqual(lines, [
    `content_warehouse_fleet_timestamp_seconds{} ${NOW_MS / 1000}`,
    'content_warehouse_fleet_jobs{state="waiting"} 1',
    'content_warehouse_fleet_jobs{state="running"} 0',
    'content_warehouse_fleet_jobs{state="dead letter"} 1',
    "content_warehouse_fleet_late{} 1",
    "content_warehouse_fleet_oldest_seconds{} 60",
    "",
  ]);
  assert.equal(fleetAnswer([WELL, WAITING], NOW_MS).isWell, true);
});
