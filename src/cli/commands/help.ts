import { Command } from "commander";
import { didYouMean } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import { settingsText } from "../../config/config-spec.ts";
import { writeAnswer } from "../../show/terminal.ts";
import { invalid, processEnvironment } from "../command.ts";
import { exitCodesText } from "../exit-codes.ts";
import { wrapHelp } from "../help.ts";
import { commandPath } from "../usage-error.ts";

const CONFIGURATION = `A run takes its settings from flags, from the environment, and from the file content-warehouse.config.ts (or .mts, .js, .mjs, .json) in the working directory, or the one that --config names. Flags win over the environment, the environment over the file.

Environment:
  CONTENT_API_URL             address of the service
  CONTENT_API_TOKEN           its API token; never a flag, and never in the file
  CONTENT_WAREHOUSE_DIR       folder of the warehouse
  CONTENT_WAREHOUSE_INSTANCE  name in a lake, where its target has no \`instance\`
  CONTENT_WAREHOUSE_HASH_KEY  key for \`personalData: "hash"\`, 32 bytes or more
  HTTPS_PROXY                 proxy for https addresses, where the file has no \`proxy\`
  NO_PROXY                    hosts that are reached without a proxy
  NO_COLOR                    set to anything: no colours

Settings of the file:
`;

const TOPICS: Readonly<Record<string, () => string>> = {
  "exit-codes": exitCodesText,
  configuration: () => CONFIGURATION + settingsText(),
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
    .description("show the help of a command, or of a topic")
    .argument("[topic...]", "a command, or one of the topics below")
    .addHelpText("after", EXAMPLES)
    .action(async (words: readonly string[], _options: unknown, own: Command) => {
      const page = TOPICS[words.join(" ")];
      if (page === undefined) findCommand(own.parent ?? own, words).outputHelp();
      else await writeAnswer(out, wrapHelp(page()));
    });
}

/** Throws `config.invalid` for a word that is no command, with the nearest one. */
function findCommand(root: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const found = command.commands.find((each) => each.name() === word);
    if (found !== undefined) return found;
    const names = [...command.commands.map((each) => each.name()), ...Object.keys(TOPICS)];
    throw invalid(
      `"${commandPath(command)}" has no command "${printable(word)}"${didYouMean(word, names)}; topics are ${Object.keys(TOPICS).join(" and ")}.`,
    );
  }, root);
}
