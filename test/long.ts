/**
 * How much of a test is run: `npm test` runs the short form of the long ones, `npm run test:all`, which sets LONG=1,
 * all of each. Both assert the same; the short form does so of fewer seeds or cases.
 */

import { test } from "node:test";

const LONG = process.env.LONG === "1";

/** The first in the short form, the second in the long one: numbers of runs or items, pipelines, bodies. */
export function either<T>(short: T, long: T): T {
  return LONG ? long : short;
}

/** All cases in the long form; in the short one so many of them, spread evenly from the first to the last. */
export function few<T>(cases: readonly T[], short: number): readonly T[] {
  if (LONG || short >= cases.length) return cases;
  const step = short > 1 ? (cases.length - 1) / (short - 1) : 0;
  return cases.filter((_, index) =>
    Array.from({ length: short }, (_, at) => Math.round(at * step)).includes(index),
  );
}

/**
 * A test that only the long form has: the short one shows the same in a smaller or more usual case, mostly by another
 * test of the file.
 */
export const long: typeof test = LONG ? test : ((() => {}) as never);
