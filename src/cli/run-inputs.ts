/** Which run is meant: its pipeline, and where its settings come from. `run` and `check` take the same options. */
import { CONTRACTS } from "../audit/checks/contract.ts";
import type { ConfigFlags, ConfigInputs } from "../config/config.ts";
import { pipelineUrl } from "../transform/pipelines.ts";
import type { CliCommand, CliEnvironment } from "./command.ts";

export const PIPELINE = "nightly, parquet, or the path of a module of your own";

export const ACCEPT_PIPELINE = "publish although the pipeline lacks tables of the current run";

export interface RunInputFlags extends Omit<ConfigFlags, "destinations"> {
  readonly destination?: ConfigFlags["destinations"];
}

/** `sample`: what `--sample` does; `asIf`: what flags do that change a run, unless they are of a run. */
export function addRunOptions(command: CliCommand, sample: string, asIf?: string): CliCommand {
  return command
    .warehouseOption()
    .service(sample)
    .choice("--contract <contract>", "departures from the specification", CONTRACTS)
    .option("--accept-shrink", asIf ?? "publish although there is far less than before")
    .option("--reread", asIf ?? "request all single items, also unchanged ones")
    .destinations()
    .option("--accept-new-address", asIf ?? "go on although the service has another address")
    .option("--accept-pipeline", asIf ?? ACCEPT_PIPELINE);
}

export function runInputs(
  pipeline: string,
  flags: RunInputFlags,
  { env, cwd }: Pick<CliEnvironment, "env" | "cwd">,
): { readonly url: string; readonly inputs: ConfigInputs } {
  const given = { ...flags, destinations: flags.destination };
  const inputs = { cwd, env, flags: given, sampleBy: '"content-warehouse run nightly --sample"' };
  return { url: pipelineUrl(pipeline, cwd), inputs };
}
