import { explainQuestion } from "../../audit/questions/explain.ts";
import { type AnswerFlags, showAnswer } from "../../show/answer.ts";
import { CliCommand, processEnvironment } from "../command.ts";
import { withAnswer } from "../with-run.ts";

interface ExplainFlags extends AnswerFlags {
  readonly warehouse: string;
  readonly destination?: string;
  readonly field?: string;
  readonly run?: string;
  readonly steps?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse explain fellgate-mid
  $ content-warehouse explain fellgate-mid --field audience --steps

For runs that are no longer kept, use the macros mapped_values_as_of and
payload_as_of with "sql". Exit code 31: the published values differ from the raw
document.
`;

export function explainCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("explain")
    .description("explain the external values of an item, step by step")
    .argument("<item>", "ID or slug of an item")
    .warehouse()
    .option("--destination <name>", "only this destination: name, name:platform or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--run <run>", "name or number of a run (default: current)")
    .option("--steps", "also show each rule and its evidence")
    .answerForm(["payloads", "values", "without_mapping", "steps", "evidence"])
    .addHelpText("after", EXAMPLES)
    .action(
      async (item: string, { warehouse, format, section, spreadsheet, limit, ...request }: ExplainFlags) => {
        const steps = request.steps === true || section === "steps" || section === "evidence";
        await withAnswer(warehouse, explainQuestion({ item, ...request, steps }), (answer) =>
          showAnswer(out, answer, { format, section, spreadsheet, limit }),
        );
      },
    );
}
