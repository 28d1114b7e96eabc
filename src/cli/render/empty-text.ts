import type { Command } from "commander";
import { WarehouseError } from "../../common/errors.ts";

/** An external value may be the empty text. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(["--value"]);

/**
 * Refuses empty text for any option or argument of a command: a variable that is not set leaves one, and an empty path
 * would be the working directory. Throws `config.invalid`.
 */
export function refuseEmptyText(command: Command): void {
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
