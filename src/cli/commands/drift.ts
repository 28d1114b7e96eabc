import { DRIFT_PARTS, driftQuestion } from "../../audit/questions/drift.ts";
import { type AnswerFlags, showAnswer } from "../answer-form.ts";
import { CliCommand, processEnvironment } from "../command.ts";
import { withAnswer } from "../with-run.ts";

interface Options extends AnswerFlags {
  readonly warehouse: string;
}

const EXAMPLES = `
Examples:
  $ content-warehouse drift
  $ content-warehouse drift 42 --warehouse /srv/warehouse
  $ content-warehouse drift --section outside-contract --format csv > outside.csv
  $ content-warehouse drift --format json | jq '.newFields[] | select(.before == 0).path'

RUN is a run's name, its number, or "current". It is compared with the run that
was current when it began. A count is of documents, of all passes together.
`;

export function driftCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("drift")
    .description("show new, vanished and changed fields since the run before")
    .argument("[run]", "name or number of a run, or current", "current")
    .warehouse()
    .answerForm(DRIFT_PARTS)
    .addHelpText("after", EXAMPLES)
    .action((run: string, { warehouse, ...form }: Options) =>
      withAnswer(warehouse, driftQuestion(run), (answer) => showAnswer(out, answer, form)),
    );
}
