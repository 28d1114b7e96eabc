import type { RunSummary } from "../../src/observe/run-summary.ts";
import { summaryAnswer } from "../../src/run/summary-answer.ts";
import { answerText } from "../../src/show/answer.ts";

/** What a run prints at its end. */
export function summaryText(
  summary: RunSummary,
  screen: Partial<Parameters<typeof answerText>[1]> = {},
): string {
  return answerText(
    summaryAnswer(summary, (words) => `content-warehouse ${words}`),
    { width: undefined, isColoured: false, ...screen },
  );
}
