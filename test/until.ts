import assert from "node:assert/strict";
import { setTimeout as delay, setImmediate } from "node:timers/promises";

interface Waiting {
  /** When it ends, what is waited for cannot come about any more. */
  readonly ended?: Promise<unknown>;
  /** 0: each time that the process has nothing else to do. */
  readonly everyMs?: number;
  readonly seconds?: number;
}

/** Looks again and again whether something has come about that nobody tells; fails where it does not within three minutes: a machine may be busy. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { ended, everyMs = 5, seconds = 180 }: Waiting = {},
): Promise<void> {
  const lastMs = performance.now() + seconds * 1000;
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  ended?.then(over, over);
  while (!(await isSo())) {
    assert.ok(!isOver, `it ended before: ${what}`);
    assert.ok(performance.now() < lastMs, `not within ${seconds} s: ${what}`);
    await (everyMs === 0 ? setImmediate() : delay(everyMs));
  }
}
