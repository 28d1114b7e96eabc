/**
 * Commands that a command suggests: to be pasted as they are, and about the same warehouse, configuration and target.
 * Errors, warnings and answers name them bare, as `"content-warehouse deliver"`; where they leave the command line they get
 * the places that were given.
 */
import { WarehouseError } from "../common/errors.ts";
import type { Log } from "../common/log.ts";
import { shellWord } from "../show/terminal.ts";

/** Options as somebody gave them; undefined: not given. */
export interface Given {
  readonly warehouse?: string | undefined;
  readonly config?: string | null | undefined;
  readonly target?: string | undefined;
  /** What follows `run`, where it was given: a pipeline, and which service it reads. */
  readonly run?: string | undefined;
}

type Place = "target" | "warehouse" | "config";
const FOLDER: readonly Place[] = ["warehouse", "config"];
const DELIVERED: readonly Place[] = ["target", ...FOLDER];

/** The options that the commands which are suggested take; those that are not here take none, or are whole as they are. */
export const TAKEN: Readonly<Record<string, readonly Place[]>> = {
  check: FOLDER,
  run: FOLDER,
  runs: FOLDER,
  verify: FOLDER,
  rejects: FOLDER,
  replay: FOLDER,
  sql: FOLDER,
  report: FOLDER,
  audit: FOLDER,
  diff: FOLDER,
  drift: FOLDER,
  targets: FOLDER,
  deliver: DELIVERED,
  restore: DELIVERED,
  lake: ["target", "config"],
};

const QUOTED = /"(content-warehouse \S[^"]*)"/g;
const IS_WHOLE = /--(warehouse|config|sample|help)\b/;

/**
 * Whatever leaves the command line, with the places in each command that it suggests: within a text the quoted ones, and a
 * text that is a command alone.
 */
export function placed<T>(value: T, given: Given): T {
  return placedIn(value, given) as T;
}

function placedIn(value: unknown, given: Given): unknown {
  if (typeof value === "string") return placedText(value, given);
  if (Array.isArray(value)) return value.map((each) => placedIn(each, given));
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, placedIn(each, given)]));
}

function placedText(text: string, given: Given): string {
  if (/^content-warehouse \S/.test(text)) return placedCommand(text, given);
  return text.replaceAll(QUOTED, (_, command: string) => `"${placedCommand(command, given)}"`);
}

/** `content-warehouse deliver --warehouse /srv/warehouse --config cw.config.json`, quoted for a shell. */
function placedCommand(command: string, given: Given): string {
  const [, name = ""] = command.split(" ");
  const taken = TAKEN[name];
  if (taken === undefined || IS_WHOLE.test(command)) return command;
  const { run, target } = given;
  const again = command === "content-warehouse run" && run !== undefined ? `${command} ${run}` : command;
  const isNamed = command.includes(" --target ") || !taken.includes("target");
  const places = FOLDER.filter((place) => taken.includes(place)).map(
    (place) => [place, given[place]] as const,
  );
  const options = [["target", isNamed ? undefined : target] as const, ...places].flatMap(([option, value]) =>
    value == null ? [] : [` --${option} ${shellWord(value)}`],
  );
  return `${again}${options.join("")}`;
}

/** Whatever was thrown; the sentence of a failure has the places. */
export function placedError(thrown: unknown, given: Given): unknown {
  if (thrown instanceof WarehouseError) thrown.message = placed(thrown.message, given);
  return thrown;
}

export function placedLog(log: Log, given: Given): Log {
  return {
    ...log,
    warn: (message, fields) => log.warn(placed(message, given), fields),
    error: (message, fields) => log.error(placed(message, given), fields),
  };
}
