/** Options that several commands have, and what they have around them. */
import { existsSync } from "node:fs";
import type { Writable } from "node:stream";
import { type Command, InvalidArgumentError, Option } from "commander";
import { systemClock } from "../common/clock.ts";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { createLog, type Log } from "../common/log.ts";
import type { Secret } from "../common/secret.ts";
import { type ConfigFlags, warehouseFolder } from "../config/config.ts";
import { DEFAULT_PLATFORM } from "../extract/content-client.ts";
import { type OutputFolder, outputFolder } from "../warehouse/layout.ts";
import { endSoon } from "./end-soon.ts";

/** Where the settings of a command come from. */
export interface Settings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. Throws where the folder was removed, so only those who need it ask. */
  readonly cwd: string;
  /** Takes progress and the log. */
  readonly err: { write(text: string): unknown };
}

/** An output of the program; one that is a terminal knows its width. */
export type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What a run has around it. */
export interface CliEnvironment extends Settings {
  /** Takes the summary. */
  readonly out: Stream;
  readonly err: Stream;
  /** Says how the program is to end although nothing failed. */
  readonly endWith: (exitCode: number) => void;
  /** Ends the program soon, whatever a user's function has under way. */
  readonly endSoon: () => void;
}

/** The log of a command that asks the service for a person who waits: warnings, without the token. */
export function warningsTo({ err }: Pick<Settings, "err">, token: Secret): Log {
  return createLog({
    level: "warn",
    format: "text",
    secrets: [token],
    clock: systemClock,
    write: (line) => err.write(line),
  });
}

export function processEnvironment(): CliEnvironment {
  return {
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    out: process.stdout,
    err: process.stderr,
    endWith: (exitCode) => {
      process.exitCode = exitCode;
    },
    endSoon,
  };
}

/** The folder of the warehouse. {@link findWarehouse} gives it a value where it is not given. */
export function warehouseOption(): Option {
  return new Option(
    "--warehouse <dir>",
    "folder of the warehouse; else CONTENT_WAREHOUSE_DIR, else `warehouse` in the configuration, else ./warehouse",
  );
}

/** A hook of commands that read a warehouse: its folder, also where no option names it. */
export async function findWarehouse(command: Command): Promise<void> {
  const { env, cwd } = processEnvironment();
  const { warehouse, config, sample } = command.opts();
  const folder = await warehouseFolder({ env, cwd, flags: { warehouse, config, sample } });
  command.setOptionValue("warehouse", folder);
}

/** Of commands that write CSV, which holds values as they are unless this is given. Goes with {@link onlyForCsv}. */
export function spreadsheetOption(): Option {
  return new Option(
    "--spreadsheet",
    "CSV for Excel and the like: an apostrophe before texts that would run as formulas",
  ).implies({ format: "csv" });
}

/** A hook: refuses --spreadsheet beside another format. Throws `config.invalid`. */
export function onlyForCsv(command: Command): void {
  const { format, spreadsheet } = command.opts();
  if (spreadsheet !== true || format === "csv") return;
  throw new WarehouseError(
    "config.invalid",
    `--spreadsheet is for CSV, not for --format ${format}; leave one of them out.`,
  );
}

export const URL_OPTION = new Option("--url <url>", "address of the service; CONTENT_API_URL otherwise");
export const CONFIG_OPTION = new Option(
  "--config <file>",
  "configuration file (default: content-warehouse.config.ts, .mts, .mjs, .js or .json, where there is one)",
);

export const FLEET_OPTION = new Option(
  "--fleet <file>",
  "file that names the instances; docs/fleet.md has its form",
).default("fleet.json");

/** `Web CMS`, or `Print Archive:Archive` for one on another platform than the generic one; may be given several times. */
export function destinationOption(ofWhat = ", in place of those of the configuration"): Option {
  return new Option(
    "--destination <name[:platform]>",
    `destination whose external values are wanted${ofWhat}; may be repeated (platform: ${DEFAULT_PLATFORM} unless given)`,
  ).argParser((text, before: Destinations = []) => {
    const destination = destinationIn(text);
    if (destination === null) throw new InvalidArgumentError(NO_DESTINATION);
    return [...before, destination];
  });
}

export type Destinations = NonNullable<ConfigFlags["destinations"]>;
export type Destination = Destinations[number];

export const NO_DESTINATION = 'Give a name such as "Web CMS", or with its platform "Print Archive:Archive".';

/** `NAME` or `NAME:PLATFORM`; null for any other text. A colon with a space behind it belongs to the name. */
export function destinationIn(text: string): Destination | null {
  const [, name = text, platform = DEFAULT_PLATFORM] = /^(.*):(?!\s)([^:]*)$/s.exec(text) ?? [];
  return name.trim() === "" || platform.trim() === "" ? null : { name, platform };
}

export function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("Give a whole number from 1.");
  return Number(text);
}

/** The folder of a warehouse that is there. Throws `config.not_found`. */
export function existingFolder(warehouse: string): OutputFolder {
  const folder = outputFolder(warehouse);
  if (existsSync(folder.runs)) return folder;
  throw new WarehouseError(
    "config.not_found",
    `There is no warehouse in ${folder.root}; name its folder with --warehouse, or make one with "content-warehouse run".`,
  );
}

/**
 * A signal that SIGINT or SIGTERM aborts with an error; a second one ends the process at once, as it does by default.
 * `left`: what the work leaves behind then, such as `nothing was published`.
 */
export class StopSignals implements Disposable {
  readonly #controller = new AbortController();
  readonly #interrupt: () => void;
  readonly #terminate: () => void;

  constructor(left: string) {
    this.#interrupt = () =>
      this.#controller.abort(new WarehouseError("run.interrupted", `Interrupted; ${left}.`));
    this.#terminate = () =>
      this.#controller.abort(new WarehouseError("run.terminated", `Terminated; ${left}.`));
    process.once("SIGINT", this.#interrupt).once("SIGTERM", this.#terminate);
    // A process that was started with a channel ends with the one that started it, however that ended.
    process.once("disconnect", this.#terminate);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Of the signal that came. */
  get exitCode(): number {
    return asWarehouseError(this.signal.reason).exitCode;
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#interrupt).off("SIGTERM", this.#terminate);
    process.off("disconnect", this.#terminate);
  }
}
