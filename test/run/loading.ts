/** What the loaders of the loading pipeline do: said by the test, in the process of the run. */
import type { TestContext } from "node:test";
import type { LoadRun, StagedLoad } from "../../src/pipeline.ts";

export interface Hooks {
  stage(loader: string, run: LoadRun): Promise<StagedLoad>;
}

const KEY = Symbol.for("content-warehouse.test.loading");

export function hooks(): Hooks {
  const told = Reflect.get(globalThis, KEY);
  if (told === undefined) throw new TypeError("no test says what the loaders do");
  return told;
}

/** Until the test has ended. */
export function tell(t: TestContext, told: Hooks): void {
  Reflect.set(globalThis, KEY, told);
  t.after(() => Reflect.deleteProperty(globalThis, KEY));
}

/** Values that are easily lost on the way, by item and place; each now and then NULL. */
export function valuesOf(contentId: string, place: number) {
  const n = Number(contentId.slice(2)) * 500 + place;
  const odd = (nth: number) => n % nth === nth - 1;
  const instants = [-1, -1_000_001, 1, 4_102_444_800_123_456, -3_883_474_800_000_001, n * 1_000_003];
  return {
    t: odd(7) ? null : ["", "plain", "Ärger 🙂", "a\0b", `row ${n}`][n % 5],
    j: odd(11) ? null : JSON.stringify({ n, big: "12345678901234567890" }),
    b: odd(3) ? null : n % 2 === 0,
    i: odd(5) ? null : [0, -1, 2 ** 31 - 1, -(2 ** 31)][n % 4],
    l: odd(13) ? null : [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, BigInt(n)][n % 4],
    d: odd(17) ? null : [0.1, -1.5e300, 5e-324, n / 3][n % 4],
    at: odd(19) ? null : Math.trunc(instants[n % instants.length] ?? 0),
    day: odd(23) ? null : [-1, 0, -719_162, 20_000 + n][n % 4],
  } as const;
}
