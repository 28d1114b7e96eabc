import { findReadable, type ReadableRun } from "../../audit/open-run.ts";
import { WarehouseError } from "../../common/errors.ts";
import { configuredWishes } from "../../config/config.ts";
import { thisMachine } from "../../run/context.ts";
import { replayRuns } from "../../run/replay/replay.ts";
import { replayedAnswer } from "../../run/replay/replay-answer.ts";
import { isAsBuilt, replayAnswer, verifyReplay } from "../../run/replay/verify-replay.ts";
import { answerTexts } from "../../show/answer.ts";
import { writeOutcome } from "../../show/terminal.ts";
import { pipelineUrl } from "../../transform/pipelines.ts";
import { type OutputFolder, stagingLeftovers } from "../../warehouse/layout.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { finishPublication } from "../../warehouse/publish.ts";
import { type AnswerFlags, showAnswer } from "../answer-form.ts";
import {
  CliCommand,
  type CliEnvironment,
  existingFolder,
  invalid,
  logTo,
  processEnvironment,
  StopSignals,
} from "../command.ts";
import { confirm } from "../confirm.ts";
import { targetsOfFolder } from "../targets.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";
import { untilDecided } from "../until-decided.ts";

interface Options extends AnswerFlags {
  readonly warehouse: string;
  readonly verify?: true;
  readonly pipeline?: string;
  readonly config?: string;
  readonly yes?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse replay --verify
  $ content-warehouse replay --verify 42 --format json
  $ content-warehouse replay 42 --pipeline ./my-pipeline.ts

RUN is a run's name, its number, or "current"; it is built again from its raw documents, without a request.

With --verify that is done in a temporary folder (TMPDIR), and compared with what was published: the rows of every table
and the bytes of every data file. Exit code 0: equal. 31: it differs, or a file of the run is damaged. Another version of
the program may give other tables: then the differences are shown, and are no failure.

Without it the run and all that go on from it are built by this version of the program, each with the pipeline of its
night or with --pipeline, and take the places of the old ones together, with later numbers. What an interrupted run has
read goes, and a pipeline's own loaders are told of nothing. Exit code 2: the pipeline needs what was not asked for.
31: a raw file is damaged. Then every run is as it was.
`;

export function replayCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("replay")
    .description("build runs again from their raw documents, or compare them")
    .argument("[run]", "name or number of a run, or current", "current")
    .option("--verify", "compare, and change nothing")
    .option(
      "--pipeline <pipeline>",
      "name of a pipeline of the package, or path of a module of your own (default: that of each night)",
    )
    .option("--yes", "ask nothing: what an interrupted run has read may go")
    .warehouse()
    .answerForm()
    .addHelpText("after", EXAMPLES)
    .action(async (run: string, options: Options) => {
      if (options.verify === true && options.pipeline !== undefined)
        throw invalid("--verify compares with what the run's own pipeline gives; leave --pipeline out.");
      const folder = existingFolder(options.warehouse);
      if (options.verify === true)
        await verify(await findReadable(folder, run), folder, options, environment);
      else await replay(run, folder, options, environment);
    });
}

async function verify(
  published: ReadableRun,
  folder: OutputFolder,
  options: Options,
  { out, err }: CliEnvironment,
): Promise<void> {
  const { threads } = thisMachine();
  const verification = await withTemporaryFolder("replay", (place, signal) =>
    verifyReplay({
      folder,
      published,
      place,
      threads,
      signal,
      onProgress: () => {},
      log: logOf(err),
    }),
  );
  await showAnswer(out, replayAnswer(verification), options);
  if (isAsBuilt(verification)) return;
  throw new WarehouseError(
    "verify.failed",
    `Run ${published.run} is not what its raw documents give; do not trust it before somebody has looked why.`,
  );
}

const logOf = (err: CliEnvironment["err"]) => logTo(err, { level: "warn", format: "text", secrets: [] });

async function replay(
  wanted: string,
  folder: OutputFolder,
  options: Options,
  environment: CliEnvironment,
): Promise<void> {
  const { out, err, cwd, env } = environment;
  const wishes = await configuredWishes({ cwd, env, flags: options });
  const url = options.pipeline === undefined ? null : pipelineUrl(options.pipeline, cwd);
  await using _lock = await acquireLock(folder);
  await finishPublication(folder);
  const run = await findReadable(folder, wanted);
  await acceptLoss(folder, options, environment);
  using stop = new StopSignals("nothing was replaced");
  const { threads, nodeVersion, freeBytes } = thisMachine();
  const replayed = await untilDecided(stop.signal, (onStep) =>
    replayRuns({
      folder,
      run,
      pipelineUrl: url,
      wishes,
      threads,
      nodeVersion,
      freeBytes,
      signal: stop.signal,
      onProgress: () => {},
      onStep,
      log: logOf(err),
    }),
  );
  const targets = await targetsOfFolder(folder, wishes.targets);
  const answer = replayedAnswer(
    replayed,
    targets.map(({ name }) => name),
  );
  const texts = await Array.fromAsync(answerTexts(answer, { ...options, width: out.columns }));
  await writeOutcome(environment, { text: texts.join(""), done: "The runs are replaced, but what was done" });
}

/** Throws where nobody says that the work of an interrupted run may go. */
async function acceptLoss(
  folder: OutputFolder,
  { yes }: Options,
  environment: CliEnvironment,
): Promise<void> {
  const [interrupted] = await stagingLeftovers(folder);
  if (interrupted === undefined || yes === true) return;
  const loss = `What the interrupted run ${interrupted.run} has read will be gone`;
  const refused = invalid(`${loss}; finish it with "run" first, or give --yes.`);
  await confirm(environment, `${loss}. Go on?`, { refused });
}
