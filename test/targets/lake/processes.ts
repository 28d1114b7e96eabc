/** Processes that work on one lake at once, in an order that is told. */

import type { Store } from "../../../src/targets/store/store.ts";
import fc from "../../properties.ts";
import { killedAt, watchedStore } from "./memory-store.ts";

/** What one process does, and when. Operations are counted from 0; moments are operations of all processes together. */
export interface Process<Does> {
  readonly does: Does;
  readonly begins: number;
  /** Stopped before this operation of its own, until a moment. */
  readonly stopsAt: number;
  readonly goesOn: number;
  /** Killed after this operation of its own. */
  readonly killedAt: number;
}

export const NEVER = 1_000_000;
const seldom = (arbitrary: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(NEVER) }, { weight: 1, arbitrary });

/** What is named more often is done more often. */
export function processes<Does>(...does: Does[]): fc.Arbitrary<Process<Does>[]> {
  return fc.array(
    fc.record({
      does: fc.constantFrom(...does),
      begins: fc.oneof(fc.constant(0), fc.nat(250)),
      stopsAt: fc.oneof(fc.constant(NEVER), fc.nat(90)),
      goesOn: fc.nat(400),
      killedAt: seldom(fc.nat(90)),
    }),
    { minLength: 2, maxLength: 5 },
  );
}

/** Runs them all, each on a store of its own; what each of them ended with, in their order. */
export async function atOnce<Does, End>(
  store: Store,
  started: readonly Process<Does>[],
  work: (store: Store, process: Process<Does>) => Promise<End>,
): Promise<End[]> {
  const moments = new Moments(started.length);
  return await Promise.all(
    started.map(async (each) => {
      await moments.until(each.begins);
      try {
        return await work(storeOf(store, each, moments), each);
      } finally {
        moments.end();
      }
    }),
  );
}

/** Counts the operations of all processes, and lets them go on at their moments; where all wait, the first one early. */
class Moments {
  #now = 0;
  #active: number;
  readonly #waiting: { readonly moment: number; readonly wake: () => void }[] = [];

  constructor(processes: number) {
    this.#active = processes;
  }

  tick(): void {
    this.#now++;
    this.#wake();
  }

  /** A process has ended. */
  end(): void {
    this.#active--;
    this.#wake();
  }

  async until(moment: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ moment, wake: resolve });
    this.#waiting.sort((a, b) => a.moment - b.moment);
    this.#active--;
    this.#wake();
    await promise;
  }

  #wake(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (first.moment > this.#now && this.#active > 0) return;
      this.#waiting.shift();
      this.#active++;
      first.wake();
    }
  }
}

/** The store as a process has it that begins, stops, goes on and is killed as it is told. */
function storeOf(store: Store, { stopsAt, goesOn, killedAt: at }: Process<unknown>, moments: Moments): Store {
  let next = 0;
  let stopped: Promise<void> | undefined;
  return watchedStore(killedAt(store, at, "after"), async () => {
    if (next++ === stopsAt) stopped = moments.until(goesOn);
    await stopped;
    moments.tick();
    return undefined;
  });
}
