import { evidenceFile } from "../../audit/questions/evidence-file.ts";
import { explainQuestion } from "../../audit/questions/explain.ts";
import { exitCodeFor, noAnswer } from "../../common/errors.ts";
import { type AnswerFlags, showAnswer } from "../../show/answer.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { CliCommand, processEnvironment } from "../command.ts";
import { openOutputFile } from "../user-file.ts";
import { withAnswer } from "../with-run.ts";

interface ExplainFlags extends AnswerFlags {
  readonly warehouse: string;
  readonly destination?: string;
  readonly field?: string;
  readonly run?: string;
  readonly steps?: true;
  readonly evidence?: string;
}

/** Documents are for the user alone. */
const EVIDENCE_MODE = 0o600;

const EXAMPLES = `
Examples:
  $ content-warehouse explain fellgate-mid
  $ content-warehouse explain fellgate-mid --field audience --steps
  $ content-warehouse explain fellgate-mid --evidence fellgate-mid.json

The file of --evidence has all destinations and fields, and the documents of the
item as the run kept them; docs/audit.md has a check that needs nothing else. It
replaces an existing file, once it is complete; only you can read it.

For runs that are no longer kept, use the macros mapped_values_as_of and
payload_as_of with "sql". Exit code 3: the run does not have the item, or with
--evidence its raw documents. 31: the published values differ from the raw
document.
`;

export function explainCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("explain")
    .argument("<item>", "ID, slug or title of an item")
    .warehouse()
    .option("--destination <name>", "only this destination: name, name:platform or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--run <run>", "name or number of a run (default: current)")
    .option("--steps", "also show each rule, and where its input was read")
    .option("--evidence <file>", "also write documents, definitions and steps as JSON (mode 0600)")
    .answerForm(["payloads", "values", "steps"])
    .addHelpText("after", EXAMPLES)
    .action(
      async (
        item: string,
        { warehouse, format, section, spreadsheet, limit, evidence, ...request }: ExplainFlags,
      ) => {
        const steps = request.steps === true || section === "steps";
        await using file =
          evidence === undefined
            ? undefined
            : await openOutputFile(evidence, "--evidence", outputFolder(warehouse), EVIDENCE_MODE);
        await withAnswer(warehouse, explainQuestion({ item, ...request, steps }), async (answer, opened) => {
          // CSV has nothing but a table.
          if (answer.isNothing === true && format === "csv") throw noAnswer(answer.lead);
          if (file !== undefined && answer.isNothing !== true) {
            const text = await evidenceFile(opened, item);
            environment.err.write(await file.write(text, `has the evidence of run ${opened.run}`));
          }
          await showAnswer(environment, answer, { format, section, spreadsheet, limit });
          if (answer.isNothing === true) environment.endWith(exitCodeFor("answer.nothing"));
        });
      },
    );
}
