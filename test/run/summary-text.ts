import { type Given, placed } from "../../src/cli/suggested.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { summaryAnswer } from "../../src/run/summary-answer.ts";
import { answerText, type Screen } from "../../src/show/answer.ts";

/** What a run prints at its end. */
export function summaryText(
  summary: RunSummary,
  { given = summary, ...screen }: Partial<Screen> & { readonly given?: Pick<Given, "warehouse"> } = {},
): string {
  const answer = placed(summaryAnswer(summary), given);
  return answerText(answer, { width: undefined, isColoured: false, ...screen });
}
