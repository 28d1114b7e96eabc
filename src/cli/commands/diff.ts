import { Option } from "commander";
import { contentDiffQuestion } from "../../audit/diff/content-diff-answer.ts";
import { diffQuestion } from "../../audit/diff/diff-answer.ts";
import type { Answer } from "../../common/answer.ts";
import { CAUSES, type Cause } from "../../tables/history.ts";
import { type AnswerFlags, showAnswer } from "../answer-form.ts";
import { CliCommand, invalid, positive, processEnvironment } from "../command.ts";
import { withAnswer } from "../with-run.ts";

interface Options extends AnswerFlags {
  readonly warehouse: string;
  readonly cause?: Cause;
  readonly destination?: string;
  readonly field?: string;
  readonly items?: true;
  readonly content?: true;
  readonly table?: string;
  readonly item?: string;
  readonly limit?: number;
}

const EXAMPLES = `
Examples:
  $ content-warehouse diff
  $ content-warehouse diff 41 42 --items --cause mapping_changed
  $ content-warehouse diff --content --table content_tags

A line is one change, however many items it touches; --items lists those. "No
payload change": the destination is sent the same. --content needs two runs that
are kept; what changes with the moment, or with who asks, is compared only if
--table names its table. CSV has the changes, with --items those of each item.
`;

export function diffCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("diff")
    .description("show which external values changed between two runs, and why")
    .argument("[run-a]", "name or number of the earlier run", "previous")
    .argument("[run-b]", "name or number of the later run", "current")
    .warehouse()
    .choice("--cause <cause>", "only changes with this cause", CAUSES)
    .option("--destination <name>", "only this destination, by name or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--items", "list the items too")
    .addOption(
      new Option("--content", "compare the content instead: items and columns").conflicts([
        "cause",
        "destination",
        "field",
        "items",
      ]),
    )
    .option("--table <table>", "with --content, only this table")
    .option("--item <item>", "with --content, only this item, by ID or slug")
    .option("--limit <n>", "rows of each list (default: 20 as a table, else all)", positive)
    .answerForm()
    .addHelpText("after", EXAMPLES)
    .action((before: string, after: string, options: Options) =>
      options.content === true
        ? withAnswer(options.warehouse, contentDiffQuestion({ before, after, ...options }), shown(options))
        : withAnswer(options.warehouse, mappedQuestion(before, after, options), shown(options)),
    );
  function shown(options: Options) {
    return (answer: Answer) => showAnswer(out, wanted(answer, options), options);
  }
}

/** Throws `config.invalid` for an option of changes of content. */
function mappedQuestion(before: string, after: string, { table, item, ...options }: Options) {
  const given = table === undefined ? item && "--item" : "--table";
  if (given !== undefined)
    throw invalid(`${given} is for changes of content; add --content, or leave it out.`);
  return diffQuestion({ before, after, ...options });
}

/** CSV has the changes, or with --items those of each item. */
function wanted(answer: Answer, { format, items, content }: Options): Answer {
  const key = content === true ? "changes" : items === true ? "items" : "lines";
  return format === "csv"
    ? { ...answer, sections: answer.sections.filter((each) => each.key === key) }
    : answer;
}
