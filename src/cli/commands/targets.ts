import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import { ANSWER_FORMATS, type AnswerFormat, show } from "../../show/answer.ts";
import { currentIn } from "../../targets/published-run.ts";
import { targetStates, targetsAnswer } from "../../targets/target-states.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { CliCommand, processEnvironment, StopSignals } from "../command.ts";
import { suggested } from "../suggested.ts";
import { chosenTargets, type TargetOptions } from "../targets.ts";

const HELP = `
Examples:
  $ content-warehouse targets
  $ content-warehouse targets --json

Exit code 0: each target could be asked, whatever it has. 26: one could not.
`;

export function targetsCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("targets")
    .description("list the configured targets with the last run that each has")
    .warehouse()
    .format(...ANSWER_FORMATS)
    .addHelpText("after", HELP)
    .action(async (options: TargetOptions & { readonly format: AnswerFormat }) => {
      const { cwd, out } = environment;
      const targets = await chosenTargets(cwd, options);
      const current = await currentIn(outputFolder(options.warehouse));
      using stop = new StopSignals("nothing was changed");
      const states = await targetStates(targets, current, stop.signal);
      await show(
        out,
        targetsAnswer(states, current, (command) => suggested(command, options.given)),
        { format: options.format },
      );
      const problems = states.flatMap(({ problem }) => problem ?? []);
      if (problems.length === 0) return;
      throw new WarehouseError(
        "target.unavailable",
        `${counted(problems.length, "target")} could not be asked: ${problems[0]}`,
      );
    });
}
