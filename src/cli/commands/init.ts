/** `init`: writes a first configuration. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { DEFAULT_PLATFORM } from "../../api/destination.ts";
import { systemClock } from "../../common/clock.ts";
import { asWarehouseError, codeOf, invalidConfig, WarehouseError } from "../../common/errors.ts";
import { pluralize } from "../../common/figures.ts";
import { packagePath } from "../../common/package-root.ts";
import { printable } from "../../common/printable.ts";
import { type ConfigSpec, loadConfig } from "../../config/config.ts";
import { configFileName, nonEmpty } from "../../config/config-file.ts";
import { readServiceUrl } from "../../extract/http/request.ts";
import { Lookups } from "../../extract/lookups.ts";
import { Probe } from "../../extract/probe.ts";
import { openClient, openSource } from "../../run/source.ts";
import { writeResult } from "../../show/terminal.ts";
import { commandAdvice } from "../advice.ts";
import { CliCommand, type CliEnvironment, logTo, processEnvironment } from "../command.ts";

/** JSON, because editors check it against the schema that it names. */
const CONFIG_FILE = "content-warehouse.config.json";

const EXAMPLES = `
Example:
  $ content-warehouse init --url https://content.example.com

Writes ${CONFIG_FILE} into the working directory and
overwrites nothing. With a token, in CONTENT_API_TOKEN or in the file, it asks
the service for the destinations of its items and adds them. Without one, it
makes an empty file for it that only you can read (mode 0600).
`;

/** Maximum number of destinations looked up; each is one request. */
const MAX_LOOKUPS = 20;

interface InitFlags {
  readonly url?: string;
  readonly tokenFile: string;
}

export function initCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("init")
    .url()
    .option("--token-file <file>", "file with the API token", "./token")
    .addHelpText("after", EXAMPLES)
    .action((flags: InitFlags) => init(flags, environment));
}

async function init(flags: InitFlags, environment: CliEnvironment): Promise<void> {
  const { cwd, env } = environment;
  const tokenFile = resolve(cwd, flags.tokenFile);
  const url = addressOf(flags.url ?? nonEmpty(env.CONTENT_API_URL));
  const there = configFileName({ cwd, flags: {} });
  if (there !== null) throw exists(there);
  const write = (destinations: ConfigSpec["destinations"], ...first: readonly string[]) =>
    writeConfig({ url, tokenFile: flags.tokenFile, destinations }, first, environment);
  const file = flags.tokenFile;
  const variable = nonEmpty(env.CONTENT_API_TOKEN) && "CONTENT_API_TOKEN";
  if (variable === undefined && !existsSync(tokenFile)) {
    await createFile(tokenFile, file, "", 0o600);
    return write([], `put the API token into ${file}, which only you can read`);
  }
  try {
    await write(await destinationsAt({ url, tokenFile }, environment));
  } catch (thrown) {
    if (asWarehouseError(thrown).code === "source.credentials")
      await write([], `correct the token in ${variable ?? file}, and fill in \`destinations\``);
    throw thrown;
  }
}

/**
 * Writes the file and prints the next steps: `first`, then two commands. Throws `config.output` if the file exists or
 * cannot be written.
 */
async function writeConfig(
  settings: ConfigSpec,
  first: readonly string[],
  environment: CliEnvironment,
): Promise<void> {
  const { cwd, out } = environment;
  const schema = relative(cwd, packagePath("config.schema.json"));
  const $schema = schema.startsWith(".") ? schema : `./${schema}`;
  const text = `${JSON.stringify({ $schema, ...settings }, null, 2)}\n`;
  await createFile(resolve(cwd, CONFIG_FILE), CONFIG_FILE, text, 0o666);
  const advice = await commandAdvice(environment);
  const next = [...first, ...["check", "run nightly --limit 20"].map(advice)];
  const lines = [`Written: ${CONFIG_FILE}`, "Next:", ...next.map((line) => `  ${line}`)];
  await writeResult(out, `${lines.join("\n")}\n`);
}

/** Throws `config.output` if the file, which messages call `name`, exists or cannot be written. */
async function createFile(path: string, name: string, text: string, mode: number): Promise<void> {
  await writeFile(path, text, { flag: "wx", mode }).catch((cause: unknown) => {
    const code = codeOf(cause) ?? "unknown reason";
    if (code === "EEXIST") throw exists(name);
    const why = `The file ${name} cannot be written (${code}); run init in another folder.`;
    throw new WarehouseError("config.output", why, { cause });
  });
}

/** Address of the service as the file will have it. Throws `config.invalid`. */
function addressOf(text: string | undefined): string {
  if (text === undefined) throw invalidConfig("The address of the service is missing; give --url URL.");
  const result = readServiceUrl(text);
  if ("problem" in result) throw invalidConfig(`--url: ${result.problem}.`);
  return result.url.origin + result.url.prefix;
}

/** Destinations of the default platform that items name and the service knows. Throws the errors of a run. */
async function destinationsAt(
  { url, tokenFile }: { readonly url: string; readonly tokenFile: string },
  environment: CliEnvironment,
) {
  const { cwd, env, out } = environment;
  const config = await loadConfig({
    cwd,
    env,
    flags: { config: null, url, tokenFile },
    sampleBy: '"content-warehouse run nightly --sample"',
  });
  await using source = await openSource(config);
  const log = logTo(environment.err, { level: "warn", format: "text", secrets: source.secrets });
  const { client } = openClient(source, { config, clock: systemClock, log }, null);
  const { signal } = new AbortController();
  try {
    const probe = new Probe(client, config.aliases, signal);
    const { items } = await probe.service();
    const names = await probe.destinationNames();
    const wanted = names.slice(0, MAX_LOOKUPS).map((name) => ({ name, platform: DEFAULT_PLATFORM }));
    const { unmatched } = await new Lookups(client, config.lookupMethod).destinations(wanted, signal);
    const found = wanted.filter((one) => !unmatched.includes(one));
    const named = found.map(({ name }) => JSON.stringify(printable(name))).join(", ") || "none";
    const answer = `${source.url.host} answers: the token can read ${pluralize(items, "item")}. Their destinations: ${named}.`;
    await writeResult(out, `${answer}\n`);
    return found;
  } finally {
    await client.close();
  }
}

function exists(name: string): WarehouseError {
  return new WarehouseError(
    "config.output",
    `There is already a file ${name}, and init overwrites nothing; edit it, or run init in another folder.`,
  );
}
