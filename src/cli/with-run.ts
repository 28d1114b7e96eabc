/** What a question is asked of: a run, and the service that it read. */
import { type Choice, type OpenedRun, openRun, type Question } from "../audit/open-run.ts";
import type { Answer } from "../common/answer.ts";
import { systemClock } from "../common/clock.ts";
import { type Config, type ConfigFlags, loadConfig } from "../config/config.ts";
import { type Asking, type OpenSource, openSource, originOf } from "../run/source.ts";
import { assertSameInstance } from "../warehouse/baseline.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import { type CliEnvironment, existingFolder, warningsTo } from "./command.ts";
import { withTemporaryFolder } from "./temporary-folder.ts";

/** Opens a published run for a question, and closes it afterwards. */
export function withRun<T>(
  warehouse: string,
  wanted: string,
  use: (opened: OpenedRun) => Promise<T>,
): Promise<T> {
  return withRuns(warehouse, async () => ({ wanted }), use);
}

/** Like `withRun`, where it takes a look at the warehouse to say which run is meant. */
export async function withRuns<C extends Choice, T>(
  warehouse: string,
  choose: (folder: OutputFolder, temporaryDirectory: string) => Promise<C>,
  use: (opened: OpenedRun, chosen: C) => Promise<T>,
): Promise<T> {
  const folder = existingFolder(warehouse);
  return withTemporaryFolder("audit", async (temporaryDirectory) => {
    const chosen = await choose(folder, temporaryDirectory);
    await using opened = await openRun({ ...chosen, folder, temporaryDirectory });
    return await use(opened, chosen);
  });
}

/** Has a question answered; its answer is drawn while its runs are open. */
export function withAnswer<C extends Choice>(
  warehouse: string,
  { choose, answer }: Question<C>,
  use: (answer: Answer) => Promise<void>,
): Promise<void> {
  return withRuns(warehouse, choose, async (opened, chosen) => use(await answer(opened, chosen)));
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

/**
 * Opens the service that a run read, to ask it again, and closes it afterwards. Throws `config.other_instance` where the
 * configuration names another one.
 */
export async function askAgain<T>(
  { manifest, directory }: Pick<OpenedRun, "manifest" | "directory">,
  config: Config,
  environment: CliEnvironment,
  use: (source: OpenSource, asking: Asking & { readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const instance = { id: null, origin: originOf(config) };
  assertSameInstance(manifest.instance, instance, directory, "question");
  await using source = await openSource(config);
  const log = warningsTo(environment, source.secrets);
  const { signal } = new AbortController();
  return await use(source, { config, clock: systemClock, log, signal });
}
