import assert from "node:assert/strict";
import { test } from "node:test";
import { summaryText } from "../../../src/cli/render/summary.ts";
import type { PassRecord } from "../../../src/extract/passes/pass-record.ts";
import type { RunSummary } from "../../../src/run/summary.ts";

function pass(number: number, mode: string, distinctItems: number): PassRecord {
  return {
    pass: number,
    mode,
    pages: 5,
    perPage: 100,
    pagesAnnounced: 5,
    rows: distinctItems,
    distinctItems,
    duplicates: 0,
    countBefore: distinctItems,
    countAfter: distinctItems,
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
  verdict: "complete",
  reasons: [],
  warehouse: "/srv/warehouse",
  directory: "/srv/warehouse/runs/000042-20261120T020000Z",
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
  resumed: null,
  bytesReceived: 123_456_789,
  bytesPublished: 45_600_000,
  drift: 0,
  removedRuns: [],
  warnings: [],
  noMappedValues: null,
  milliseconds: 83_400,
};

test("a complete run is seen at a glance", () => {
  assert.equal(
    summaryText(COMPLETE),
    `Complete: run 000042-20261120T020000Z of nightly, 1 min 23 s

  Items      12,345 listed, 12,345 loaded
  Evidence   two passes agree: dynamic 12,345 items, full 12,345 items; the service counts 12,345
  Rows       42,353 in 5 tables of data; most in content_tags 30,000, content 12,345, users 7
  Requests   260, 123.5 MB received
  Published  /srv/warehouse/runs/000042-20261120T020000Z (45.6 MB)
`,
  );
});

test("a run that the service held back says at what rate, and which setting bounds it", () => {
  const text = (refused: number, ratePerSecond: number | null = 4.8) =>
    summaryText({ ...COMPLETE, throttled: { ratePerSecond, refused } });
  assert.match(
    text(12),
    /\n {2}Throttled {2}held to about 4\.8 requests a second; the service refused 12 requests; the next run starts at that rate, and `ratePerSecond` sets an upper bound\n/,
  );
  assert.match(
    text(1, null),
    /the service refused 1 request for a while; `ratePerSecond` sets an upper bound\n/,
  );
  assert.match(text(0), /4\.8 requests a second, as in the run before; the service refused none; /);
  assert.doesNotMatch(summaryText(COMPLETE), /Throttled/);
});

test("of more than two passes, the last two are the ones that agree", () => {
  const passes = [...COMPLETE.passes, pass(3, "basic", 12_345)];
  assert.match(
    summaryText({ ...COMPLETE, passes }),
    /Evidence +the last two passes agree: dynamic .* basic /,
  );
});

test("an unsettled run says so first, and everything that is worth a look has a line", () => {
  const accounting = { ...COMPLETE.accounting, loaded: 12_341, rejected: 3, vanished: 1, complete: false };
  const text = summaryText({
    ...COMPLETE,
    verdict: "unsettled",
    reasons: ["2 items differ", "the full pass is not clean"],
    accounting,
    drift: 17,
    removedRuns: ["000034-20261112T020000Z", "000035-20261113T020000Z"],
    warnings: ['There is no destination "Site".'],
    milliseconds: 900,
  });
  assert.equal(
    text,
    `UNSETTLED: run 000042-20261120T020000Z of nightly, 0.9 s; published, but the passes do not agree, so run again

  Items      12,345 listed, 12,341 loaded, 3 rejected, 1 vanished
  Evidence   the passes do not agree: dynamic 12,345 items, full 12,345 items; the service counts 12,345
  Rows       42,353 in 5 tables of data; most in content_tags 30,000, content 12,345, users 7
  Requests   260, 123.5 MB received
  Published  /srv/warehouse/runs/000042-20261120T020000Z (45.6 MB)
  Unsettled  2 items differ
  Unsettled  the full pass is not clean
  Rejected   3 listed things: see run_rejects, with a row for each reading that failed
  Drift      17 kinds: see the table run_drift
  Removed    2 old runs
  Warning    There is no destination "Site".
`,
  );
});

test("a run that was resumed says what was there already", () => {
  const text = summaryText({ ...COMPLETE, resumed: { pages: 37, items: 1200 } });
  assert.match(text, /^ {2}Resumed {4}37 pages and 1,200 single items from before the run was ended early$/m);
  assert.match(
    summaryText({ ...COMPLETE, resumed: { pages: 1, items: 0 } }),
    /Resumed {4}1 page from before/,
  );
});

test("text of foreign origin steers no terminal and begins no line of its own", () => {
  const warning = "Named \u001b[2J\u202eevil\n  Items      none";
  const text = summaryText({ ...COMPLETE, warnings: [warning] });
  assert.match(text, /\n {2}Warning {4}Named \[2Jevil Items {6}none\n$/);
});
