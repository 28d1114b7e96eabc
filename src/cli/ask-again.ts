import { systemClock } from "../common/clock.ts";
import { type Config, type ConfigFlags, loadConfig } from "../config/config.ts";
import { type Asking, type OpenSource, openSource, originOf } from "../run/source.ts";
import { assertSameInstance } from "../warehouse/baseline.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import { type CliEnvironment, warningsTo } from "./environment.ts";

interface AskedRun {
  readonly run: string;
  readonly directory: string;
  readonly manifest: Manifest;
}

/** Throws `config.other_instance` where the configuration names another service than the one that the run read. */
export function assertReadFrom({ run, manifest, directory }: AskedRun, config: Config): void {
  const instance = { id: null, origin: originOf(config) };
  assertSameInstance({ kind: "run", run, manifest }, instance, directory, "question");
}

/** `command`: how the caller is asked for a run of the sample. Throws what {@link loadConfig} throws. */
export function serviceConfig(
  { cwd, env }: CliEnvironment,
  flags: ConfigFlags,
  command: string,
): Promise<Config> {
  const sampleBy = `for a run of the sample, "content-warehouse ${command} --sample"`;
  return loadConfig({ cwd, env, flags, sampleBy });
}

/** Opens the service to ask it again for what a run read, and closes it afterwards. */
export async function askAgain<T>(
  config: Config,
  environment: CliEnvironment,
  use: (source: OpenSource, asking: Asking & { readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  await using source = await openSource(config);
  const log = warningsTo(environment, source.token);
  const { signal } = new AbortController();
  return await use(source, { config, clock: systemClock, log, signal });
}
