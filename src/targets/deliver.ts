/** Delivering a published run to targets, one after another. */
import { withGrace } from "../common/clock.ts";
import { type ErrorCode, WarehouseError } from "../common/errors.ts";
import { clauseOf, printable } from "../common/printable.ts";
import type { DeliveredRun, Target } from "../pipeline.ts";
import { sameRun } from "../warehouse/identity.ts";
import { assertMayFollow } from "./fencing.ts";

/** Of all `target.*`. */
const DELIVERY_EXIT_CODE = 26;

/** What came of the delivery of a run to one target. */
export interface Delivery {
  /** Name of the target. */
  readonly target: string;
  /** `present`: it had the run already. */
  readonly state: "delivered" | "present" | "failed";
  readonly milliseconds: number;
  /** Sentences: what of the run the target does not have as it is. */
  readonly warnings: readonly string[];
  /** Why it failed; null: it did not. `message` is a sentence with the way out. */
  readonly failure: { readonly code: ErrorCode; readonly message: string } | null;
}

/** A target takes back what it wrote once its signal is aborted; for one that does not end then nobody waits. */
export const END_MS = 12_000;

/**
 * Delivers a run to each target. A failure at one target is part of its delivery and keeps the run from no other. When
 * the signal is aborted, each target that does not have the run yet has failed. `elapsedMs`: milliseconds from any fixed
 * moment.
 */
export async function deliver(
  targets: readonly Target[],
  run: DeliveredRun,
  { elapsedMs, signal }: { readonly elapsedMs: () => number; readonly signal: AbortSignal },
): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  for (const target of targets) {
    const startMs = elapsedMs();
    const outcome = signal.aborted
      ? interrupted(signal)
      : await withGrace(deliverTo(target, run), signal, END_MS).catch((thrown: unknown) =>
          signal.aborted ? interrupted(signal) : failed(target, thrown),
        );
    deliveries.push({ target: target.name, ...outcome, milliseconds: Math.round(elapsedMs() - startMs) });
  }
  return deliveries;
}

type Ended = Pick<Delivery, "state" | "warnings" | "failure">;

/** What a run could not be delivered to at all, for the same reason. */
export function failedDeliveries(targets: readonly Target[], thrown: unknown): readonly Delivery[] {
  return targets.map((target) => ({ target: target.name, ...failed(target, thrown), milliseconds: 0 }));
}

function failed(target: Target, thrown: unknown): Ended {
  const { code, message } = targetError(target, thrown);
  return { state: "failed", warnings: [], failure: { code, message } };
}

function interrupted({ reason }: AbortSignal): Ended {
  const code = reason instanceof WarehouseError ? reason.code : "run.interrupted";
  return { state: "failed", warnings: [], failure: { code, message: "The delivery was interrupted." } };
}

async function deliverTo(target: Target, run: DeliveredRun): Promise<Ended> {
  const last = await target.last(run.instance, run.signal);
  if (last !== null && sameRun(last, run)) {
    if (last.isUnfinished !== true) return { state: "present", warnings: [], failure: null };
  } else {
    const place = { name: `The target ${target.name}`, keepsRuns: target.restore !== undefined };
    assertMayFollow(place, last, run);
  }
  const staged = await target.stage(run);
  try {
    await staged.commit();
  } catch (thrown) {
    // A failure of that does not hide why the delivery failed; whatever it left, no reader looks there.
    await (async () => staged.abort())().catch(() => {});
    throw thrown;
  }
  return { state: "delivered", warnings: staged.warnings ?? [], failure: null };
}

/**
 * Whatever a target throws, as `target.*`: the run is published all the same. What one of the user's own throws need not
 * be a sentence.
 */
export function targetError({ name }: Target, thrown: unknown): WarehouseError {
  if (thrown instanceof WarehouseError) {
    if (thrown.exitCode === DELIVERY_EXIT_CODE) return thrown;
    return new WarehouseError("target.refused", thrown.message, { cause: thrown });
  }
  return new WarehouseError(
    "target.refused",
    `The target ${printable(name)} failed: ${clauseOf(thrown)}; correct that, and try again.`,
    { cause: thrown },
  );
}

/** With the name of the target, which may be one of several. */
export function deliveryWarnings(deliveries: readonly Delivery[]): readonly string[] {
  return deliveries.flatMap(({ target, warnings }) =>
    warnings.map((warning) => `${printable(target)}: ${warning}`),
  );
}

/** What else is to be said of a run that was not delivered, and what repeats its delivery. */
interface Undelivered {
  readonly but: string;
  readonly repeats: string;
}

const PUBLISHED: Undelivered = {
  but: "is published, but ",
  repeats: '"content-warehouse deliver" repeats it, and the next run delivers itself.',
};

/** Of a run that somebody had delivered by that command. */
export function repeatedBy(command: string, but = ""): Undelivered {
  return { but, repeats: `"${command}" repeats it.` };
}

/**
 * Why each failed, and what to do; undefined: all have the run. The code is that of the first, or of the signal that
 * ended the delivery.
 */
export function deliveryError(
  run: string,
  deliveries: readonly Delivery[],
  { but, repeats }: Undelivered = PUBLISHED,
): WarehouseError | undefined {
  const failures = deliveries.flatMap(({ target, failure }) =>
    failure === null ? [] : [{ target, ...failure }],
  );
  const first = failures.find(({ code }) => !code.startsWith("target.")) ?? failures[0];
  if (first === undefined) return undefined;
  const reasons = failures
    .map(({ target, message }) => `to ${printable(target)}: ${message}`)
    .join(" And not ");
  const isFenced = failures.every(({ code }) => code === "target.fenced");
  // Repeating it would be refused again.
  const again = isFenced ? "" : ` ${repeats}`;
  return new WarehouseError(first.code, `The run ${run} ${but}was not delivered ${reasons}${again}`);
}
