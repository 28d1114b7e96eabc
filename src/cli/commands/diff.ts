import { diffQuestion } from "../../audit/questions/diff-answer.ts";
import type { Answer } from "../../common/answer.ts";
import { ANSWER_FORMATS, type AnswerFormat, show } from "../../show/answer.ts";
import { CAUSES, type Cause } from "../../tables/history.ts";
import { CliCommand, positive, processEnvironment } from "../command.ts";
import { withAnswer } from "../with-run.ts";

interface Options {
  readonly warehouse: string;
  readonly cause?: Cause;
  readonly destination?: string;
  readonly field?: string;
  readonly items?: true;
  readonly limit?: number;
  readonly format: AnswerFormat;
  readonly spreadsheet?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse diff
  $ content-warehouse diff 41 42
  $ content-warehouse diff 000041-20261119T020000Z current --cause mapping_changed --destination "Web CMS" --items
  $ content-warehouse diff 30 current --format csv --items > changes.csv

A run is given by its name or number, also one whose files are gone, or as "current" or "previous". A line is one change
however many items it touches; --items lists those. "no payload change": the destination is sent the same, and the status, a
flag or a value that is not sent is another.
`;

export function diffCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("diff")
    .description("show which external values changed between two runs, and why")
    .argument("[run-a]", "the earlier run: its name or number, or previous", "previous")
    .argument("[run-b]", "the later run: its name or number, or current", "current")
    .warehouse()
    .choice("--cause <cause>", "only changes with this cause", CAUSES)
    .option("--destination <name>", "only this destination, by name or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--items", "list the items too")
    .option("--limit <n>", "rows of each list (default: 20 on a screen, else all)", positive)
    .format(...ANSWER_FORMATS)
    .spreadsheet()
    .addHelpText("after", EXAMPLES)
    .action((before: string, after: string, options: Options) =>
      withAnswer(options.warehouse, diffQuestion({ before, after, ...options }), (answer) =>
        show(out, wanted(answer, options), options),
      ),
    );
}

/** CSV has the changes, or with --items those of each item. */
function wanted(answer: Answer, { format, items }: Options): Answer {
  const key = items === true ? "items" : "lines";
  return format === "csv"
    ? { ...answer, sections: answer.sections.filter((each) => each.key === key) }
    : answer;
}
