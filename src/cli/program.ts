import { Command, CommanderError } from "commander";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import { auditCommand } from "./commands/audit.ts";
import { diffCommand } from "./commands/diff.ts";
import { driftCommand } from "./commands/drift.ts";
import { eraseCommand } from "./commands/erase.ts";
import { explainCommand } from "./commands/explain.ts";
import { generateCommand } from "./commands/generate.ts";
import { rejectsCommand } from "./commands/rejects.ts";
import { reportCommand } from "./commands/report.ts";
import { runCommand } from "./commands/run.ts";
import { runsCommand } from "./commands/runs.ts";
import { schemaCommand } from "./commands/schema.ts";
import { serveCommand } from "./commands/serve.ts";
import { sqlCommand } from "./commands/sql.ts";
import { verifyCommand } from "./commands/verify.ts";
import { verifyMappingsCommand } from "./commands/verify-mappings.ts";
import { whatIfCommand } from "./commands/what-if.ts";
import { printableText } from "./render/terminal.ts";

const EXIT_CODES = `
Exit codes:
  0 ok, 1 internal failure, 2 configuration, 10 published but unsettled, 20 credentials, 21 service unavailable,
  22 protocol, 23 schema contract, 24 mass change, 25 audit threshold, 26 loader,
  30 disk, 31 verification, 75 another run is under way, 130 and 143 signals

Example:
  $ content-warehouse run nightly --sample
  $ content-warehouse sql "SELECT title, published_date FROM content ORDER BY published_date DESC LIMIT 5"
`;

/** The whole command line; a command that ends itself, such as one for help, throws a CommanderError. */
export function program(): Command {
  const root = new Command("content-warehouse")
    .description("Exports a content-management service to DuckDB and Parquet.")
    .version(VERSION)
    .option("--debug", "show the stack trace of a failure")
    .addHelpText("after", EXIT_CODES)
    .showSuggestionAfterError()
    .hook("preAction", (_root, command) => refuseEmptyText(command));
  const commands = [
    runCommand(),
    serveCommand(),
    generateCommand(),
    sqlCommand(),
    schemaCommand(),
    runsCommand(),
    verifyCommand(),
    auditCommand(),
    reportCommand(),
    rejectsCommand(),
    eraseCommand(),
    explainCommand(),
    diffCommand(),
    driftCommand(),
    whatIfCommand(),
    verifyMappingsCommand(),
  ];
  for (const command of commands) root.addCommand(command);
  for (const command of everyCommand(root)) command.exitOverride();
  return root;
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

function isEmpty(value: unknown): boolean {
  return typeof value === "string" && value.trim() === "";
}

function empty(what: string, isOptional: boolean): WarehouseError {
  return new WarehouseError(
    "config.invalid",
    `${what} is empty, as a variable that is not set leaves it; give it a value${isOptional ? ", or leave it out" : ""}.`,
  );
}

/** A command and all within it. */
export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** Runs the command line and returns the exit code. A failure is one sentence on standard error. */
export async function main(argv: readonly string[]): Promise<number> {
  // Progress and the log go to standard error: where they are not taken, be it by a reader that went away or by a disk
  // that is full, the command goes on, and its exit code tells how it ended.
  process.stderr.on("error", () => {});
  const root = program();
  try {
    await root.parseAsync([...argv]);
    return Number(process.exitCode ?? 0);
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    const error = asWarehouseError(thrown);
    const debug = root.opts<{ debug?: boolean }>().debug === true;
    process.stderr.write(`${printableText(error.message)}\n`);
    if (debug) process.stderr.write(`${printableText(describe(thrown))}\n`);
    else if (error.code === "internal") process.stderr.write("Run again with --debug to see where.\n");
    return error.exitCode;
  }
}

/** Stack of an error and of what caused it. */
function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const stack = thrown.stack ?? thrown.message;
  return thrown.cause === undefined ? stack : `${stack}\ncaused by: ${describe(thrown.cause)}`;
}
