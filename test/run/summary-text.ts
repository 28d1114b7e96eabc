import type { RunSummary } from "../../src/observe/run-summary.ts";
import { summaryAnswer } from "../../src/run/summary-answer.ts";
import { answerText, type Screen } from "../../src/show/answer.ts";

/** What a run prints at its end. */
export function summaryText(
  summary: RunSummary,
  { cwd = "/", ...screen }: Partial<Screen> & { readonly cwd?: string } = {},
): string {
  return answerText(summaryAnswer(summary, cwd), { width: undefined, isColoured: false, ...screen });
}
