/** The progress of a run, as a terminal and a file show it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDisplay } from "../../../src/cli/commands/run.ts";
import type { Progress, StageName } from "../../../src/common/progress.ts";
import { displayWidth } from "../../../src/show/terminal.ts";

function progress(
  stage: StageName,
  done: number,
  total: number | undefined,
  more: Partial<Progress> = {},
): Progress {
  return { stage, done, total, items: 0, bytes: 0, ...more };
}

/** A display and what it wrote since it was last asked; time passes as the test says. */
function displayed(columns: number | undefined) {
  let written = "";
  let nowMs = 0;
  const { onProgress, ...display } = createDisplay({
    write: (text) => {
      written += text;
    },
    report: (line) => {
      written += `${line}\n`;
    },
    columns: columns === undefined ? undefined : () => columns,
    elapsedMs: () => nowMs,
  });
  return {
    ...display,
    take: () => {
      const text = written;
      written = "";
      return text;
    },
    /** Hears of progress after that many milliseconds. */
    hear: (milliseconds: number, ...given: Parameters<typeof progress>) => {
      nowMs += milliseconds;
      onProgress(progress(...given));
    },
  };
}

type Heard = readonly [afterMs: number, ...Parameters<typeof progress>];

const CASES: Readonly<Record<string, readonly [heard: readonly Heard[], line: string]>> = {
  "a delivery is told in percent, since each target has its own units": [
    [[3000, "deliver", 5_041, 15_382]],
    "delivery: 32 %",
  ],
  "the time left follows from the rate that the service holds the run to": [
    [
      [0, "items", 1, 1000],
      [3000, "items", 300, 1000, { perSecond: 3.5 }],
    ],
    "single items: 300 of 1,000 items, 3 min 20 s left, held to 3.5 requests/s by the service",
  ],
  "without such a rate, from the time so far": [
    [
      [0, "items", 1, 1000],
      [6000, "items", 310, 1000, { perSecond: null }],
    ],
    "single items: 310 of 1,000 items, 13 s left",
  ],
  "a pass that begins anew has a time of its own": [
    [
      [0, "basic", 10, 10, { items: 1000 }],
      [10_000, "basic", 1, 10, { items: 100 }],
      [3000, "basic", 4, 10, { items: 400 }],
    ],
    "basic listing: 4 of 10 pages, 4.5 s left, 400 items",
  ],
  "an unknown total is not shown": [
    [[3000, "full", 3, undefined, { items: 300 }]],
    "full listing: 3 pages, 300 items",
  ],
};

for (const [what, [heard, line]] of Object.entries(CASES))
  test(what, () => {
    const { take, hear } = displayed(undefined);
    for (const each of heard) hear(...each);
    assert.equal(take().split("\n").at(-2), line);
  });

test("a file gets a line every three seconds, and nothing at the end", () => {
  const { take, hear, end } = displayed(undefined);
  hear(0, "lookups", 1, 2);
  hear(1000, "dynamic", 1, 12_000, { items: 100 });
  assert.equal(take(), "");
  hear(2000, "dynamic", 1000, 12_000, { items: 100_000 });
  const line = "1,000 of 12,000 pages, 22 s left, 100,000 items";
  assert.equal(take(), `dynamic listing: ${line}\n`);
  hear(2999, "items", 7, 33);
  end();
  assert.equal(take(), "");
});

test("on a terminal one line changes in place, ten times a second at most, and goes at the end", () => {
  const { take, hear, log, end } = displayed(80);
  const anew = "\r\u001b[K";
  hear(100, "items", 1, 1000);
  assert.equal(take(), `${anew}single items: 1 of 1,000 items`);
  hear(99, "items", 2, 1000);
  assert.equal(take(), "");
  hear(2901, "items", 300, 1000, { perSecond: 3.5 });
  const told = take();
  assert.match(told, /300 of 1,000 items, 3 min 20 s left/);
  const shown = told.slice(anew.length);
  assert.ok(displayWidth(shown) < 80 && shown.endsWith("…"), "a line as wide as the terminal would break");
  log("02:00:00 warn  Retrying.\n");
  assert.equal(take(), `${anew}02:00:00 warn  Retrying.\n${shown}`);
  end();
  assert.equal(take(), anew);
});
