import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import { currentIn } from "../../targets/published-run.ts";
import { targetStates, targetsAnswer } from "../../targets/target-states.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { type AnswerFlags, showAnswer } from "../answer-form.ts";
import { CliCommand, processEnvironment, StopSignals } from "../command.ts";
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
    .answerForm()
    .addHelpText("after", HELP)
    .action(async (options: TargetOptions & AnswerFlags) => {
      const { cwd, out } = environment;
      const targets = await chosenTargets(cwd, options);
      const current = await currentIn(outputFolder(options.warehouse));
      using stop = new StopSignals("the targets are not listed");
      const states = await targetStates(targets, current, stop.signal);
      await showAnswer(out, targetsAnswer(states, current), options);
      const unasked = states.filter(({ state }) => state === "failed");
      if (unasked.length > 0)
        throw new WarehouseError(
          "target.unavailable",
          `${counted(unasked.length, "target")} could not be asked: ${unasked[0]?.problem}`,
        );
    });
}
