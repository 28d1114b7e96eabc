/** What is claimed of an instance, in the order of its numbers, and what comes next. */
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import type { TargetRun } from "../../pipeline.ts";
import { sameRun } from "../../warehouse/identity.ts";
import type { Store } from "../store/store.ts";
import {
  type Claim,
  ENTRY,
  type Entry,
  isPast,
  isRemoval,
  type PastClaim,
  type Removal,
  runOf,
  shortened,
} from "./claim.ts";
import { changedByHand, claimKey, claimNumberOf, instanceFolder, jsonBytes, readJson } from "./keys.ts";

/** What is claimed of an instance since it was removed last. */
export interface History {
  /** Numbers of the keys of all claims, in order. */
  readonly numbers: readonly number[];
  /** The claim that was put last, finished or not; null: there is none. */
  readonly claim: Claim | null;
  /** The removal, where nothing was claimed after it; null: there is none. */
  readonly removal: Removal | null;
  /** Number of the removal; 0: the instance was never removed. */
  readonly since: number;
}

/** What comes next is numbered by these. */
type End = Pick<History, "claim" | "since">;

/** The highest number that was given, to a run or a removal; 0: none was. */
export function highestNumber({ claim, since }: End): number {
  return claim?.sequence ?? since;
}

/** The number that a run is delivered under: that of the last claim where it is of this run. */
export function numberAfter(end: End, run: TargetRun): number {
  const { claim } = end;
  if (claim !== null && sameRun(runOf(claim), run)) return claim.sequence;
  return Math.max(run.sequence, highestNumber(end) + 1);
}

/** Numbers of the keys of all claims and removals of an instance, in order. */
async function entryNumbers(store: Store, instance: string): Promise<readonly number[]> {
  const numbers: number[] = [];
  const folder = instanceFolder(instance);
  for await (const { key } of store.list(folder)) {
    // What others leave may stand between the claims. Digits come before letters: the copies of runs come after them.
    if (key > `${folder}:`) break;
    const number = claimNumberOf(key);
    if (number !== undefined) numbers.push(number);
  }
  return numbers.toSorted((a, b) => a - b);
}

export async function historyOf(store: Store, instance: string): Promise<History> {
  let before: number | undefined;
  for (;;) {
    const all = await entryNumbers(store, instance);
    const number = all.at(-1);
    if (number === undefined) return { numbers: [], claim: null, removal: null, since: 0 };
    const last = await readEntry(store, instance, number);
    if (last !== null && isRemoval(last))
      return { numbers: [], claim: null, removal: last, since: last.sequence };
    if (last !== null && !isPast(last)) {
      const { since } = last;
      return { numbers: all.filter((each) => each > since), claim: last, removal: null, since };
    }
    // A later one may have been put after the list, and this one been shortened or removed then.
    if (number === before) {
      const why = last === null ? "it is gone" : "the last claim has no tables";
      throw changedByHand(store, claimKey(instance, number), why);
    }
    before = number;
  }
}

/** The claim of a number that a run was delivered under, whatever its key; undefined: none was. */
export async function claimOf(
  store: Store,
  instance: string,
  sequence: number,
): Promise<Claim | PastClaim | undefined> {
  const { numbers } = await historyOf(store, instance);
  const number = numbers.findLast((each) => each <= sequence);
  const found = number === undefined ? null : await readClaim(store, instance, number);
  return found?.sequence === sequence ? found : undefined;
}

/**
 * The newest claim of a run that is looked for by its number; undefined: none keeps it. One that cannot be read, and is not
 * the last one, holds up no other.
 */
export async function claimOfRun(
  store: Store,
  instance: string,
  sequence: number,
  isWanted: (run: TargetRun) => boolean,
): Promise<Claim | undefined> {
  const numbers = (await historyOf(store, instance)).numbers.toReversed();
  for (const number of numbers) {
    const found = await readableClaim(store, instance, { number, isLast: number === numbers[0] });
    if (found !== undefined && !isPast(found) && isWanted(runOf(found))) return found;
    // Claims before it are of earlier numbers.
    if (number <= sequence) return undefined;
  }
  return undefined;
}

/** Undefined: it is gone, or cannot be read and is not the last one. */
export async function readableClaim(
  store: Store,
  instance: string,
  { number, isLast }: { readonly number: number; readonly isLast: boolean },
): Promise<Claim | PastClaim | undefined> {
  try {
    return (await readClaim(store, instance, number)) ?? undefined;
  } catch (thrown) {
    if (isLast || asWarehouseError(thrown).code !== "target.refused") throw thrown;
    return undefined;
  }
}

/** Null: it is gone, with its instance. Throws `target.refused` where it is not as it was put. */
export async function readClaim(
  store: Store,
  instance: string,
  number: number,
): Promise<Claim | PastClaim | null> {
  const found = await readEntry(store, instance, number);
  return found === null || isRemoval(found) ? null : found;
}

function readEntry(store: Store, instance: string, number: number): Promise<Entry | null> {
  return readJson(store, claimKey(instance, number), ENTRY);
}

/**
 * Puts a claim or a removal after the last one; false: another attempt was first. Throws `target.unavailable` where that one
 * is not listed: whoever looks for the last claim would not find it.
 */
export async function putClaim(store: Store, made: Claim | Removal, end: End): Promise<boolean> {
  const { instance, attempt } = made;
  const number = highestNumber(end) + 1;
  const key = claimKey(instance, number);
  const isPut = await store.putNew(key, jsonBytes(made));
  // The answer to an earlier try may have been lost.
  if (isPut || (await readEntry(store, instance, number))?.attempt === attempt) {
    if ((await historyOf(store, instance)).since <= number) return true;
    // The key was taken, until the instance was removed.
    await store.remove([key]);
    return false;
  }
  if ((await entryNumbers(store, instance)).some((each) => each >= number)) return false;
  throw new WarehouseError(
    "target.unavailable",
    `${store.address} has ${key} and does not list it; wait until it does, and try again.`,
  );
}

/** Notes that a removal is done. */
export async function endRemoval(store: Store, made: Removal): Promise<void> {
  const ended: Removal = { ...made, removal: "ended", tables: [] };
  await store.put(claimKey(made.instance, made.sequence), jsonBytes(ended));
}

/** Removes from an old claim what only a restore needs. */
export async function shortenClaim(store: Store, number: number, old: Claim): Promise<void> {
  await store.put(claimKey(old.instance, number), jsonBytes(shortened(old)));
}
