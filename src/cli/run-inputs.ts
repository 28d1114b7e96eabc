/** Arguments that `run` and `check` share: the pipeline and where its settings come from. */
import { CONTRACTS } from "../audit/checks/contract.ts";
import type { ConfigFlags, ConfigInputs } from "../config/config.ts";
import { pipelineUrl } from "../transform/pipelines.ts";
import type { CliCommand, CliEnvironment } from "./command.ts";

export const PIPELINE = "nightly, parquet, or the path of your own module";

export interface RunInputFlags extends Omit<ConfigFlags, "destinations"> {
  readonly destination?: ConfigFlags["destinations"];
}

/** `sample` describes `--sample`; `asIf` describes the flags that change a run, for a command that only checks one. */
export function addRunOptions(command: CliCommand, sample: string, asIf?: string): CliCommand {
  return command
    .warehouseOption()
    .service(sample)
    .choice(
      "--contract <contract>",
      "accept departures from the specification (evolve), or refuse them (freeze)",
      CONTRACTS,
    )
    .option("--accept-shrink", asIf ?? "publish although there is far less than before")
    .option("--accept-lost", asIf ?? "publish although more external values were lost than a test allows")
    .option("--reread", asIf ?? "request all single items, unchanged ones too")
    .destinations()
    .option("--accept-new-address", asIf ?? "accept that the service's URL changed")
    .option("--accept-pipeline", asIf ?? "allow this pipeline to lack tables or files of the current run");
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
