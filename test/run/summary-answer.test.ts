import assert from "node:assert/strict";
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import type { Check } from "../../src/audit/checks/checks.ts";
import type { DriftLine } from "../../src/audit/questions/drift.ts";
import { takesColours } from "../../src/cli/commands/run.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import type { PassRecord } from "../../src/raw/extract-record.ts";
import type { Reception } from "../../src/warehouse/manifest.ts";
import { summaryText } from "./summary-text.ts";

function pass(number: number, mode: string, items: number): PassRecord {
  const counts = { rows: items, distinctItems: items, countBefore: items, countAfter: items, duplicates: 0 };
  const pages = { pages: 5, perPage: 100, pagesAnnounced: 5 };
  return {
    pass: number,
    mode,
    ...pages,
    ...counts,
    digest: "",
    clean: true,
    reason: null,
    startedMs: 0,
    endedMs: 1,
  };
}

const COMPLETE: RunSummary = {
  run: "000042-20261120T020000Z",
  sequence: 42,
  pipeline: "nightly",
  replayOf: null,
  verdict: "complete",
  reasons: [],
  modesDiffer: false,
  warehouse: "/srv/warehouse",
  directory: "/srv/warehouse/runs/000042-20261120T020000Z",
  current: {
    run: "000042-20261120T020000Z",
    publishedAt: "2026-11-20T02:01:02.500Z",
  },
  accounting: {
    listed: 12_345,
    loaded: 12_345,
    rejected: 0,
    vanished: 0,
    unread: 0,
    listedLast: 12_345,
    counted: 12_345,
    complete: true,
  },
  tables: [
    { name: "content", rows: 12_345 },
    { name: "users", rows: 7 },
    { name: "content_tags", rows: 30_000 },
    { name: "content_files", rows: 0 },
    { name: "campaigns", rows: 1 },
    { name: "run", rows: 1 },
  ],
  passes: [pass(1, "dynamic", 12_345), pass(2, "full", 12_345)],
  requests: 260,
  throttled: null,
  outages: null,
  reused: null,
  resumed: null,
  bytesReceived: 123_456_789,
  bytesPublished: 45_600_000,
  filesPublished: 74,
  unchanged: null,
  previousRun: null,
  changes: null,
  mappedValues: { mapped: 7_012, unmapped: 0, unknown: 0, destinations: [] },
  drift: {
    newFields: [],
    vanishedFields: [],
    changedTypes: [],
    outsideContract: [],
    contradictions: [],
    policy: [],
  },
  checks: { passed: 172, warnings: [] },
  report: "/srv/warehouse/runs/000042-20261120T020000Z/report.html",
  removedRuns: [],
  warnings: [],
  newWarnings: [],
  deliveries: [],
  loadFailure: null,
  noMappedValues: null,
  milliseconds: 83_400,
};

test("a complete run is seen at a glance", () => {
  assert.equal(
    summaryText(COMPLETE),
    `Complete: run 000042-20261120T020000Z of nightly, 1 min 23 s

  Items      12,345 listed, 12,345 loaded, 0 rejected
  Values     7,012 mapped, 0 without an external value
  Evidence   two passes agree: dynamic 12,345 items, full 12,345 items; the service counts 12,345
  Rows       42,353 in 5 tables of data; most in content_tags 30,000, content 12,345, users 7
  Requests   260, 123.5 MB received
  Published  /srv/warehouse/runs/000042-20261120T020000Z (45.6 MB)
  Report     /srv/warehouse/runs/000042-20261120T020000Z/report.html
  Checks     all 172 checks passed
  Next       content-warehouse sql "FROM content LIMIT 5"
`,
  );
});

const PREVIOUS = "000041-20261119T020000Z";

/** A line of the drift: of a run with a run before, or without one. */
function line(path: string, count: number, before: number | null): DriftLine {
  return { path, kind: "unknown_field", count, items: null, before, example: null, exampleContentId: null };
}

test("items and values are told against the run before, and the next command is the one that shows why", () => {
  const changes = { new: 3, edited: 12, removed: 1 };
  const compared = { ...COMPLETE, previousRun: PREVIOUS, changes };
  assert.match(
    summaryText(compared),
    /Items +12,345 listed, 12,345 loaded, 0 rejected; 3 new, 12 edited, 1 removed since 000041-20261119T020000Z\n/,
  );
  assert.match(summaryText(compared), /Next +content-warehouse diff\n$/);
  const undated = summaryText({ ...compared, changes: { ...changes, edited: null } });
  assert.match(undated, /; 3 new, 1 removed since /);
  const at = (name: string | null, reception: Reception, unmapped: number) => {
    return { id: "d-1", name, reception, mapped: 2, unmapped, unknown: 1 };
  };
  const lacking = (...destinations: ReturnType<typeof at>[]) =>
    summaryText({ ...compared, mappedValues: { mapped: 4, unmapped: 3, unknown: 2, destinations } });
  const apart = lacking(at("Print", "unsupported", 2), at(null, "nameless", 1));
  assert.match(
    apart,
    /Values +4 mapped, 5 without an external value \(3 unmapped, 2 unknown\): 0 at destinations that receive values\n/,
  );
  assert.match(apart, /Next +content-warehouse diff\n/, "no destination that receives values lacks one");
  const some = lacking(at("Web", "receiving", 2), at("Print", "ignored", 1));
  assert.match(some, /: 3 at destinations that receive values\n.*Next +content-warehouse audit\n/s);
  const all = lacking(at("Web", "receiving", 3));
  assert.match(all, /Values +4 mapped, 5 without an external value \(3 unmapped, 2 unknown\)\n/);
});

test("new and vanished fields are told by name, what was known before in one figure, the policy's work not at all", () => {
  const { drift } = COMPLETE;
  assert.ok(drift);
  const text = summaryText({
    ...COMPLETE,
    previousRun: PREVIOUS,
    drift: {
      ...drift,
      newFields: [line("feeling", 6, 0), line("ai_summary", 4, 4), line("mood", 4, 4)],
      vanishedFields: [line("wordcount", 0, 480)],
      policy: [line("owner.name", 900, 0)],
    },
  });
  assert.match(
    text,
    /\n {2}Drift {6}1 new field: feeling\n {2}Drift {6}1 vanished field: wordcount\n {2}Drift {6}2 known before; "content-warehouse runs show --section drift" lists them\n/,
  );
  assert.match(text, /Next +content-warehouse runs show --section drift\n/);
  const names = "abcdefg".split("").map((path) => line(path, 1, null));
  const first = summaryText({ ...COMPLETE, drift: { ...drift, newFields: names } });
  assert.match(first, /Drift +7 new fields: a, b, c, d, e and 2 more/);
  assert.match(first, /Next +content-warehouse sql /, "what a first run finds is not new");
  assert.doesNotMatch(summaryText(COMPLETE), /Drift/);
});

test("checks that warn are told, the first by name", () => {
  const check = (name: string, figure: number): Check => {
    return { name, verdict: "warning", figure, expected: 0, detail: "" };
  };
  const warnings = [check("a", 2), check("b", 1), check("c", 3000), check("d", 1)];
  const text = (count: number) =>
    summaryText({ ...COMPLETE, checks: { passed: 170, warnings: warnings.slice(0, count) } });
  assert.match(text(1), /Checks +170 passed, 1 warning: a: 2\n/);
  assert.match(
    text(4),
    /Checks +170 passed, 4 warnings: a: 2; b: 1; c: 3,000; and 1 more, in "content-warehouse runs show current"\n/,
  );
});

test("colours are for a terminal that takes them, unless they are refused", () => {
  const takes = (env: Readonly<Record<string, string>>, isTTY: boolean, color: boolean) =>
    takesColours({ env, out: Object.assign(new PassThrough(), { isTTY }) }, { color });
  assert.equal(takes({}, true, true), true);
  assert.equal(takes({ NO_COLOR: "1" }, true, true), false);
  assert.equal(takes({ TERM: "dumb" }, true, true), false);
  assert.equal(takes({}, true, false), false);
  assert.equal(takes({}, false, true), false);
});

test("what a run was held back by, reused and resumed has a line each, and which passes agree", () => {
  const { passes } = COMPLETE;
  const cases: readonly (readonly [Partial<RunSummary>, RegExp])[] = [
    [
      { throttled: { ratePerSecond: 4.8, refused: 12 } },
      /\n {2}Throttled {2}limited to about 4\.8 requests a second; the service refused 12 requests; `ratePerSecond` sets an upper bound\n/,
    ],
    [
      { throttled: { ratePerSecond: null, refused: 1 } },
      /Throttled +the service refused 1 request; `ratePerSecond` sets an upper bound\n/,
    ],
    [
      { passes: [...passes, pass(3, "basic", 12_345)] },
      /Evidence +of 3 passes the last two agree: full 12,345 items, basic 12,345 items; /,
    ],
    [
      { verdict: "limited", warehouse: resolve("first-look") },
      /^ {2}Next +content-warehouse sql "FROM content LIMIT 5" --warehouse first-look$/m,
    ],
    [{ reused: { reused: 9780, read: 220 } }, /^ *Reused +9,780 unchanged single items; 220 requested$/m],
    [
      { resumed: { pages: 37, items: 1200 } },
      /^ {2}Resumed {4}37 pages and 1,200 single items from the interrupted run$/m,
    ],
    [{ resumed: { pages: 1, items: 0 } }, /Resumed {4}1 page from the interrupted run/],
  ];
  for (const [change, line] of cases) assert.match(summaryText({ ...COMPLETE, ...change }), line);
});

test("an unsettled run says so first, and everything that is worth a look has a line", () => {
  const accounting = { ...COMPLETE.accounting, loaded: 12_341, rejected: 3, vanished: 1, complete: false };
  const text = summaryText({
    ...COMPLETE,
    verdict: "unsettled",
    reasons: ["2 items differ", "the full pass is not clean"],
    accounting,
    removedRuns: ["000034-20261112T020000Z", "000035-20261113T020000Z"],
    warnings: ['There is no destination "Site".'],
    milliseconds: 900,
  });
  assert.equal(
    text,
    `UNSETTLED: run 000042-20261120T020000Z of nightly, 0.9 s; published, but two passes do not agree; run again later

  Items      12,345 listed, 12,341 loaded, 3 rejected, 1 vanished
  Values     7,012 mapped, 0 without an external value
  Evidence   the answers do not agree: dynamic 12,345 items, full 12,345 items; the service counts 12,345
  Rows       42,353 in 5 tables of data; most in content_tags 30,000, content 12,345, users 7
  Requests   260, 123.5 MB received
  Published  /srv/warehouse/runs/000042-20261120T020000Z (45.6 MB)
  Report     /srv/warehouse/runs/000042-20261120T020000Z/report.html
  Unsettled  2 items differ
  Unsettled  the full pass is not clean
  Rejected   3 listed documents: see run_rejects, with a row for each reading that failed
  Checks     all 172 checks passed
  Removed    2 old runs
  Warning    There is no destination "Site".
  Next       content-warehouse runs show --section rejects
`,
  );
});

test("text of foreign origin steers no terminal and begins no line of its own", () => {
  const warning = "Named \u001b[2J\u202eevil\n  Items      none";
  const text = summaryText({ ...COMPLETE, warnings: [warning] });
  assert.match(text, /\n {2}Warning {4}Named \[2Jevil Items {6}none\n {2}Next /);
});
