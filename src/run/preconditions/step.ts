/** What a run needs before it begins, as steps: `run` takes them and stops at the first failure, `check` reports each. */
import { asWarehouseError } from "../../common/errors.ts";
import type { Log } from "../../common/log.ts";
import type { HttpClient } from "../../extract/http/client.ts";
import type { Probe } from "../../extract/probe.ts";
import type { PreviousHistory } from "../../load/history-previous.ts";
import type { Observers } from "../../observe/observers.ts";
import type { Pipeline } from "../../pipeline.ts";
import type { PersonalFields } from "../../raw/personal/fields.ts";
import type { GoesOnFrom, TargetState } from "../../targets/restore.ts";
import type { Baseline } from "../../warehouse/baseline.ts";
import type { Taken } from "../../warehouse/disk.ts";
import type { PreparedOutput } from "../../warehouse/layout.ts";
import type { RunOptions } from "../context.ts";
import type { ResumableRun } from "../resume.ts";
import type { OpenSource, Pace } from "../source.ts";
import type { CheckName, Finding } from "./finding.ts";

/** What is known without a configuration. */
export type Machine = Pick<
  RunOptions,
  "pipeline" | "clock" | "signal" | "threads" | "nodeVersion" | "freeBytes"
>;

/** What steps find out, for those after them and for the run. */
export interface Facts {
  readonly machine: Machine;
  readonly options: RunOptions;
  /** Of a run alone. */
  readonly observers: Observers;
  readonly pipeline: Pipeline;
  /** Absolute path of its folder. */
  readonly warehouse: string;
  readonly folder: PreparedOutput;
  /** In a check it was taken, and is free again. */
  readonly lock: AsyncDisposable;
  /** The current run as it was before a target's was restored. */
  readonly found: Baseline;
  readonly targets: readonly TargetState[];
  /** Another run than the latest of the folder; null: that one, as always in a run, which has restored the other. */
  readonly goesOnFrom: GoesOnFrom | null;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly fingerprint: string;
  /** The highest number that a target knows of any run: this one's is above. */
  readonly above: number;
  /** Null: there is none to go on from. */
  readonly resumable: ResumableRun | null;
  /** Name of an interrupted run that another program or other settings began. */
  readonly foreign: string | null;
  /** Bytes below the folder that a run clears away first. */
  readonly clearable: number;
  readonly taken: Taken;
  readonly baseline: Baseline;
  readonly past: PreviousHistory;
  /** Whether the address is one that the warehouse may have the content of. */
  readonly isKnownAddress: true;
  readonly source: OpenSource;
  /** Of a run alone. */
  readonly pace: Pace;
  readonly client: HttpClient;
  /** Of the service. Null in a run, which asks nothing for the sake of asking. */
  readonly answer: Probe | null;
  readonly personalFields: PersonalFields;
}

/** The facts that a step needs, and others as far as they are known. */
type Known<Need extends keyof Facts> = Pick<Facts, Need> & Partial<Facts>;

/** What a check alone finds out. */
export interface Learnt {
  readonly learnt: Partial<Facts>;
}

export interface Step<Need extends keyof Facts = keyof Facts, Met extends Partial<Facts> = Partial<Facts>> {
  /** What a check calls its failure. */
  readonly name: CheckName;
  /** What a check skips where a fact is missing that the step needs; the name unless given. */
  readonly tells?: readonly CheckName[];
  readonly needs: readonly Need[];
  /** For both: what it finds out. It throws what the run ends with, and leaves nothing then. */
  meet?(known: Known<Need>): Promise<Met>;
  /** What a run alone does next. */
  go?(known: Known<Need> & Met): Promise<Partial<Facts> | undefined>;
  /** What a check alone does next: it looks at what the run would meet later, and leaves all as it was. */
  look?(known: Known<Need> & Met): AsyncGenerator<Finding | Learnt>;
}

/** Infers what a step needs, and what it finds out. */
export function step<Need extends keyof Facts, Met extends Partial<Facts>>(each: Step<Need, Met>): Step {
  return each;
}

/** What the step needs is there; it looks at nothing else but what may be missing. */
export function knowsEnough(facts: Partial<Facts>, { needs }: Step): facts is Facts {
  return needs.every((need) => facts[need] !== undefined);
}

/** Takes the steps for a run, and notes what they find out in `facts`. Throws what the first throws that fails. */
export async function meetAll(steps: readonly Step[], facts: Partial<Facts>): Promise<Facts> {
  for (const each of steps) {
    if (!knowsEnough(facts, each)) throw new TypeError(`a step before "${each.name}" did not say all`);
    Object.assign(facts, await each.meet?.(facts));
    Object.assign(facts, await each.go?.(facts));
  }
  return facts as Facts;
}

/** Closes all that the steps have opened. What fails to close is told, and hides no other failure. */
export async function release({ client, source, lock }: Partial<Facts>, log: Log): Promise<void> {
  const closings = [
    () => client?.close(),
    () => source?.[Symbol.asyncDispose](),
    () => lock?.[Symbol.asyncDispose](),
  ];
  for (const close of closings) {
    try {
      await close();
    } catch (thrown) {
      log.warn(asWarehouseError(thrown).message);
    }
  }
}
