/** Which run is meant: its pipeline, and where its settings come from. `run` and `check` take the same options. */
import { CONTRACTS } from "../audit/checks/contract.ts";
import type { ConfigFlags, ConfigInputs } from "../config/config.ts";
import { namedInstance } from "../fleet/fleet.ts";
import { pipelineUrl } from "../transform/pipelines.ts";
import type { CliCommand, CliEnvironment } from "./command.ts";
import type { ChosenInstance } from "./instance.ts";

export interface WantedFlags extends Omit<ConfigFlags, "destinations"> {
  readonly chosen?: ChosenInstance;
  readonly destination?: ConfigFlags["destinations"];
}

/** `sample`: what `--sample` does. */
export function wantedOptions(command: CliCommand, sample: string): CliCommand {
  return command
    .argument("[pipeline]", "name of a pipeline of the package, or path of a module of your own")
    .warehouseOption()
    .service(sample)
    .choice("--contract <contract>", "freeze: publish nothing that departs from the specification", CONTRACTS)
    .option("--accept-shrink", "publish even where there is far less than in the run before")
    .option(
      "--reread",
      "request all single items, also those of which the run before has an unchanged document",
    )
    .destinations(", in place of those of the configuration")
    .option(
      "--accept-new-address",
      "go on in a warehouse whose service has another address now; its instance ID must be the same",
    );
}

/** Where the settings of the instance of a fleet come from. */
export function inputsOf({ fleet, instance }: ChosenInstance, inputs: ConfigInputs): ConfigInputs {
  const { config, warehouse, name } = instance;
  return {
    ...inputs,
    env: { ...inputs.env, CONTENT_WAREHOUSE_INSTANCE: name },
    cwd: fleet.folder,
    flags: { ...inputs.flags, config, warehouse },
    instance: namedInstance(fleet, instance, inputs.env),
  };
}

/** One of the pipeline and an instance is named. */
export function wantedOf(
  pipeline: string | undefined,
  { chosen, ...flags }: WantedFlags,
  { env, cwd }: Pick<CliEnvironment, "env" | "cwd">,
): { readonly url: string; readonly inputs: ConfigInputs } {
  const given = { ...flags, destinations: flags.destination };
  const inputs = { cwd, env, flags: given, sampleBy: '"content-warehouse run nightly --sample"' };
  if (chosen === undefined) return { url: pipelineUrl(pipeline ?? "", cwd), inputs };
  const { fleet, instance } = chosen;
  const url =
    pipeline === undefined ? pipelineUrl(instance.pipeline, fleet.folder) : pipelineUrl(pipeline, cwd);
  return { url, inputs: inputsOf(chosen, inputs) };
}
