/** The whole command line: its commands, its help, and how failures are reported. */
import { Command, CommanderError } from "commander";
import { asWarehouseError, invalidConfig, type WarehouseError } from "../common/errors.ts";
import type { LogFormat } from "../common/log.ts";
import { printable } from "../common/printable.ts";
import { VERSION } from "../common/version.ts";
import { jsonLine, paragraph, printableText, writeAll, writeOutcome } from "../show/terminal.ts";
import { logTo, processEnvironment } from "./command.ts";
import { commandPath, EXIT_CODES, HELP_WIDTH } from "./help.ts";
import { keepHeapsSmall } from "./v8-flags.ts";

const CODES = EXIT_CODES.map(([code, , short]) => `${code} ${short}`).join(", ");
const AFTER = `
${paragraph("", `Exit codes: ${CODES}.`, HELP_WIDTH)}
"content-warehouse help exit-codes" says what to do after each, and
"content-warehouse help configuration" lists the settings.

Examples:
  $ content-warehouse run nightly --sample
  $ content-warehouse sql "SELECT title, published_date FROM content LIMIT 5"
`;

/** Commands in the order of the help. Each is loaded only if it is needed: loading takes most of a short command's time. */
const GROUPS = {
  "Every night": {
    init: async () => (await import("./commands/init.ts")).initCommand(),
    check: async () => (await import("./commands/check.ts")).checkCommand(),
    run: async () => (await import("./commands/run.ts")).runCommand(),
    runs: async () => (await import("./commands/runs.ts")).runsCommand(),
    verify: async () => (await import("./commands/verify.ts")).verifyCommand(),
    replay: async () => (await import("./commands/replay.ts")).replayCommand(),
  },
  Query: {
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

/** What the help of the program says of each command, so that it loads none. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  init: "write a first configuration",
  check: "check that a run can start, and say what to fix",
  run: "run a pipeline: export the content and publish it",
  runs: "list, show, roll back and remove published runs",
  verify: "verify that runs are still as they were published",
  replay: "build the current run again from its raw documents",
  sql: "query the published warehouse in SQL, read-only",
  schema: "show tables and views: columns, keys, comments and origins",
  report: "write a run as one HTML page, with the payloads of each item",
  audit: "show which values the mappings cover, and which they do not",
  explain: "explain the external values of an item, step by step",
  diff: "show what changed between two runs, and why",
  "what-if": "show what an edited mapping would change, value by value",
  deliver: "deliver a published run to the configured targets",
  lake: "show, verify and clean up the lake, or remove an instance",
  restore: "bring the last run back from a lake",
  serve: "serve a content set as the service would",
  help: "show the help of a command, or of a topic",
};

const COMMANDS = Object.entries(GROUPS).flatMap(([group, commands]) =>
  Object.entries(commands).map(([name, make]) => ({ name, group: `${group}:`, make })),
);

/** Help and version texts. Commander itself would not notice that a stream refuses them. */
interface HelpOutput {
  readonly out: string[];
  readonly err: string[];
}

/**
 * Builds the command line; of commands but `names` it has only what the help says. What commander prints is added to `printed`. Parsing throws a
 * `CommanderError` after help or the version, and `config.invalid` for wrong arguments.
 */
export async function program(
  printed: HelpOutput = { out: [], err: [] },
  names: readonly string[] = COMMANDS.map(({ name }) => name),
): Promise<Command> {
  const root = new Command("content-warehouse")
    .description("Exports a content-management service to DuckDB and Parquet.")
    .version(VERSION, "-V, --version", "print the version")
    .option("--debug", "show the stack trace of a failure")
    .option("--no-color", "print no colours; NO_COLOR does the same")
    .on("option:no-color", () => {
      process.env.NO_COLOR = "1";
    })
    .addHelpText("after", AFTER)
    .helpCommand(false);
  for (const { name, group, make } of COMMANDS) {
    const command = names.includes(name) ? await make() : new Command(name);
    root.addCommand(command.description(DESCRIPTIONS[name] ?? "").helpGroup(group));
  }
  for (const command of everyCommand(root)) {
    command
      .configureHelp({ subcommandTerm: (each) => each.name() })
      .helpOption("-h, --help", "show this help")
      .configureOutput({
        getOutHelpWidth: () => HELP_WIDTH,
        getErrHelpWidth: () => HELP_WIDTH,
        writeOut: (text) => printed.out.push(text),
        writeErr: (text) => printed.err.push(text),
        outputError: () => {},
      })
      .exitOverride((ended) => {
        throw usageError(ended, command) ?? ended;
      });
  }
  return root;
}

/** A `config.invalid` of commander's message; `undefined` if commander only printed help or the version. */
function usageError({ message, code }: CommanderError, command: Command): WarehouseError | undefined {
  if (!message.startsWith("error: ")) return undefined;
  const path = commandPath(command);
  const [asked = "", run = ""] = command.args;
  if (code === "commander.excessArguments" && command.options.some(({ long }) => long === "--run"))
    return invalidConfig(
      command.name() === "sql" && !/\s/.test(asked)
        ? `"${path}": the query has several arguments; put it in quotation marks.`
        : `"${path}": to ask another run, use --run ${printable(run, 100)}.`,
    );
  const fault = printable(message.slice("error: ".length).replaceAll("\n", " "), 1000).replace(/\.?$/, ".");
  const help = fault.includes("(Did you mean ") ? "" : ` See "${path} --help".`;
  return invalidConfig(`"${path}": ${fault}${help}`);
}

/**
 * Throws `config.invalid` for an empty argument. A variable that is not set leaves one, and an empty path would mean the
 * working directory. `--value ""` asks for an empty external value.
 */
function refuseEmptyWords(words: readonly string[]): void {
  for (const [at, word] of words.entries()) {
    const [, named = words[at - 1] ?? ""] = /^(--[\w-]+)=$/.exec(word) ?? [];
    if ((word !== "" && word !== `${named}=`) || named === "--value") continue;
    const what = named.startsWith("-") ? `The value of ${named}` : "An argument";
    throw invalidConfig(`${what} is empty, perhaps because a variable is not set; give it, or leave it out.`);
  }
}

export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/**
 * Removes white space around an argument and before the value in `--option=value`: text copied from a CSV file may end
 * with a carriage return. U+FEFF stays, although JavaScript counts it as white space.
 */
function trimmed(argument: string): string {
  return argument.replace(/^[^\S\uFEFF]+|[^\S\uFEFF]+$/g, "").replace(/^(--[\w-]+=)\s+/, "$1");
}

/** A comment of SQL and more lines, which is no option: a line break before it tells the parser so. */
function withoutOption(word: string): string {
  return word.replace(/^--(?![\w-]+=).*\n/, "\n$&");
}

/** Commands that need the memory of the whole process. */
const MEMORY_HUNGRY: readonly string[] = ["run", "replay", "sql"];

/** Runs the command line and returns the exit code. Prints a failure as one sentence on standard error. */
export async function main(argv: readonly string[]): Promise<number> {
  const { out, err } = processEnvironment();
  const printed: HelpOutput = { out: [], err: [] };
  const names = wantedNames(argv);
  const root = await program(printed, names);
  // After the modules are loaded: with a small young generation loading takes longer.
  if (names.some((name) => MEMORY_HUNGRY.includes(name))) keepHeapsSmall();
  try {
    const exitCode = await parsed(root, argv);
    if (printed.out.length > 0) await writeAll(out, printed.out);
    for (const text of printed.err) err.write(text);
    return exitCode;
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    const form = failureForm(argv);
    if (form.isJson) {
      const { code, message, exitCode } = error;
      const [, , , hint = null] = EXIT_CODES.find(([each]) => each === exitCode) ?? [];
      const text = jsonLine({ code, message, hint, exitCode });
      await writeOutcome(processEnvironment(), { text, done: "The failure" });
    }
    reportFailure(thrown, form.logFormat, root.opts<{ debug?: boolean }>().debug === true);
    return error.exitCode;
  }
}

/** The command that the arguments name, and after `help` the one that it is asked about. */
function wantedNames(argv: readonly string[]): readonly string[] {
  const words = argv.slice(2).map(trimmed);
  const [first = "", second = ""] = words.filter((each) => !each.startsWith("-"));
  return first === "help" ? [first, second] : [first];
}

async function parsed(root: Command, argv: readonly string[]): Promise<number> {
  const words = argv.slice(2).map(trimmed).map(withoutOption);
  refuseEmptyWords(words);
  try {
    await root.parseAsync(words, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (thrown) {
    // Help or the version was asked for, or there was no command.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    throw thrown;
  }
}

/** Writes a failure to standard error, in the format of the log. */
function reportFailure(thrown: unknown, format: LogFormat, debug: boolean): void {
  const { message, code } = asWarehouseError(thrown);
  const hint = code === "internal" ? ["Run again with --debug to see where."] : [];
  const texts = [message, ...(debug ? [describe(thrown)] : hint)];
  if (format === "json") {
    const log = logTo(process.stderr, { level: "error", format, secrets: [] });
    log.error(texts.join(" "), { code });
  } else process.stderr.write(texts.map((text) => `${printableText(text)}\n`).join(""));
}

/** How `run` reports a failure, read from the raw words because parsing them may be what failed. */
function failureForm(argv: readonly string[]): { readonly isJson: boolean; readonly logFormat: LogFormat } {
  const words = argv.slice(2);
  const isRun = words.find((word) => !word.startsWith("-")) === "run";
  const at = words.indexOf("--log-format");
  const isJsonLog = words.includes("--log-format=json") || (at >= 0 && words[at + 1] === "json");
  return { isJson: isRun && words.includes("--json"), logFormat: isRun && isJsonLog ? "json" : "text" };
}

/** Stack of an error and of its causes. */
function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const stack = thrown.stack ?? thrown.message;
  return thrown.cause === undefined ? stack : `${stack}\ncaused by: ${describe(thrown.cause)}`;
}
