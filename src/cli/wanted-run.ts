/** Which run is meant: its pipeline, and where its settings come from. `run` and `check` take the same options. */
import { Option } from "commander";
import { CONTRACTS } from "../audit/checks/contract.ts";
import type { ConfigFlags, ConfigInputs } from "../config/config.ts";
import { findInstance, namedInstance, readFleet } from "../fleet/fleet.ts";
import { pipelineUrl } from "../transform/pipelines.ts";
import type { CliCommand, CliEnvironment } from "./command.ts";

export interface WantedFlags extends Omit<ConfigFlags, "destinations"> {
  readonly instance?: string;
  readonly fleet: string;
  readonly destination?: ConfigFlags["destinations"];
}

/** `sample`: what `--sample` does. */
export function wantedOptions(command: CliCommand, sample: string): CliCommand {
  return command
    .argument("[pipeline]", "name of a pipeline of the package, or path of a module of your own")
    .warehouseOption()
    .service(sample)
    .addOption(
      new Option(
        "--instance <name>",
        "instance of a fleet: its service, token, configuration, pipeline and warehouse",
      ).conflicts(["url", "config", "warehouse", "sample"]),
    )
    .fleet()
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

/** One of the pipeline and an instance is named. */
export async function wantedOf(
  pipeline: string | undefined,
  { instance: name, fleet: file, ...flags }: WantedFlags,
  { env, cwd }: Pick<CliEnvironment, "env" | "cwd">,
): Promise<{ readonly url: string; readonly inputs: ConfigInputs }> {
  const given = { ...flags, destinations: flags.destination };
  const inputs = { cwd, env, flags: given, sampleBy: '"content-warehouse run nightly --sample"' };
  if (name === undefined) return { url: pipelineUrl(pipeline ?? "", cwd), inputs };
  const fleet = await readFleet(cwd, file);
  const instance = findInstance(fleet, name);
  const { config, warehouse } = instance;
  // A configuration that is a module may read it.
  process.env.CONTENT_WAREHOUSE_INSTANCE = name;
  return {
    url: pipeline === undefined ? pipelineUrl(instance.pipeline, fleet.folder) : pipelineUrl(pipeline, cwd),
    inputs: {
      ...inputs,
      env: { ...env, CONTENT_WAREHOUSE_INSTANCE: name },
      cwd: fleet.folder,
      flags: { ...given, config, warehouse },
      instance: namedInstance(fleet, instance, env),
    },
  };
}
