import assert from "node:assert/strict";
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import type { DriftLine } from "../../src/audit/questions/drift.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import type { PassRecord } from "../../src/raw/extract-record.ts";
import { takesColours } from "../../src/show/terminal.ts";
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
  mappedChanges: null,
  mappedValues: { mapped: 7_012, unmapped: 0, unknown: 0, empty: 0, destinations: [] },
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
  knownWarnings: 0,
  missingBefore: null,
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
    return { id: "d-1", name, reception, mapped: 2, unmapped, unknown: 1, empty: 0 };
  });
  return { ...COMPARED, mappedValues: { mapped: 4, unmapped: 3, unknown: 2, empty: 0, destinations } };
}

const NO_DRIFT = COMPLETE.drift ?? assert.fail();
const CHANGED = {
  changed: 474,
  items: 138,
  lost: 138,
  gained: 0,
  largest: [{ destination: "Web CMS", field: "market", lost: 138, cause: "its mapping was removed" }],
  receptions: [],
};

/** What is different about the run, and lines of its summary. */
const CASES: readonly (readonly [change: Partial<RunSummary>, ...lines: RegExp[]])[] = [
  [
    {},
    /^Complete: run 000042-20261120T020000Z of nightly, 1 min 23 s\n\n {2}Items {6}12,345\n/,
    /\n {2}Published {2}45\.6 MB, page: \/srv\/warehouse\/current\/report\.html\n/,
  ],
  [COMPARED, /Items +12,345; 3 new, 12 edited, 1 removed since run 41\n/, /Next +content-warehouse diff\n$/],
  [{ ...COMPARED, changes: { ...CHANGES, edited: null } }, /; 3 new, 1 removed since /],
  [
    { ...COMPARED, items: { ...COMPLETE.items, rejected: 2, loaded: 12_343 } },
    /Items +12,343 of 12,345, 2 rejected: see run_rejects; 3 new/,
  ],
  [
    // No destination that receives values lacks one.
    lacking(["Print", "unsupported", 2], ["Web", "receiving", -1]),
    /Missing +0 values\n/,
    /Next +content-warehouse diff\n/,
  ],
  [
    { ...lacking(["Web", "receiving", 2], ["Print", "ignored", 1]), missingBefore: 1 },
    /Missing +3 values \(2 unmapped, 1 unknown\); 1 before\n/,
    /Next +content-warehouse audit\n/,
  ],
  [
    lacking(["Print", "ignored", 1]),
    /Missing +no destination receives values: see `destinations` in the configuration\n/,
  ],
  [
    { ...COMPARED, mappedChanges: CHANGED },
    /Mapped +0 values: 138 lost, 0 gained; 474 items sent differently\n/,
    /Next +content-warehouse diff --values\n$/,
  ],
  [
    { ...COMPARED, mappedChanges: { ...CHANGED, receptions: [{ destination: "Print", receives: false }] } },
    /\n {2}Mapped +"Print" no longer receives values\n/,
  ],
  [
    {
      comparedWith: PREVIOUS,
      knownWarnings: 11,
      drift: {
        ...NO_DRIFT,
        newFields: [line("feeling", 6, 0), line("ai_summary", 4, 4), line("mood", 4, 4)],
        vanishedFields: [line("wordcount", 0, 480)],
      },
    },
    /\n {2}Fields +1 new: feeling; 1 vanished: wordcount\n {2}Known +11 warnings, drift in 2 fields: see `runs show`\n/,
    /Next +content-warehouse runs show --section drift\n/,
  ],
  [
    // What a first run finds is not new.
    { drift: { ...NO_DRIFT, newFields: "abcde".split("").map((path) => line(path, 1, null)) } },
    /Fields +5 new: a, b and 3 more/,
    /Next +content-warehouse sql /,
  ],
  [
    { ...COMPARED, unchanged: { files: 3, bytes: 500_000 } },
    /Published +45\.6 MB \(0\.5 MB shared with run 41\), page: /,
  ],
  [
    { verdict: "limited", warehouse: resolve("first-look") },
    /^ {2}Next +content-warehouse sql "FROM content LIMIT 5"$/m,
  ],
];

test("what is different about a run has its line, and the next command shows why", () => {
  for (const [change, ...lines] of CASES)
    for (const each of lines) assert.match(summaryText({ ...COMPLETE, ...change }), each);
});

test("colours are for a terminal that takes them, unless they are refused", () => {
  const takes = (env: Readonly<Record<string, string>>, isTTY: boolean) =>
    takesColours({ env, out: Object.assign(new PassThrough(), { isTTY }) });
  assert.equal(takes({}, true), true);
  assert.equal(takes({ NO_COLOR: "1" }, true), false);
  assert.equal(takes({ TERM: "dumb" }, true), false);
  assert.equal(takes({}, false), false);
});

test("an unsettled run says so first, with what to look at", () => {
  const text = summaryText({
    ...COMPLETE,
    verdict: "unsettled",
    reasons: ["2 items differ", "the full pass is not clean"],
    items: { ...COMPLETE.items, loaded: 12_341, rejected: 3, vanished: 1 },
    newWarnings: ['There is no destination "Site".'],
    milliseconds: 900,
  });
  assert.equal(
    text,
    `UNSETTLED, 2 things to look at: run 000042-20261120T020000Z of nightly, 0.9 s; run again later

  Look at    2 items differ; the full pass is not clean
  Look at    There is no destination "Site".
  Items      12,341 of 12,345, 3 rejected: see run_rejects, 1 vanished
  Mapped     0 values
  Missing    0 values
  Published  45.6 MB, page: /srv/warehouse/current/report.html
  Next       content-warehouse runs show --section rejects
`,
  );
});

test("a summary has ten lines at 100 columns, however many and long the things to look at are", () => {
  const long = "a warning that is longer than a line of the summary has room for, and goes on and on ";
  for (const newWarnings of [[long.repeat(9)], [long.repeat(2), long, long], Array(30).fill("short")]) {
    const drift = { ...NO_DRIFT, newFields: [line("feeling", 6, 0)] };
    const mappedChanges = { ...CHANGED, receptions: [{ destination: "Print", receives: false }] };
    const run = { ...COMPLETE, ...COMPARED, mappedChanges, drift, knownWarnings: 11, newWarnings };
    const text = summaryText(run, { width: 100 });
    assert.ok(text.split("\n").filter((line) => line !== "").length <= 10, text);
    assert.match(text, /\n {2}Look at {4}\S/);
  }
});

test("text of foreign origin steers no terminal and begins no line of its own", () => {
  const warning = "Named \u001b[2J\u202eevil\n  Items      none";
  const text = summaryText({ ...COMPLETE, newWarnings: [warning] });
  assert.match(text, /\n {2}Look at {4}Named \[2Jevil Items {6}none\n {2}Items /);
});
