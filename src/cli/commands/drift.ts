import { driftQuestion } from "../../audit/questions/drift.ts";
import { type AnswerFormat, show } from "../../show/answer.ts";
import { CliCommand, processEnvironment } from "../command.ts";
import { withAnswer } from "../with-run.ts";

interface Options {
  readonly warehouse: string;
  readonly format: AnswerFormat;
}

const EXAMPLES = `
Examples:
  $ content-warehouse drift
  $ content-warehouse drift 42 --warehouse /srv/warehouse
  $ content-warehouse drift --format json | jq '.newFields[] | select(.before == 0).path'

RUN is a run's name, its number, or "current". It is compared with the run that
was current when it began. A count is of documents, of all passes together.
`;

export function driftCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("drift")
    .description("show new, vanished and changed fields since the run before")
    .argument("[run]", "name or number of a run, or current", "current")
    .warehouse()
    .format("table", "json", "markdown")
    .addHelpText("after", EXAMPLES)
    .action((run: string, { warehouse, format }: Options) =>
      withAnswer(warehouse, driftQuestion(run), (answer) => show(out, answer, { format })),
    );
}
