import { Command, CommanderError, type OutputConfiguration } from "commander";
import { asWarehouseError, type WarehouseError } from "../common/errors.ts";
import type { LogFormat } from "../common/log.ts";
import { VERSION } from "../common/version.ts";
import { jsonLine, paragraph, printableText, writeAll, writeOutcome } from "../show/terminal.ts";
import { invalid, logTo, processEnvironment } from "./command.ts";
import { exitCodesLine, hintFor } from "./exit-codes.ts";
import { HELP, HELP_WIDTH } from "./help.ts";
import { usageError } from "./usage-error.ts";
import { keepHeapsSmall } from "./v8-flags.ts";

const AFTER = `
${paragraph("", `Exit codes: ${exitCodesLine()}.`, HELP_WIDTH)}
"content-warehouse help exit-codes" says what to do after each, and
"content-warehouse help configuration" lists the settings.

Examples:
  $ content-warehouse run nightly --sample
  $ content-warehouse sql "SELECT title, published_date FROM content LIMIT 5"
`;

/**
 * By who uses them, in the order of the help. Each is loaded where it is wanted: most of the time of a short command is
 * loading.
 */
const GROUPS = {
  "Every night": {
    init: async () => (await import("./commands/init.ts")).initCommand(),
    check: async () => (await import("./commands/check.ts")).checkCommand(),
    run: async () => (await import("./commands/run.ts")).runCommand(),
    runs: async () => (await import("./commands/runs.ts")).runsCommand(),
    verify: async () => (await import("./commands/verify.ts")).verifyCommand(),
    replay: async () => (await import("./commands/replay.ts")).replayCommand(),
  },
  "Look and ask": {
    sql: async () => (await import("./commands/sql.ts")).sqlCommand(),
    schema: async () => (await import("./commands/schema.ts")).schemaCommand(),
    report: async () => (await import("./commands/report.ts")).reportCommand(),
  },
  Explain: {
    audit: async () => (await import("./commands/audit.ts")).auditCommand(),
    explain: async () => (await import("./commands/explain.ts")).explainCommand(),
    diff: async () => (await import("./commands/diff.ts")).diffCommand(),
    "what-if": async () => (await import("./commands/what-if.ts")).whatIfCommand(),
  },
  "Targets and the lake": {
    deliver: async () => (await import("./commands/deliver.ts")).deliverCommand(),
    lake: async () => (await import("./commands/lake.ts")).lakeCommand(),
    restore: async () => (await import("./commands/restore.ts")).restoreCommand(),
  },
  "Develop against the service": {
    serve: async () => (await import("./commands/serve.ts")).serveCommand(),
  },
  More: {
    help: async () => (await import("./commands/help.ts")).helpCommand(),
  },
} as const satisfies Record<string, Record<string, () => Promise<Command>>>;

const COMMANDS = Object.entries(GROUPS).flatMap(([group, commands]) =>
  Object.entries(commands).map(([name, make]) => ({ name, group: `${group}:`, make })),
);

/** Help and the version: commander writes them at once, and would not know that a stream refuses them. */
interface HelpOutput {
  readonly out: string[];
  readonly err: string[];
}

/**
 * The whole command line; a command that ends itself, such as one for help, throws a CommanderError. What commander prints
 * is added to `printed`. `names`: the commands that it has.
 */
export async function program(
  printed: HelpOutput = { out: [], err: [] },
  names: readonly string[] = COMMANDS.map(({ name }) => name),
): Promise<Command> {
  const root = new Command("content-warehouse")
    .description("Exports a content-management service to DuckDB and Parquet.")
    .version(VERSION)
    .option("--debug", "show the stack trace of a failure")
    .option("--no-color", "no colours; so does NO_COLOR")
    .addHelpText("after", AFTER)
    .helpCommand(false)
    .hook("preAction", (_root, command) => refuseEmptyText(command));
  for (const { name, group, make } of COMMANDS)
    if (names.includes(name)) root.addCommand((await make()).helpGroup(group));
  for (const command of everyCommand(root)) tellErrorsOnce(command, printed);
  return root;
}

/** Wrong arguments are thrown, and told where all failures are; what ends for help or a version stays commander's. */
function tellErrorsOnce(command: Command, printed: HelpOutput): void {
  command
    .configureHelp(HELP)
    .configureOutput(outputTo(printed))
    .exitOverride((ended) => {
      throw usageError(ended, command) ?? ended;
    });
}

function outputTo({ out, err }: HelpOutput): OutputConfiguration {
  return {
    getOutHelpWidth: () => HELP_WIDTH,
    getErrHelpWidth: () => HELP_WIDTH,
    writeOut: (text) => out.push(text),
    writeErr: (text) => err.push(text),
    outputError: () => {},
  };
}

/** An external value may be the empty text. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(["--value"]);

/**
 * Refuses empty text for any option or argument of a command: a variable that is not set leaves one, and an empty path
 * would be the working directory. Throws `config.invalid`.
 */
function refuseEmptyText(command: Command): void {
  for (const option of command.options) {
    if (MAY_BE_EMPTY.has(option.long ?? "") || !isEmpty(command.getOptionValue(option.attributeName())))
      continue;
    throw empty(`The option ${option.long}`, !option.mandatory);
  }
  for (const [index, argument] of command.registeredArguments.entries()) {
    if (isEmpty(command.processedArgs[index]))
      throw empty(`The argument ${argument.name()}`, !argument.required);
  }
}

/** Of an argument that takes several, any that is empty. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isEmpty);
  return typeof value === "string" && value.trim() === "";
}

function empty(what: string, isOptional: boolean): WarehouseError {
  return invalid(
    `${what} is empty, as a variable that is not set leaves it; give it a value${isOptional ? ", or leave it out" : ""}.`,
  );
}

export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/**
 * Blanks and ends of lines around an argument, and around the value in `--option=value`, are not meant: what is cut from a
 * CSV of another system ends with a carriage return. U+FEFF is neither, whatever JavaScript takes it for.
 */
function trimmed(argument: string): string {
  return argument.replace(/^[^\S\uFEFF]+|[^\S\uFEFF]+$/g, "").replace(/^(--[\w-]+=)\s+/, "$1");
}

/** Commands that need all of the process. */
const ALONE: readonly string[] = ["run", "replay", "sql"];

/** Runs the command line and returns the exit code. A failure is one sentence on standard error. */
export async function main(argv: readonly string[]): Promise<number> {
  const { out, err } = processEnvironment();
  const printed: HelpOutput = { out: [], err: [] };
  const names = wantedNames(argv);
  const root = await program(printed, names);
  // A young generation that is small before the modules are loaded takes longer to load them.
  if (names?.some((name) => ALONE.includes(name))) keepHeapsSmall();
  try {
    const exitCode = await parsed(root, argv);
    // Of a command that has told already that its outcome was not taken, nothing is to be tried again.
    if (printed.out.length > 0) await writeAll(out, printed.out);
    for (const text of printed.err) err.write(text);
    return exitCode;
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    const form = failureForm(argv);
    if (form.isJson) {
      const { code, message, exitCode } = error;
      const text = jsonLine({ code, message, hint: hintFor(exitCode), exitCode });
      await writeOutcome(processEnvironment(), { text, done: "The failure" });
    }
    tell(thrown, form.logFormat, root.opts<{ debug?: boolean }>().debug === true);
    return error.exitCode;
  }
}

/** The command that is named; all of them for help, and where none of that name is there to find the nearest. */
function wantedNames(argv: readonly string[]): readonly string[] | undefined {
  const word = argv
    .slice(2)
    .map(trimmed)
    .find((each) => !each.startsWith("-"));
  const named = COMMANDS.find(({ name }) => name === word)?.name;
  return named === undefined || named === "help" ? undefined : [named];
}

/** Runs the command and gives the exit code. */
async function parsed(root: Command, argv: readonly string[]): Promise<number> {
  try {
    await root.parseAsync(argv.slice(2).map(trimmed), { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (thrown) {
    // Help or the version is to be printed, be it because there was no command.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    throw thrown;
  }
}

/** The sentence on standard error, in the form of the log. */
function tell(thrown: unknown, format: LogFormat, debug: boolean): void {
  const { message, code } = asWarehouseError(thrown);
  const hint = code === "internal" ? ["Run again with --debug to see where."] : [];
  const texts = [message, ...(debug ? [describe(thrown)] : hint)];
  if (format === "json") {
    const log = logTo(process.stderr, { level: "error", format, secrets: [] });
    log.error(texts.join(" "), { code });
  } else process.stderr.write(texts.map((text) => `${printableText(text)}\n`).join(""));
}

/** Read from the words themselves: the arguments may be what is wrong. `run --json` prints an object also where it fails. */
function failureForm(argv: readonly string[]): { readonly isJson: boolean; readonly logFormat: LogFormat } {
  const words = argv.slice(2);
  const isRun = words.find((word) => !word.startsWith("-")) === "run";
  const at = words.indexOf("--log-format");
  const isJsonLog = words.includes("--log-format=json") || (at >= 0 && words[at + 1] === "json");
  return { isJson: isRun && words.includes("--json"), logFormat: isRun && isJsonLog ? "json" : "text" };
}

/** Stack of an error and of what caused it. */
function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const stack = thrown.stack ?? thrown.message;
  return thrown.cause === undefined ? stack : `${stack}\ncaused by: ${describe(thrown.cause)}`;
}
