/** What the end of a run means for its job. */
import { isObject } from "../common/objects.ts";
import { afterExit } from "./exit-policy.ts";
import type { FleetInstance } from "./fleet.ts";
import type { RunEnd } from "./run-process.ts";

export type Outcome =
  | {
      readonly after: "done";
      readonly exitCode: number;
      readonly run: string;
      readonly verdict: string;
      readonly items: number | null;
    }
  | { readonly after: "retry" | "stop"; readonly exitCode: number | null; readonly message: string };

export function outcomeOf(end: RunEnd, { memoryMb }: Pick<FleetInstance, "memoryMb">): Outcome {
  const { exitCode, signal, output, lastLine, tookMb } = end;
  if (tookMb !== null) {
    const took = Math.ceil(tookMb);
    const message = `The run took ${took} MB of memory, more than the ${memoryMb} MB that \`memoryMb\` allows; give it more.`;
    return { after: "stop", exitCode, message };
  }
  if (exitCode === null) {
    const why = lastLine === "" ? "" : `: ${lastLine}`;
    return { after: "retry", exitCode, message: `The run's process was ended by ${signal}${why}.` };
  }
  const after = afterExit(exitCode);
  if (after === "done" && isObject(output) && typeof output.run === "string")
    return { after, exitCode, run: output.run, verdict: String(output.verdict), items: itemsOf(output) };
  const said = isObject(output) && typeof output.message === "string" ? output.message : lastLine;
  const message = said === "" ? `The run ended with ${exitCode} and said nothing.` : said;
  // One exit code stands for all that may go wrong with a target; the error's own says whether it can pass.
  const code = isObject(output) ? output.code : undefined;
  const passes = after === "retry" && (exitCode !== 26 || code === "target.unavailable");
  return { after: passes ? "retry" : "stop", exitCode, message };
}

function itemsOf({ accounting }: Readonly<Record<string, unknown>>): number | null {
  return isObject(accounting) && typeof accounting.loaded === "number" ? accounting.loaded : null;
}
