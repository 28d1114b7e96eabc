import { readMapping } from "../../audit/mapping/mapping-file.ts";
import { whatIfQuestion } from "../../audit/questions/what-if.ts";
import { type AnswerFlags, showAnswer } from "../../show/answer.ts";
import { CliCommand, processEnvironment } from "../command.ts";
import { readInputFile } from "../user-file.ts";
import { withAnswer } from "../with-run.ts";

interface WhatIfFlags extends AnswerFlags {
  readonly warehouse: string;
  readonly mapping: string;
}

const EXAMPLES = `
Examples:
  $ content-warehouse audit --export-mapping mapping.csv
  $ content-warehouse what-if --mapping mapping.csv

The file is an edited export of "audit --export-mapping": change external values
or names, remove rows, or add rows (the ID of an added entry is empty). The
service is not needed, and nothing is published.
`;

export function whatIfCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("what-if")
    .argument("[run]", "name or number of a run", "current")
    .requiredOption("--mapping <file>", "the edited mapping, as CSV (required)")
    .warehouse()
    .answerForm()
    .addHelpText("after", EXAMPLES)
    .action(async (run: string, options: WhatIfFlags) => {
      const { mapping: file } = options;
      const rows = readMapping(await readInputFile("The mapping file", file), file);
      await withAnswer(options.warehouse, whatIfQuestion(run, rows), (answer) =>
        showAnswer(environment, answer, options),
      );
    });
}
