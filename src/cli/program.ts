import { Command, CommanderError, type OutputConfiguration } from "commander";
import { asWarehouseError, type WarehouseError } from "../common/errors.ts";
import type { LogFormat } from "../common/log.ts";
import { VERSION } from "../common/version.ts";
import { jsonLine, printableText, writeAll, writeOutcome } from "../show/terminal.ts";
import { invalid, logTo, processEnvironment } from "./command.ts";
import { auditCommand } from "./commands/audit.ts";
import { checkCommand } from "./commands/check.ts";
import { deliverCommand } from "./commands/deliver.ts";
import { diffCommand } from "./commands/diff.ts";
import { driftCommand } from "./commands/drift.ts";
import { eraseCommand } from "./commands/erase.ts";
import { explainCommand } from "./commands/explain.ts";
import { fleetCommand } from "./commands/fleet.ts";
import { helpCommand } from "./commands/help.ts";
import { initCommand } from "./commands/init.ts";
import { lakeCommand } from "./commands/lake.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { rejectsCommand } from "./commands/rejects.ts";
import { replayCommand } from "./commands/replay.ts";
import { reportCommand } from "./commands/report.ts";
import { restoreCommand } from "./commands/restore.ts";
import { runCommand } from "./commands/run.ts";
import { runsCommand } from "./commands/runs.ts";
import { schemaCommand } from "./commands/schema.ts";
import { serveCommand } from "./commands/serve.ts";
import { sqlCommand } from "./commands/sql.ts";
import { targetsCommand } from "./commands/targets.ts";
import { verifyCommand } from "./commands/verify.ts";
import { whatIfCommand } from "./commands/what-if.ts";
import { exitCodesLine, hintFor } from "./exit-codes.ts";
import { HELP_WIDTH, wrapHelp } from "./help.ts";
import { usageError } from "./usage-error.ts";

const AFTER = `
Exit codes: ${exitCodesLine()}.

"content-warehouse help exit-codes" says what to do after each, and
"content-warehouse help configuration" lists the settings.

Examples:
  $ content-warehouse run nightly --sample
  $ content-warehouse sql "SELECT title, published_date FROM content LIMIT 5"
`;

/** Help and the version: commander writes them at once, and would not know that a stream refuses them. */
interface Printed {
  readonly out: string[];
  readonly err: string[];
}

/**
 * The whole command line; a command that ends itself, such as one for help, throws a CommanderError. What commander prints
 * is added to `printed`.
 */
export function program(printed: Printed = { out: [], err: [] }): Command {
  const root = new Command("content-warehouse")
    .description("Exports a content-management service to DuckDB and Parquet.")
    .version(VERSION)
    .option("--debug", "show the stack trace of a failure")
    .option("--no-color", "no colours; so does NO_COLOR")
    .addHelpText("after", AFTER)
    .helpCommand(false)
    .hook("preAction", (_root, command) => refuseEmptyText(command));
  const commands = [
    initCommand(),
    checkCommand(),
    runCommand(),
    serveCommand(),
    sqlCommand(),
    schemaCommand(),
    runsCommand(),
    verifyCommand(),
    replayCommand(),
    deliverCommand(),
    targetsCommand(),
    lakeCommand(),
    restoreCommand(),
    auditCommand(),
    reportCommand(),
    rejectsCommand(),
    eraseCommand(),
    explainCommand(),
    diffCommand(),
    driftCommand(),
    whatIfCommand(),
    fleetCommand(),
    mcpCommand(),
    helpCommand(),
  ];
  for (const command of commands) root.addCommand(command);
  for (const command of everyCommand(root)) tellErrorsOnce(command, printed);
  return root;
}

/** Wrong arguments are thrown, and told where all failures are; what ends for help or a version stays commander's. */
function tellErrorsOnce(command: Command, printed: Printed): void {
  command.configureOutput(outputTo(printed)).exitOverride((ended) => {
    throw usageError(ended, command) ?? ended;
  });
}

/** Help is as wide as a terminal of old, whoever wrote its lines. */
function outputTo({ out, err }: Printed): OutputConfiguration {
  return {
    getOutHelpWidth: () => HELP_WIDTH,
    getErrHelpWidth: () => HELP_WIDTH,
    writeOut: (text) => out.push(wrapHelp(text)),
    writeErr: (text) => err.push(wrapHelp(text)),
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

/** Runs the command line and returns the exit code. A failure is one sentence on standard error. */
export async function main(argv: readonly string[]): Promise<number> {
  const { out, err } = processEnvironment();
  const printed: Printed = { out: [], err: [] };
  const root = program(printed);
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
