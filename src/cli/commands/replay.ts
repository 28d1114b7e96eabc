import { findReadable } from "../../audit/open-run.ts";
import { WarehouseError } from "../../common/errors.ts";
import { thisMachine } from "../../run/context.ts";
import { isAsBuilt, replayAnswer, verifyReplay } from "../../run/replay/verify-replay.ts";
import { ANSWER_FORMATS, type AnswerFormat, show } from "../../show/answer.ts";
import {
  CliCommand,
  type CliEnvironment,
  existingFolder,
  invalid,
  logTo,
  processEnvironment,
} from "../command.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";
import { keepHeapsSmall } from "../v8-flags.ts";

interface Options {
  readonly warehouse: string;
  readonly verify?: true;
  readonly format: AnswerFormat;
}

const EXAMPLES = `
Examples:
  $ content-warehouse replay --verify
  $ content-warehouse replay --verify 42 --format json

RUN is a run's name, its number, or "current". The run is built again from its raw documents, in a temporary folder
(TMPDIR) and without a request, and compared with what was published: the rows of every table and the bytes of every
data file. Exit code 0: equal. 31: it differs, or a raw file is damaged. Another version of the program may give other
tables: then the differences are shown, and are no failure.
`;

export function replayCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("replay")
    .description("build a run again from its raw documents, and compare it with what was published")
    .argument("[run]", "name or number of a run, or current", "current")
    .option("--verify", "compare, and change nothing")
    .warehouse()
    .format(...ANSWER_FORMATS)
    .addHelpText("after", EXAMPLES)
    .action((run: string, options: Options) => replay(run, options, environment));
}

async function replay(wanted: string, options: Options, { out, err }: CliEnvironment): Promise<void> {
  if (options.verify !== true) {
    throw invalid("A run is built again to be compared alone, and replaces nothing: give --verify.");
  }
  keepHeapsSmall();
  const folder = existingFolder(options.warehouse);
  const published = await findReadable(folder, wanted);
  const { threads } = thisMachine();
  const verification = await withTemporaryFolder("replay", (place, signal) =>
    verifyReplay({
      folder,
      published,
      place,
      threads,
      signal,
      onProgress: () => {},
      log: logTo(err, { level: "warn", format: "text", secrets: [] }),
    }),
  );
  await show(out, replayAnswer(verification), options);
  if (isAsBuilt(verification)) return;
  throw new WarehouseError(
    "verify.failed",
    `Run ${published.run} is not what its raw documents give; do not trust it before somebody has looked why.`,
  );
}
