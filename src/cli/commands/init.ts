import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { Option } from "commander";
import { systemClock } from "../../common/clock.ts";
import { codeOf, WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import { type Config, configFileName, loadConfig } from "../../config/config.ts";
import { configText, NEW_CONFIG_FILE } from "../../config/config-text.ts";
import { createLookups } from "../../extract/lookups.ts";
import { probeService } from "../../extract/probe.ts";
import { knownDestinations, missingDestinations } from "../../run/known-destinations.ts";
import { openHastyClient, openSource } from "../../run/source.ts";
import { writeAnswer } from "../../show/terminal.ts";
import {
  CliCommand,
  type CliEnvironment,
  type Destinations,
  invalid,
  processEnvironment,
  warningsTo,
} from "../command.ts";
import { addDestinations, newDestinations } from "../init/add.ts";
import {
  type Asking,
  askDestinations,
  askToken,
  askUrl,
  askWarehouse,
  assertAnswerable,
  type InitFlags,
} from "../init/answers.ts";
import { Prompt } from "../init/prompt.ts";

const EXAMPLES = `
Examples:
  $ content-warehouse init
  $ content-warehouse init --url https://content.example.com --token-file ./token --destination "Web CMS" \\
      --destination "Print Archive:Archive"
  $ content-warehouse init --add --destination "Partner Portal"

It writes ${NEW_CONFIG_FILE} into the working directory, after the service has answered, and overwrites nothing.
A token file that is not there is made, with the token from CONTENT_API_TOKEN or from the terminal. With --add it adds
destinations to the configuration that is there, and leaves the rest of the file as it is.
`;

export function initCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("init")
    .description("write a configuration, with what you answer or give as options")
    .url()
    .option("--token-file <file>", "file with the API token, which only its owner can read")
    .destinations("")
    .option("--warehouse <dir>", "folder of the warehouse (default: ./warehouse)")
    .option("--yes", "ask nothing: take options and defaults")
    .addOption(
      new Option("--add", "add destinations to the configuration that is there").conflicts([
        "url",
        "tokenFile",
        "warehouse",
      ]),
    )
    .addHelpText("after", EXAMPLES)
    .action((flags: InitFlags) => init(flags, environment));
}

async function init(flags: InitFlags, environment: CliEnvironment): Promise<void> {
  const { env, cwd, input, out } = environment;
  const there = configFileName({ cwd, flags: {} });
  const isAsked = flags.yes !== true && input.isTTY === true && out.isTTY === true;
  using prompt = isAsked ? new Prompt(input, out) : null;
  const given = (name: string) => env[name]?.trim() || undefined;
  const asking: Asking = {
    flags,
    url: flags.url ?? given("CONTENT_API_URL"),
    token: given("CONTENT_API_TOKEN"),
    cwd,
    prompt,
  };
  if (flags.add === true) return await add(asking, there, environment);
  assertNew(cwd, [there ?? NEW_CONFIG_FILE]);
  assertAnswerable(asking);
  const url = await askUrl(asking);
  const token = await askToken(asking);
  const config = await loadConfig({
    cwd,
    env: { ...env, CONTENT_API_TOKEN: token.token.reveal() },
    flags: { url },
    sampleBy: SAMPLE_BY,
  });
  const destinations = await verifiedDestinations(asking, config, environment);
  const warehouse = await askWarehouse(asking);
  const { file, token: secret, isNew } = token;
  const text = configText({ url, tokenFile: file, destinations, warehouse });
  const files = [
    ...(file === null || !isNew ? [] : [{ name: file, text: `${secret.reveal()}\n`, mode: 0o600 }]),
    { name: NEW_CONFIG_FILE, mode: 0o644, text },
  ];
  await writeNewFiles(cwd, files);
  await writeAnswer(out, writtenText(files));
}

const SAMPLE_BY = '"content-warehouse run nightly --sample"';

/** Adds to the configuration what it does not have yet, so that it can be said again. */
async function add(asking: Asking, there: string | null, environment: CliEnvironment): Promise<void> {
  const { cwd, env, out } = environment;
  if (there === null)
    throw invalid('There is no configuration file here to add to; run "content-warehouse init" first.');
  if (asking.prompt === null && asking.flags.destination === undefined)
    throw invalid("Nothing can be asked without a terminal or with --yes: give --destination.");
  const config = await loadConfig({ cwd, env, flags: {}, sampleBy: SAMPLE_BY });
  const wanted = await verifiedDestinations(asking, config, environment);
  const added = newDestinations(wanted, config.destinations);
  if (added.length > 0) await addDestinations(cwd, there, added);
  const names = listed(
    added.map(({ name, platform }) => printable(`${name}:${platform}`)),
    "and",
  );
  const text =
    added.length === 0 ? `Nothing to add: ${there} has them already.` : `Added to ${there}: ${names}.`;
  await writeAnswer(out, `${text}\n`);
}

/** Asks the service for one item, and for each destination. Throws what a run would end with. */
async function verifiedDestinations(
  asking: Asking,
  config: Config,
  environment: CliEnvironment,
): Promise<Destinations> {
  await using source = await openSource(config);
  const client = openHastyClient(source, {
    config,
    clock: systemClock,
    log: warningsTo(environment, source.secrets),
  });
  const { signal } = new AbortController();
  try {
    const { items } = await probeService(client, config.aliases, signal);
    await writeAnswer(
      environment.out,
      `${client.host} answers: the token may read ${counted(items, "item")}.\n`,
    );
    const lookups = createLookups(client, config.lookupMethod);
    const known = (wanted: Destinations, unmatched: Destinations) => {
      const { aliases, destinations: configured } = config;
      return knownDestinations(client, { aliases, lookups, wanted, unmatched, configured }, signal);
    };
    return await askDestinations(asking, {
      async look(wanted) {
        const found = await lookups.destinations(wanted, signal);
        if (found.unmatched.length === 0) return;
        const missing = missingDestinations(found, await known(wanted, found.unmatched));
        throw new WarehouseError(
          "config.not_found",
          `${missing.join(" ")} Correct its name, or give its platform as "NAME:PLATFORM".`,
        );
      },
      async there() {
        const { found } = await known([], []);
        const names = found.map(({ name }) => name);
        if (names.length === 0) return "Its items name none.";
        return `Its items name ${listed(
          names.map((name) => JSON.stringify(printable(name))),
          "and",
        )}.`;
      },
    });
  } finally {
    await client.close();
  }
}

function writtenText(files: readonly FileToWrite[]): string {
  const lines = files.map(
    ({ name, mode }) => `  ${name}${mode === 0o600 ? " (only you can read it)" : ""}\n`,
  );
  return `Written:\n${lines.join("")}Next:\n  content-warehouse check\n  content-warehouse run nightly\n`;
}

/** Its name goes from the working directory on. */
interface FileToWrite {
  readonly name: string;
  readonly text: string;
  /** Of its permissions; 0o600 for secrets. */
  readonly mode: number;
}

/** Throws `config.output` for a file that is there: nothing is ever overwritten. */
function assertNew(cwd: string, names: readonly string[]): void {
  const there = names.find((name) => existsSync(resolve(cwd, name)));
  if (there !== undefined) throw exists(there);
}

/** Writes new files. Throws `config.output` for one that is there, or cannot be written. */
async function writeNewFiles(cwd: string, files: readonly FileToWrite[]): Promise<void> {
  const names = files.map(({ name }) => name);
  assertNew(cwd, names);
  for (const { name, text, mode } of files) {
    try {
      await using file = await open(resolve(cwd, name), "wx", mode);
      await file.writeFile(text);
    } catch (thrown) {
      if (codeOf(thrown) === "EEXIST") throw exists(name);
      throw new WarehouseError(
        "config.output",
        `The file ${name} cannot be written (${codeOf(thrown) ?? "unknown reason"}); make its folder, or run init in another one.`,
        { cause: thrown },
      );
    }
  }
}

function exists(name: string): WarehouseError {
  return new WarehouseError(
    "config.output",
    `There is a file ${name} already, and init overwrites nothing; edit it, move it away, or run init in another folder.`,
  );
}
