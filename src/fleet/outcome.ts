/** What the end of a run means for its job: ours does what the documentation says to other schedulers. */
import { z } from "zod";
import { isOutage } from "../common/errors.ts";
import { isObject } from "../common/objects.ts";
import type { FleetInstance } from "./fleet.ts";
import type { RunEnd } from "./run-process.ts";

/** `done`: published. `retry`: again later, a few times. `stop`: not again; somebody has to look first. */
export type AfterExit = "done" | "retry" | "stop";

const AFTER: Readonly<Record<number, AfterExit>> = {
  0: "done",
  10: "done",
  21: "retry",
  26: "retry",
  30: "retry",
  75: "retry",
  130: "retry",
  143: "retry",
};

/** An exit code that nobody knows is no reason to try again. */
export function afterExit(code: number): AfterExit {
  return AFTER[code] ?? "stop";
}

/** A run that readers see. */
interface Published {
  readonly run: string;
  readonly verdict: string;
  readonly items: number | null;
}

export type Outcome =
  | ({ readonly after: "done"; readonly exitCode: number } & Published)
  | {
      readonly after: "retry" | "stop";
      readonly exitCode: number | null;
      /** Of the first failure; null: the run's process named none. */
      readonly code: string | null;
      readonly message: string;
      /** The run, where it was published and not delivered; else null. */
      readonly published: Published | null;
    };

/** What a run found of its service. Exit codes from 20 to 26 are of runs that have asked it, but for 21 of a database. */
export function serviceAfter(outcome: Outcome): "there" | "out" | "not asked" {
  if (outcome.after === "done") return "there";
  const { exitCode, code } = outcome;
  if (exitCode === UNAVAILABLE) return isOutage({ code: code ?? "", exitCode }) ? "out" : "not asked";
  return exitCode !== null && exitCode >= 20 && exitCode <= DELIVERY ? "there" : "not asked";
}

const UNAVAILABLE = 21;

export function outcomeOf(end: RunEnd, { memoryMb }: Pick<FleetInstance, "memoryMb">): Outcome {
  const { exitCode, signal, output, lastLine, tookMb } = end;
  if (tookMb !== null) {
    const took = Math.ceil(tookMb);
    const message = `The run took ${took} MB of memory, more than the ${memoryMb} MB that \`memoryMb\` allows; give it more.`;
    return { after: "stop", exitCode, code: null, message, published: null };
  }
  if (exitCode === null) {
    const why = lastLine === "" ? "" : `: ${lastLine}`;
    const message = `The run's process was ended by ${signal}${why}.`;
    return { after: "retry", exitCode, code: null, message, published: null };
  }
  const after = afterExit(exitCode);
  const run = publishedOf(output);
  if (after === "done" && run !== null) return { after, exitCode, ...run };
  const failures = failuresOf(output);
  const said = failures.length === 0 ? lastLine : failures.map(({ message }) => message).join(" ");
  const message = said === "" ? `The run ended with ${exitCode} and said nothing.` : said;
  const canPass = exitCode !== DELIVERY || failures.some(({ code }) => PASSING.has(code));
  return {
    after: after === "retry" && canPass ? "retry" : "stop",
    exitCode,
    code: failures[0]?.code ?? null,
    message,
    published: run,
  };
}

/** One exit code stands for all that may go wrong with a target; the code of the failure says whether it can pass. */
const DELIVERY = 26;
/** A target that has a later run takes the next one, which goes on from that. */
const PASSING: ReadonlySet<string> = new Set(["target.unavailable", "target.fenced"]);

const failed = z.object({ code: z.string(), message: z.string() });
const published = z.object({
  deliveries: z.array(z.object({ target: z.string(), failure: failed.nullable() })),
  loadFailure: failed.nullable(),
});

/** Of a run that failed, or of what did not take one that is published. */
function failuresOf(output: unknown): readonly z.infer<typeof failed>[] {
  const ended = failed.safeParse(output);
  if (ended.success) return [ended.data];
  const { deliveries = [], loadFailure = null } = published.safeParse(output).data ?? {};
  const undelivered = deliveries.flatMap(({ target, failure }) =>
    failure === null
      ? []
      : [{ code: failure.code, message: `Not delivered to ${target}: ${failure.message}` }],
  );
  return loadFailure === null ? undelivered : [loadFailure, ...undelivered];
}

/** Only what was published has a summary. */
function publishedOf(output: unknown): Published | null {
  if (!isObject(output) || typeof output.run !== "string") return null;
  const { run, verdict, accounting } = output;
  const isCounted = isObject(accounting) && typeof accounting.loaded === "number";
  return { run, verdict: String(verdict), items: isCounted ? Number(accounting.loaded) : null };
}
