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
import { FOUND } from "../warehouse/published.ts";
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
  found: {
    ...FOUND,
    passes: [pass(1, "dynamic", 12_345), pass(2, "full", 12_345)],
    requests: { count: 260, bytes: 123_456_789 },
  },
  instance: { id: null, origin: "https://example.org" },
  endedAt: "2026-11-20T02:01:02.500Z",
  loaders: ["duckdb", "parquet"],
  versions: { package: "0.1.0", duckdb: "1.5.6", node: "24.21.0" },
  peakBytes: 1,
  previousRun: null,
  warehouse: "/srv/warehouse",
  directory: "/srv/warehouse/runs/000042-20261120T020000Z",
  current: {
    run: "000042-20261120T020000Z",
    publishedAt: "2026-11-20T02:01:02.500Z",
  },
  items: {
    listed: 12_345,
    loaded: 12_345,
    rejected: 0,
    vanished: 0,
    unread: 0,
    listedLast: 12_345,
    counted: 12_345,
  },
  rows: { content: 12_345, users: 7, content_tags: 30_000, content_files: 0, campaigns: 1, run: 1 },
  resumed: null,
  bytesPublished: 45_600_000,
  filesPublished: 74,
  unchanged: null,
  comparedWith: null,
  changes: null,
  mappedValues: { mapped: 7_012, unmapped: 0, unknown: 0, destinations: [] },
  drift: {
    newFields: [],
    vanishedFields: [],
    changedTypes: [],
    outsideContract: [],
    contradictions: [],
    policyFields: 0,
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

const PREVIOUS = "000041-20261119T020000Z";

/** A line of the drift: of a run with a run before, or without one. */
function line(path: string, count: number, before: number | null): DriftLine {
  return { path, kind: "unknown_field", count, items: null, before, example: null, exampleContentId: null };
}

const CHANGES = { new: 3, edited: 12, removed: 1 };
const COMPARED = { comparedWith: PREVIOUS, changes: CHANGES };

/** Values of destinations: how many lack an entry at each; one at each is unknown. */
function lacking(...places: readonly (readonly [name: string | null, Reception, unmapped: number])[]) {
  const destinations = places.map(([name, reception, unmapped]) => {
    return { id: "d-1", name, reception, mapped: 2, unmapped, unknown: 1 };
  });
  return { ...COMPARED, mappedValues: { mapped: 4, unmapped: 3, unknown: 2, destinations } };
}

const NO_DRIFT = COMPLETE.drift ?? assert.fail();
const WARNED = ["a", "b", "c", "d"].map((name, place): Check => {
  return { name, verdict: "warning", figure: [2, 1, 3000, 1][place] ?? 0, expected: 0, detail: "" };
});

/** What is different about the run, and lines of its summary. */
const CASES: readonly (readonly [change: Partial<RunSummary>, ...lines: RegExp[]])[] = [
  [
    {},
    /^Complete: run 000042-20261120T020000Z of nightly, 1 min 23 s\n/,
    /Evidence +two passes agree: dynamic /,
  ],
  [
    COMPARED,
    /Items +12,345 listed, 12,345 loaded, 0 rejected; 3 new, 12 edited, 1 removed since 000041-20261119T020000Z\n/,
    /Next +content-warehouse diff\n$/,
  ],
  [{ ...COMPARED, changes: { ...CHANGES, edited: null } }, /; 3 new, 1 removed since /],
  [
    // No destination that receives values lacks one.
    lacking(["Print", "unsupported", 2], [null, "nameless", 1]),
    /Values +4 mapped, 5 without an external value \(3 unmapped, 2 unknown\): 0 at destinations that receive values\n/,
    /Next +content-warehouse diff\n/,
  ],
  [
    lacking(["Web", "receiving", 2], ["Print", "ignored", 1]),
    /: 3 at destinations that receive values\n/,
    /Next +content-warehouse audit\n/,
  ],
  [
    {
      comparedWith: PREVIOUS,
      drift: {
        ...NO_DRIFT,
        newFields: [line("feeling", 6, 0), line("ai_summary", 4, 4), line("mood", 4, 4)],
        vanishedFields: [line("wordcount", 0, 480)],
        policyFields: 1,
      },
    },
    /\n {2}Drift {6}1 new field: feeling\n {2}Drift {6}1 vanished field: wordcount\n {2}Drift {6}2 known before; "content-warehouse runs show --section drift" lists them\n/,
    /Next +content-warehouse runs show --section drift\n/,
  ],
  [
    // What a first run finds is not new.
    { drift: { ...NO_DRIFT, newFields: "abcdefg".split("").map((path) => line(path, 1, null)) } },
    /Drift +7 new fields: a, b, c, d, e and 2 more/,
    /Next +content-warehouse sql /,
  ],
  [
    { checks: { passed: 170, warnings: WARNED } },
    /Checks +170 passed, 4 warnings: a: 2, b: 1, c: 3,000 and 1 more\n/,
  ],
  [
    { found: { ...COMPLETE.found, throttled: { ratePerSecond: 4.8, refused: 12 } } },
    /\n {2}Throttled {2}limited to about 4\.8 requests a second; the service refused 12 requests; `ratePerSecond` sets an upper bound\n/,
  ],
  [
    { found: { ...COMPLETE.found, passes: [...COMPLETE.found.passes, pass(3, "basic", 12_345)] } },
    /Evidence +of 3 passes the last two agree: full 12,345 items, basic 12,345 items; /,
  ],
  [
    { verdict: "limited", warehouse: resolve("first-look") },
    /^ {2}Next +content-warehouse sql "FROM content LIMIT 5" --warehouse first-look$/m,
  ],
  [
    { found: { ...COMPLETE.found, singleItems: { requested: 220, reused: 9780 } } },
    /^ *Reused +9,780 unchanged single items; 220 requested$/m,
  ],
  [
    { resumed: { pages: 37, items: 1200 } },
    /^ {2}Resumed {4}37 pages and 1,200 single items from the interrupted run$/m,
  ],
];

test("what is different about a run has its line, and the next command shows why", () => {
  for (const [change, ...lines] of CASES)
    for (const each of lines) assert.match(summaryText({ ...COMPLETE, ...change }), each);
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

test("an unsettled run says so first, and everything that is worth a look has a line", () => {
  const items = { ...COMPLETE.items, loaded: 12_341, rejected: 3, vanished: 1 };
  const text = summaryText({
    ...COMPLETE,
    verdict: "unsettled",
    reasons: ["2 items differ", "the full pass is not clean"],
    items,
    removedRuns: ["000034-20261112T020000Z", "000035-20261113T020000Z"],
    warnings: ['There is no destination "Site".'],
    milliseconds: 900,
  });
  assert.equal(
    text,
    `UNSETTLED: run 000042-20261120T020000Z of nightly, 0.9 s; published, but not certified; run again later

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
