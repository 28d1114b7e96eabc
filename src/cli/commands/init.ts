import { userInfo } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { Command, Option } from "commander";
import { systemClock } from "../../common/clock.ts";
import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import { configFileName, loadConfig } from "../../config/config.ts";
import { configText, NEW_CONFIG_FILE } from "../../config/config-text.ts";
import { createLookups } from "../../extract/lookups.ts";
import { probeService } from "../../extract/probe.ts";
import { missingDestinations } from "../../run/check-service.ts";
import { openHastyClient, openSource } from "../../run/source.ts";
import {
  type Asking,
  askDestinations,
  askSchedule,
  askToken,
  askUrl,
  askWarehouse,
  assertAnswerable,
  type InitFlags,
  invalid,
  type TokenAnswer,
} from "../init/answers.ts";
import { Prompt } from "../init/prompt.ts";
import { SCHEDULERS, type Scheduler, scheduleFileNames, scheduleFiles } from "../init/schedule.ts";
import { assertNew, type FileToWrite, writeNewFiles } from "../init/write-files.ts";
import {
  type CliEnvironment,
  type Destinations,
  destinationOption,
  processEnvironment,
  URL_OPTION,
  warningsTo,
} from "../options.ts";
import { printableText, writeAll } from "../render/terminal.ts";

/** What `init` has around it. */
export interface InitEnvironment extends CliEnvironment {
  /** Answers come from it, where it is a terminal. */
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly out: CliEnvironment["out"] & { readonly isTTY?: boolean };
  /** What starts this program, as absolute paths. */
  readonly program: readonly string[];
}

function processInitEnvironment(): InitEnvironment {
  return Object.assign(processEnvironment(), {
    input: process.stdin,
    out: process.stdout,
    program: [process.execPath, ...process.argv.slice(1, 2)],
  });
}

const EXAMPLES = `
Examples:
  $ content-warehouse init
  $ content-warehouse init --url https://content.example.com --token-file ./token --destination "Web CMS" \\
      --destination "Print Archive:Archive" --schedule systemd

It writes ${NEW_CONFIG_FILE} into the working directory, after the service has answered, and overwrites nothing.
A token file that is not there is made, with the token from CONTENT_API_TOKEN or from the terminal.
`;

/** `content-warehouse init`: a first configuration, verified with the service. */
export function initCommand(environment: InitEnvironment = processInitEnvironment()): Command {
  return new Command("init")
    .description("write a configuration, with what you answer or give as options")
    .addOption(URL_OPTION)
    .option("--token-file <file>", "file with the API token, which only its owner can read")
    .addOption(destinationOption(""))
    .option("--warehouse <dir>", "folder of the warehouse (default: ./warehouse)")
    .addOption(
      new Option("--schedule <scheduler>", "write its files for a run every night").choices(SCHEDULERS),
    )
    .option("--yes", "ask nothing: take options and defaults")
    .addHelpText("after", EXAMPLES)
    .action((flags: InitFlags) => init(flags, environment));
}

async function init(flags: InitFlags, environment: InitEnvironment): Promise<void> {
  const { env, cwd, input, out } = environment;
  const there = configFileName({ cwd, flags: {} });
  assertNew(cwd, [
    there ?? NEW_CONFIG_FILE,
    ...(flags.schedule === undefined ? [] : scheduleFileNames(flags.schedule)),
  ]);
  const isAsked = flags.yes !== true && input.isTTY === true && out.isTTY === true;
  using prompt = isAsked ? new Prompt(input, out) : null;
  const asking: Asking = { flags, env, cwd, prompt };
  assertAnswerable(asking);
  const url = await askUrl(asking);
  const token = await askToken(asking);
  const destinations = await verifiedDestinations(asking, url, token, environment);
  const warehouse = await askWarehouse(asking);
  const schedule = await askSchedule(asking);
  assertTokenFor(schedule, token);
  const config = { name: NEW_CONFIG_FILE, mode: 0o644 };
  const text = configText({ url, tokenFile: token.file, destinations, warehouse });
  const files = [...tokenFiles(token), { ...config, text }, ...schedulerFiles(schedule, environment)];
  await writeNewFiles(cwd, files);
  await writeAll({ out, columns: undefined }, [writtenText(files, schedule)]);
}

/** Asks the service for one item, and for each destination. Throws what a run would end with. */
async function verifiedDestinations(
  asking: Asking,
  url: string,
  { token }: TokenAnswer,
  environment: InitEnvironment,
): Promise<Destinations> {
  const { out, cwd } = environment;
  // Checked as those of a run are.
  const config = await loadConfig({
    cwd,
    env: { ...asking.env, CONTENT_API_TOKEN: token.reveal() },
    flags: { url },
    sampleBy: '"content-warehouse run nightly --sample"',
  });
  await using source = await openSource(config);
  const client = openHastyClient(source, { config, clock: systemClock, log: warningsTo(environment, token) });
  const { signal } = new AbortController();
  try {
    const { items } = await probeService(client, config.aliases, signal);
    out.write(printableText(`${client.host} answers: the token may read ${counted(items, "item")}.\n`));
    const lookups = createLookups(client, config.lookupMethod);
    return await askDestinations(asking, async (wanted) => {
      const missing = missingDestinations(await lookups.destinations(wanted, signal));
      if (missing.length === 0) return;
      throw new WarehouseError("config.not_found", `${missing.join(" ")} Correct its name or platform.`);
    });
  } finally {
    await client.close();
  }
}

/** A scheduler has no variables of a person; a secret of Kubernetes becomes one. */
function assertTokenFor(schedule: Scheduler | null, { file }: TokenAnswer): void {
  if (file !== null || (schedule !== "cron" && schedule !== "systemd")) return;
  throw invalid(
    `--schedule ${schedule} needs --token-file: ${schedule} does not have your CONTENT_API_TOKEN.`,
  );
}

function tokenFiles({ file, token, isNew }: TokenAnswer): FileToWrite[] {
  return file === null || !isNew ? [] : [{ name: file, text: `${token.reveal()}\n`, mode: 0o600 }];
}

function schedulerFiles(schedule: Scheduler | null, { cwd, program }: InitEnvironment): FileToWrite[] {
  if (schedule === null) return [];
  const run = { program, config: join(cwd, NEW_CONFIG_FILE), user: userInfo().username };
  return scheduleFiles(schedule, run).map((file) => ({ ...file, mode: 0o644 }));
}

function writtenText(files: readonly FileToWrite[], schedule: Scheduler | null): string {
  const lines = files.map(
    ({ name, mode }) => `  ${name}${mode === 0o600 ? " (only you can read it)" : ""}\n`,
  );
  const [first] = schedule === null ? [] : scheduleFileNames(schedule);
  const install = first === undefined ? "" : `  see the first lines of ${first} for how to install it\n`;
  return printableText(
    `Written:\n${lines.join("")}Next:\n  content-warehouse check\n  content-warehouse run nightly\n${install}`,
  );
}
