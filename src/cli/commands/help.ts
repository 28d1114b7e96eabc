/** `help`: the help of a command, the exit codes, or the settings. */
import { Command } from "commander";
import { invalidConfig } from "../../common/errors.ts";
import { didYouMean } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import { paragraph, writeResult } from "../../show/terminal.ts";
import { processEnvironment } from "../command.ts";
import { commandPath, EXIT_CODES, HELP_WIDTH } from "../help.ts";

const CONFIGURATION = `Settings come from flags, from environment variables and from a file, in this order of precedence. The file is content-warehouse.config.ts (or .mts, .js, .mjs, .json) in the working directory, or the one that --config names.

Environment:
  CONTENT_API_URL             address of the service
  CONTENT_API_TOKEN           its API token; it cannot be a flag or a setting
  CONTENT_WAREHOUSE_DIR       folder of the warehouse
  CONTENT_WAREHOUSE_INSTANCE  name in a lake, if the target has no \`instance\`
  CONTENT_WAREHOUSE_HASH_KEY  key for \`personalData: "hash"\`, at least 32 bytes
  HTTPS_PROXY                 proxy for https addresses, if the file has no \`proxy\`
  NO_PROXY                    hosts to reach without the proxy
  NO_COLOR                    any value: no colours

Settings in the file:
`;

const TOPICS: Readonly<Record<string, () => Promise<string>>> = {
  "exit-codes": async () => exitCodesText(),
  configuration: async () => CONFIGURATION + (await import("../../config/config-spec.ts")).settingsText(),
};

const EXAMPLES = `
Topics: ${Object.keys(TOPICS).join(", ")}

Examples:
  $ content-warehouse help exit-codes
  $ content-warehouse help configuration
  $ content-warehouse help runs list
`;

export function helpCommand({ out } = processEnvironment()): Command {
  return new Command("help")
    .argument("[topic...]", "a command, or one of the topics below")
    .addHelpText("after", EXAMPLES)
    .action(async (words: readonly string[], _options: unknown, own: Command) => {
      const page = TOPICS[words.join(" ")];
      if (page === undefined) findCommand(own.parent ?? own, words).outputHelp();
      else await writeResult(out, wrapHelp(await page()));
    });
}

function exitCodesText(): string {
  const lines = EXIT_CODES.map(
    ([code, then, short, hint]) => `  ${String(code).padStart(3)}  ${then.padEnd(5)}  ${short}: ${hint}\n`,
  );
  return `Exit codes: 0 and 10 mean that a run was published. With any other code nothing was published, unless the message says so: code 26 and signals may concern only the delivery. The second column says what a scheduler should do: "retry" a few times, each time later; "stop" until somebody has looked.\n\n${lines.join("")}`;
}

/** The term of a list: spaces, then text up to a gap of two spaces. */
const TERM = /^( *(?:\S+(?: \S+)* {2,})?)(.*)$/;

/** Breaks lines that are too wide; a list continues below its description. */
function wrapHelp(text: string): string {
  const lines = text.split("\n").map((line) => {
    const [, term = "", rest = line] = TERM.exec(line) ?? [];
    return line.length > HELP_WIDTH ? paragraph(term, rest, HELP_WIDTH).trimEnd() : line;
  });
  return lines.join("\n");
}

/** Throws `config.invalid` for an unknown command, and names the nearest. */
function findCommand(root: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const found = command.commands.find((each) => each.name() === word);
    if (found !== undefined) return found;
    const names = [...command.commands.map((each) => each.name()), ...Object.keys(TOPICS)];
    throw invalidConfig(
      `"${commandPath(command)}" has no command "${printable(word)}"${didYouMean(word, names)}; topics are ${Object.keys(TOPICS).join(" and ")}.`,
    );
  }, root);
}
