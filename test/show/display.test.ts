import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Progress, StageName } from "../../src/common/progress.ts";
import { createDisplay } from "../../src/show/display.ts";
import { displayWidth } from "../../src/show/terminal.ts";

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
  let written: string[] = [];
  let nowMs = 0;
  const display = createDisplay({
    write: (text) => written.push(text),
    report: (line) => written.push(`${line}\n`),
    columns: columns === undefined ? undefined : () => columns,
    elapsedMs: () => nowMs,
  });
  const take = () => {
    const text = written.join("");
    written = [];
    return text;
  };
  const wait = (milliseconds: number) => {
    nowMs += milliseconds;
  };
  return { display, take, wait };
}

suite("where the output is no terminal", () => {
  test("a delivery is told in percent, since each target counts in units of its own", () => {
    const { display, take, wait } = displayed(undefined);
    wait(3000);
    display.onProgress(progress("deliver", 5_041, 15_382));
    assert.equal(take(), "delivery: 32 %\n");
  });

  test("single items that are asked for later count on", () => {
    const { display, take, wait } = displayed(undefined);
    for (const done of [199, 200]) display.onProgress(progress("items", done, 200));
    wait(3000);
    display.onProgress(progress("items", 1, 3));
    assert.equal(take(), "single items: 201 of 203 items\n");
  });

  test("a line comes every three seconds, with what was done, of how much, how fast, and how long it takes", () => {
    const { display, take, wait } = displayed(undefined);
    display.onProgress(progress("lookups", 1, 2));
    wait(1000);
    display.onProgress(progress("dynamic", 1, 12_000, { items: 100, bytes: 1e6 }));
    assert.equal(take(), "");
    wait(2000);
    display.onProgress(progress("dynamic", 1000, 12_000, { items: 100_000, bytes: 24.5e6 }));
    assert.equal(
      take(),
      "dynamic listing: 1,000 of 12,000 pages, 22 s left, 100,000 items, 50,000 items/s, 12.3 MB/s\n",
    );
    wait(2999);
    display.onProgress(progress("items", 7, 33));
    assert.equal(take(), "");
    wait(1);
    display.onProgress(progress("items", 8, 33));
    assert.equal(take(), "single items: 8 of 33 items\n");
    display.end();
    assert.equal(take(), "", "the end adds nothing");
  });

  test("the time that is left follows from the rate to which the service holds the run", () => {
    const { display, take, wait } = displayed(undefined);
    display.onProgress(progress("items", 1, 1000));
    wait(3000);
    display.onProgress(progress("items", 300, 1000, { perSecond: 3.5 }));
    assert.equal(
      take(),
      "single items: 300 of 1,000 items, 3 min 20 s left, held to 3.5 requests/s by the service\n",
    );
    wait(3000);
    display.onProgress(progress("items", 310, 1000, { perSecond: null }));
    assert.equal(take(), "single items: 310 of 1,000 items, 13 s left\n");
  });

  test("a pass that is made again has a rate of its own", () => {
    const { display, take, wait } = displayed(undefined);
    display.onProgress(progress("basic", 10, 10, { items: 1000 }));
    wait(10_000);
    display.onProgress(progress("basic", 1, 10, { items: 100 }));
    wait(3000);
    take();
    display.onProgress(progress("basic", 4, 10, { items: 400, bytes: 3e6 }));
    assert.equal(take(), "basic listing: 4 of 10 pages, 4.5 s left, 400 items, 133 items/s, 1.0 MB/s\n");
  });

  test("a total that is not known is not shown, nor a rate in the first second", () => {
    const { display, take, wait } = displayed(undefined);
    wait(3000);
    display.onProgress(progress("full", 3, undefined, { items: 300 }));
    assert.equal(take(), "full listing: 3 pages, 300 items\n");
  });
});

test("on a terminal one line changes in place, ten times a second at most, and goes at the end", () => {
  const { display, take, wait } = displayed(80);
  const anew = "\r\u001b[K";
  wait(100);
  display.onProgress(progress("items", 1, 1000));
  assert.equal(take(), `${anew}single items: 1 of 1,000 items`);
  wait(99);
  display.onProgress(progress("items", 2, 1000));
  assert.equal(take(), "");
  wait(2901);
  display.onProgress(progress("items", 300, 1000, { perSecond: 3.5 }));
  const told = take();
  assert.match(told, /300 of 1,000 items, 3 min 20 s left/);
  const shown = told.slice(anew.length);
  assert.ok(
    displayWidth(shown) < 80 && shown.endsWith("…"),
    "a line as wide as the terminal would be broken",
  );
  display.log("02:00:00 warn  Retrying.\n");
  assert.equal(take(), `${anew}02:00:00 warn  Retrying.\n${shown}`);
  display.end();
  assert.equal(take(), anew);
});
