/** The questions of assistants, answered as JSON on standard output. */

import { diffQuestion } from "../../audit/diff/diff-answer.ts";
import type { Choice, Question } from "../../audit/open-run.ts";
import { coverageQuestion } from "../../audit/questions/coverage.ts";
import { explainQuestion } from "../../audit/questions/explain-answer.ts";
import { show } from "../../show/answer.ts";
import { withAnswer } from "../with-run.ts";
import type { AskedQuestion } from "./work.ts";

export function answerQuestion(asked: AskedQuestion): Promise<void> {
  const { warehouse } = asked;
  const answered = <C extends Choice>(question: Question<C>) =>
    withAnswer(warehouse, question, (answer) => show(process.stdout, answer, { format: "json" }));
  switch (asked.question) {
    case "explain":
      return answered(explainQuestion(asked.request));
    case "coverage":
      return answered(coverageQuestion(asked.request));
    case "diff":
      return answered(diffQuestion(asked.request));
  }
}
