/** Wrong arguments: commander's errors as one sentence each, with the nearest name or where to look. */
import type { Command, CommanderError } from "commander";
import { WarehouseError } from "../common/errors.ts";
import { counted } from "../common/figures.ts";
import { listed, nearest } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";

/** `content-warehouse runs list` */
export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

/** What commander threw, as `config.invalid`; undefined: it is no error, but help or a version that was printed. */
export function usageError({ code, message }: CommanderError, command: Command): WarehouseError | undefined {
  const say = SENTENCES[code];
  if (say === undefined) return undefined;
  return new WarehouseError("config.invalid", say(command, message.replace(/^error: /, "")));
}

type Sentence = (command: Command, message: string) => string;

const SENTENCES: Readonly<Record<string, Sentence>> = {
  "commander.unknownOption": (command, message) => {
    const flag = firstQuoted(message);
    return unknown(command, `option ${flag}`, nearest(flag, optionNames(command)), "options");
  },
  "commander.unknownCommand": (command, message) => noCommand(command, firstQuoted(message)),
  "commander.excessArguments": excessArguments,
  "commander.missingArgument": (command, message) => {
    const name = firstQuoted(message);
    const description = command.registeredArguments.find((each) => each.name() === name)?.description;
    return `"${commandPath(command)}" needs <${name}>, ${description}; ${helpOf(command)} has examples.`;
  },
  "commander.optionMissingArgument": (_command, message) =>
    `The option ${/--[\w-]+/.exec(message)?.[0]} needs a value: ${firstQuoted(message)}.`,
  "commander.missingMandatoryOptionValue": (command, message) => {
    const flags = firstQuoted(message);
    const description = command.options.find((each) => each.flags === flags)?.description ?? "";
    return `"${commandPath(command)}" needs ${flags}: ${description.replace(/ \(required\)$/, "")}.`;
  },
  "commander.conflictingOption": (_command, message) => {
    const [one, other] = message.match(/--[\w-]+/g) ?? [];
    return `${one} and ${other} exclude each other; leave one of them out.`;
  },
  "commander.invalidArgument": invalidArgument,
};

function optionNames(command: Command | null): string[] {
  if (command === null) return ["--help"];
  return [...command.options.flatMap(({ long }) => long ?? []), ...optionNames(command.parent)];
}

/** For a name that is no command within this one; `others` may be meant too. */
export function unknownCommand(command: Command, name: string, others: readonly string[]): WarehouseError {
  return new WarehouseError("config.invalid", noCommand(command, name, others));
}

function noCommand(command: Command, name: string, others: readonly string[] = []): string {
  const names = [...command.commands.map((each) => each.name()), ...others];
  const all = others.length === 0 ? "commands" : `commands; or name a topic: ${others.join(", ")}`;
  return unknown(command, `command "${printable(name)}"`, nearest(name, names), all);
}

function unknown(command: Command, what: string, [suggested]: readonly string[], all: string): string {
  const wayOut =
    suggested === undefined ? `${helpOf(command)} lists the ${all}.` : `did you mean ${suggested}?`;
  return `"${commandPath(command)}" has no ${what}; ${wayOut}`;
}

/** A word after a command that has commands and a default one is the name of one that there is not. */
function excessArguments(command: Command): string {
  const { parent, args, registeredArguments } = command;
  const [first = ""] = args;
  if (parent !== null && parent.parent !== null && registeredArguments.length === 0) {
    return noCommand(parent, first);
  }
  const most = registeredArguments.length;
  const takes = most === 0 ? "takes no arguments" : `takes ${counted(most, "argument")} at most`;
  const wayOut = most === 0 ? "leave that out" : "put quotes around one that has blanks";
  return `"${commandPath(command)}" ${takes}, and got ${printable(args.join(", "))}; ${wayOut}.`;
}

/** Of an option whose value is not one of its choices, or that its parser refused. */
function invalidArgument(command: Command, message: string): string {
  const [, flags = "", value = "", why = ""] =
    /^option '(.+?)' argument '(.*)' is invalid\. (.*)$/s.exec(message) ?? [];
  const option = command.options.find((each) => each.flags === flags);
  if (option === undefined) return message;
  const { long, argChoices } = option;
  if (argChoices === undefined) {
    return `${long} "${printable(value)}": ${why.charAt(0).toLowerCase()}${why.slice(1)}`;
  }
  const [suggested] = nearest(value, argChoices);
  const hint = suggested === undefined ? "." : `; did you mean ${suggested}?`;
  return `${long} takes ${listed(argChoices, "or")}, and not "${printable(value)}"${hint}`;
}

function helpOf(command: Command): string {
  return `"${commandPath(command)} --help"`;
}

/** Commander quotes the name that an error is about. */
function firstQuoted(message: string): string {
  return printable(/'(.*?)'/s.exec(message)?.[1] ?? "");
}
