import { Option } from "commander";
import { contentDiffQuestion } from "../../audit/diff/content-diff-answer.ts";
import { diffQuestion } from "../../audit/diff/value-diff-answer.ts";
import type { RunQuestion, RunSelection } from "../../audit/open-run.ts";
import type { Answer } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { type AnswerFlags, showAnswer } from "../../show/answer.ts";
import { CAUSES, type Cause } from "../../tables/history.ts";
import { CliCommand, processEnvironment } from "../command.ts";
import { withAnswer } from "../with-run.ts";

interface DiffFlags extends AnswerFlags {
  readonly warehouse: string;
  readonly cause?: Cause;
  readonly destination?: string;
  readonly field?: string;
  readonly items?: true;
  readonly content?: true;
  readonly values?: true;
  readonly table?: string;
  readonly item?: string;
}

const EXAMPLES = `
Examples:
  $ content-warehouse diff
  $ content-warehouse diff --item fellgate-mid
  $ content-warehouse diff 41 42 --items --cause mapping_changed
  $ content-warehouse diff --content --table content_tags

A line for mapped values is one change, however many items it touches; --items
lists the items. Content is compared if both runs are kept. What changes with
the moment, or with the user, is compared only if --table names its table. CSV
has the changes of mapped values; with --items those of each item, with
--content those of the content.
`;

export function diffCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("diff")
    .argument("[run-a]", "name or number of the earlier run", "previous")
    .argument("[run-b]", "name or number of the later run", "current")
    .warehouse()
    .choice("--cause <cause>", "only changes with this cause", CAUSES)
    .option("--destination <name>", "only this destination, by name or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--items", "list the items of mapped values too")
    .addOption(new Option("--content", "only the content, in full").conflicts(["values", ...OF_VALUES]))
    .addOption(new Option("--values", "only the mapped values, in full").conflicts("table"))
    .addOption(new Option("--table <table>", "only the content of this table").conflicts([...OF_VALUES]))
    .option("--item <item>", "only this item, by ID, slug or title, with each of its changes")
    .answerForm()
    .addHelpText("after", EXAMPLES)
    .action((before: string, after: string, options: DiffFlags) => {
      const { warehouse, content, values, table } = options;
      const asked = { before, after, ...options };
      const shown = (answer: Answer) => showAnswer(environment, wanted(answer, options), options);
      if (content === true || table !== undefined)
        return withAnswer(warehouse, contentDiffQuestion(asked), shown);
      if (values === true || OF_VALUES.some((name) => options[name] !== undefined))
        return withAnswer(warehouse, diffQuestion(asked), shown);
      return withHead(warehouse, diffQuestion(asked), async (values) => {
        // The changes of values are found sooner than those of the content.
        const isEarly = options.format === "table" && !(values instanceof WarehouseError);
        const first = inBrief(values, options);
        if (isEarly) await shown(first);
        await withHead(warehouse, contentDiffQuestion(asked), (content) => {
          if (values instanceof WarehouseError && content instanceof WarehouseError) throw values;
          const second = { ...inBrief(content, options), next: options.item === undefined ? [IN_FULL] : [] };
          if (isEarly) environment.out.write("\n");
          return shown(isEarly ? second : merged(first, second));
        });
      });
    });
}

const IN_FULL = "Use --content or --values for all changes of one kind, --item for one item.";

/** Options that apply only to mapped values. */
const OF_VALUES = ["cause", "destination", "field", "items"] as const;

type Head = Answer | WarehouseError;

/** Answers one of the two questions. An error with exit code 2 or 3 takes the place of its answer. */
async function withHead<C extends RunSelection>(
  warehouse: string,
  question: RunQuestion<C>,
  use: (head: Head) => Promise<void>,
): Promise<void> {
  let isAnswered = false;
  try {
    await withAnswer(warehouse, question, (answer) => {
      isAnswered = true;
      return use(answer);
    });
  } catch (thrown) {
    if (isAnswered || !(thrown instanceof WarehouseError) || ![2, 3].includes(thrown.exitCode)) throw thrown;
    await use(thrown);
  }
}

/** Rows of each list if both answers are shown. */
const ROWS_SHOWN = 10;

/** An answer with the first rows of its lists; all rows if one item is asked for. */
function inBrief(head: Head, { item }: Pick<DiffFlags, "item">): Answer {
  if (head instanceof WarehouseError) return { lead: head.message, facts: {}, sections: [] };
  const sections = head.sections.map((each) => {
    // Definitions are not about one item.
    if (item !== undefined && each.key === "definitions") return { ...each, limit: 0 };
    return item === undefined && each.limit !== 0 ? { ...each, limit: ROWS_SHOWN } : each;
  });
  return { ...head, sections };
}

function merged(first: Answer, second: Answer): Answer {
  return {
    ...second,
    lead: `${first.lead}\n${second.lead}`,
    facts: { ...first.facts, ...second.facts },
    sections: [...first.sections, ...second.sections],
  };
}

/** For CSV, only the section with the changes. */
function wanted(answer: Answer, { format, items, item }: DiffFlags): Answer {
  if (format !== "csv") return answer;
  const keys = [items === true || item !== undefined ? "items" : "lines", "changes"];
  const found = keys.flatMap((key) => answer.sections.filter((each) => each.key === key));
  return { ...answer, sections: found.slice(0, 1) };
}
