import { explainQuestion } from "../../audit/questions/explain.ts";
import { exitCodeFor, noAnswer } from "../../common/errors.ts";
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
payload_as_of with "sql". Exit code 3: the run does not have the item. 31: the
published values differ from the raw document.
`;

export function explainCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("explain")
    .argument("<item>", "ID, slug or title of an item")
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
        await withAnswer(warehouse, explainQuestion({ item, ...request, steps }), async (answer) => {
          // CSV has nothing but a table.
          if (answer.isNothing === true && format === "csv") throw noAnswer(answer.lead);
          await showAnswer(environment, answer, { format, section, spreadsheet, limit });
          if (answer.isNothing === true) environment.endWith(exitCodeFor("answer.nothing"));
        });
      },
    );
}
