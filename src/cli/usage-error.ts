/** Wrong arguments: commander's own messages, with the command in front. */
import type { Command, CommanderError } from "commander";
import { WarehouseError } from "../common/errors.ts";
import { printable } from "../common/printable.ts";

/** `content-warehouse runs list` */
export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

/** What commander threw, as `config.invalid`; undefined: it is no error, but help or a version that was printed. */
export function usageError({ message }: CommanderError, command: Command): WarehouseError | undefined {
  if (!message.startsWith("error: ")) return undefined;
  const path = commandPath(command);
  const said = printable(message.slice("error: ".length).replaceAll("\n", " "), 1000).replace(/\.?$/, ".");
  const help = said.includes("(Did you mean ") ? "" : ` See "${path} --help".`;
  return new WarehouseError("config.invalid", `"${path}": ${said}${help}`);
}
