/**
 * How much of a test is run: `npm test` runs the short form of the long ones, `npm run test:all`, which sets LONG=1,
 * all of each. Both assert the same; the short form does so of fewer seeds or cases.
 */

import { test } from "node:test";

const LONG = process.env.LONG === "1";
/** CI takes a share of what is random or much alike, so that it fits into its time. */
const SHARE = Number(process.env.LONG_SHARE ?? 1);

/** The first in the short form, the second in the long one: numbers of runs or items, pipelines, bodies. */
export function either<T>(short: T, long: T): T {
  return LONG ? long : short;
}

/** How many random cases or kills: in the long form the second, or `LONG_SHARE` of it, and never fewer than the first. */
export function many(short: number, long: number): number {
  return either(short, Math.max(short, Math.round(long * SHARE)));
}

/** All cases in the long form; in the short one so many of them. */
export function few<T>(cases: readonly T[], short: number): readonly T[] {
  return spread(cases, either(short, cases.length));
}

/** Cases that are much alike, such as a kill at each operation: in the long form as `many` says. */
export function sweep<T>(cases: readonly T[], short: number): readonly T[] {
  return spread(cases, many(short, cases.length));
}

/** So many of them, spread evenly from the first to the last. */
function spread<T>(cases: readonly T[], count: number): readonly T[] {
  if (count >= cases.length) return cases;
  const step = count > 1 ? (cases.length - 1) / (count - 1) : 0;
  return cases.filter((_, index) =>
    Array.from({ length: count }, (_, at) => Math.round(at * step)).includes(index),
  );
}

/**
 * A test that only the long form has: the short one shows the same in a smaller or more usual case, mostly by another
 * test of the file.
 */
export const long: typeof test = LONG ? test : ((() => {}) as never);
