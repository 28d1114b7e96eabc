/** Delivers a published run to targets, one after another, and decides whether it may replace the last run of each. */
import { withGrace } from "../common/clock.ts";
import { type ErrorCode, WarehouseError } from "../common/errors.ts";
import { clauseOf, printable } from "../common/printable.ts";
import type { DeliveredRun, Target, TargetRun } from "../pipeline.ts";
import { isAmong, type RunStanding, runText, sameRun, standingOf } from "../warehouse/identity.ts";

/** Exit code of all `target.*`. */
const DELIVERY_EXIT_CODE = 26;

/** Result of the delivery of a run to one target. */
export interface Delivery {
  /** Name of the target. */
  readonly target: string;
  /** `present`: the target had the run already. */
  readonly state: "delivered" | "present" | "failed";
  readonly milliseconds: number;
  /** Sentences on what differs from the run in the target. */
  readonly warnings: readonly string[];
  /** Why the delivery failed; `null` if it did not. `message` is a sentence that says what to do. */
  readonly failure: { readonly code: ErrorCode; readonly message: string } | null;
}

/** Time that a target has to undo its work after the signal is aborted. */
const END_MS = 12_000;

/**
 * Delivers a run to each target. A failure is part of the result and does not affect other targets. Once the signal is
 * aborted, all deliveries that have not ended fail. `elapsedMs`: milliseconds since any fixed moment.
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
          signal.aborted ? interrupted(signal) : failed(targetError(target, thrown)),
        );
    deliveries.push({ target: target.name, ...outcome, milliseconds: Math.round(elapsedMs() - startMs) });
  }
  return deliveries;
}

type DeliveryOutcome = Omit<Delivery, "target" | "milliseconds">;

/** A failed delivery for each target, all for the same reason. */
export function failedDeliveries(targets: readonly Target[], thrown: unknown): readonly Delivery[] {
  return targets.map((target) => ({
    target: target.name,
    ...failed(targetError(target, thrown)),
    milliseconds: 0,
  }));
}

function failed({ code, message }: Pick<WarehouseError, "code" | "message">): DeliveryOutcome {
  return { state: "failed", warnings: [], failure: { code, message } };
}

function interrupted({ reason }: AbortSignal): DeliveryOutcome {
  const code = reason instanceof WarehouseError ? reason.code : "run.interrupted";
  return failed({ code, message: "The delivery was interrupted." });
}

async function deliverTo(target: Target, run: DeliveredRun): Promise<DeliveryOutcome> {
  const last = await target.last(run.instance, run.signal);
  if (last === null || !sameRun(last, run)) {
    const keepsRuns = target.restore !== undefined;
    assertMayFollow({ name: `The target ${target.name}`, keepsRuns }, last, run);
  } else if (last.isUnfinished !== true) return { state: "present", warnings: [], failure: null };
  const staged = await target.stage(run);
  try {
    await staged.commit();
  } catch (thrown) {
    // Report why the delivery failed rather than a failure of its cleanup; readers do not see what stays.
    await (async () => staged.abort())().catch(() => {});
    throw thrown;
  }
  return { state: "delivered", warnings: staged.warnings ?? [], failure: null };
}

/** Describes any failure of a target as `target.*` or `config.package`. A user's own target may throw anything. */
export function targetError({ name }: Target, thrown: unknown): WarehouseError {
  if (
    thrown instanceof WarehouseError &&
    (thrown.exitCode === DELIVERY_EXIT_CODE || thrown.code === "config.package")
  )
    return thrown;
  const message =
    thrown instanceof WarehouseError
      ? thrown.message
      : `The target ${printable(name)} failed: ${clauseOf(thrown)}; correct that, and try again.`;
  return new WarehouseError("target.refused", message, { cause: thrown });
}

/** Warnings with the names of their targets. */
export function deliveryWarnings(deliveries: readonly Delivery[]): readonly string[] {
  return deliveries.flatMap(({ target, warnings }) =>
    warnings.map((warning) => `${printable(target)}: ${warning}`),
  );
}

/**
 * Says why deliveries failed and what to do; `undefined` if none did. The code is that of the first failure, or of the signal
 * that ended the delivery. `command`: repeats the delivery; by default the run was delivered by itself. `state`: what has
 * become of the run otherwise.
 */
export function deliveryError(
  run: string,
  deliveries: readonly Delivery[],
  { command, state = "is published, but " }: { readonly command?: string; readonly state?: string } = {},
): WarehouseError | undefined {
  const failures = deliveries.flatMap(({ target, failure }) =>
    failure === null ? [] : [{ target, ...failure }],
  );
  const first = failures.find(({ code }) => !code.startsWith("target.")) ?? failures[0];
  if (first === undefined) return undefined;
  const reasons = failures
    .map(({ target, message }) => `to ${printable(target)}: ${message}`)
    .join(" Nor was it delivered ");
  const repeat =
    command === undefined
      ? '"content-warehouse deliver" repeats it, and the next run is delivered anyway.'
      : `"${command}" repeats it.`;
  // A fenced run would be refused again.
  const again = failures.every(({ code }) => code === "target.fenced") ? "" : ` ${repeat}`;
  return new WarehouseError(first.code, `The run ${run} ${state}was not delivered ${reasons}${again}`);
}

/**
 * Throws `target.fenced` if a run may not replace the last one: it must be proved that the run continues it, or that it was
 * rolled back here. Only a rollback takes a target back, and only from a run that its own warehouse knows. `name`: who has
 * the last run, as the subject of a sentence. `keepsRuns`: whether runs can be restored from there. If not, a run of another
 * history replaces the last one, because nothing can continue from that.
 */
export function assertMayFollow(
  { name, keepsRuns }: { readonly name: string; readonly keepsRuns: boolean },
  last: TargetRun | null,
  run: DeliveredRun,
): void {
  if (last === null) return;
  const standing = standingOf(last, run);
  if (standing === "same" || standing === "earlier") return;
  if (standing === "apart" && !keepsRuns) return;
  if (run.isRollback && isAmong(last, run.known)) return;
  const what = consequence(standing, last, run, keepsRuns);
  throw new WarehouseError("target.fenced", `${name} ${reason(standing, last)}, so ${runText(run)} ${what}.`);
}

function reason(standing: RunStanding, last: TargetRun): string {
  if (last.rollbackOf !== undefined && (standing === "undone" || standing === "apart"))
    return `was rolled back from ${runText(last.rollbackOf)} to ${runText(last)} of this instance`;
  if (standing === "other") return `has another ${runText(last)} of this instance, from another machine`;
  if (standing === "apart")
    return `has ${runText(last)} of this instance, which is not in the history that this warehouse can prove`;
  return `has the later ${runText(last)} of this instance`;
}

function consequence(standing: RunStanding, last: TargetRun, run: DeliveredRun, keepsRuns: boolean): string {
  const isKnown = isAmong(last, run.known);
  if (run.isRollback && !isKnown)
    return `cannot replace it, because that run is not in this warehouse; fetch it with "content-warehouse restore", or roll back on the machine that made it`;
  if (standing === "undone" || (standing === "later" && isKnown))
    return `can only be delivered by a rollback: "content-warehouse runs rollback ${run.sequence} --deliver"`;
  const giveUp =
    ', or, to give up the run of a lake, "content-warehouse lake remove INSTANCE" and then "content-warehouse deliver"';
  return `can no longer be delivered; run again, and the next run continues from it${keepsRuns ? giveUp : ""}`;
}
