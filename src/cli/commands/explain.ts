import { EXPLAINED, explainQuestion } from "../../audit/questions/explain-answer.ts";
import { type AnswerFlags, assertHasSection, showAnswer } from "../answer-form.ts";
import { CliCommand, invalid, processEnvironment } from "../command.ts";
import { withAnswer } from "../with-run.ts";

interface Options extends AnswerFlags {
  readonly warehouse: string;
  readonly destination?: string;
  readonly field?: string;
  readonly run?: string;
  readonly asOf?: string;
  readonly steps?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse explain why-your-tent-is-wet-inside-and-what-to-do-about-it
  $ content-warehouse explain 66d57e529df0deca35000000 --destination "Web CMS" --field audience --steps
  $ content-warehouse explain 66d57e529df0deca35000000 --as-of 2026-11-20T02:00:00Z --format json

ITEM is an item's ID or its slug. WHEN is the name or number of a run, or an instant, in UTC unless it names a zone:
2026-11-20T02:00:00Z, "2026-11-20 02:00", 2026-11-20T03:00+01:00; a day alone is its beginning.
Exit code 31: what was published is not what the rules of the mapping procedure give.
`;

const GONE_WITH_FILES =
  "is gone with the files of that run, of which the history has payloads and values alone; leave --section out, or name a run that is kept";

export function explainCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("explain")
    .description("explain the external values of an item, step by step")
    .argument("<item>", "ID or slug of an item")
    .warehouse()
    .option("--destination <name>", "only this destination, by name, name:platform or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--run <run>", "name or number of a run (default: current)")
    .option(
      "--as-of <when>",
      "a run, or an instant: the last run that had started by then; where its files are gone, the history is asked",
    )
    .option("--steps", "tell the rules too, one by one, and where each thing was read")
    .answerForm(EXPLAINED)
    .addHelpText("after", EXAMPLES)
    .action(async (item: string, { warehouse, format, section, spreadsheet, ...request }: Options) => {
      if (request.run !== undefined && request.asOf !== undefined) {
        throw invalid("--run and --as-of both say which run is meant; give one of them.");
      }
      const steps = request.steps === true || section === "steps" || section === "evidence";
      await withAnswer(warehouse, explainQuestion({ item, ...request, steps }), (answer) => {
        assertHasSection(answer, { section }, GONE_WITH_FILES);
        return showAnswer(out, answer, { format, section, spreadsheet });
      });
    });
}
