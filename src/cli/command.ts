/** Base of all commands: shared options, streams and environment, and signals. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_PLATFORM, type DestinationName } from "../api/destination.ts";
import { systemClock } from "../common/clock.ts";
import { type ErrorCode, WarehouseError } from "../common/errors.ts";
import { createLog, LOG_FORMATS, type Log, type LogSettings } from "../common/log.ts";
import { expandHome } from "../common/user-path.ts";
import type { ConfigFlags, ConfigInputs } from "../config/config.ts";
import { configFileName, DEFAULT_WAREHOUSE, namedWarehouse } from "../config/config-file.ts";
import { ANSWER_FORMATS, sectionName } from "../show/answer.ts";
import { type OutputFolder, outputFolder } from "../warehouse/layout.ts";

/** `columns`: width of the screen in characters; `undefined` for files and pipes. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number | undefined };

export interface CliEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path. Throws if the folder was removed, so read it only if you need it. */
  readonly cwd: string;
  /** Read it only if you need it: the getter opens standard input. */
  readonly input: Readable & { readonly isTTY?: boolean };
  /** Receives the answer. */
  readonly out: OutputStream;
  /** Receives progress, the log, and all other text. */
  readonly err: OutputStream;
  /** Sets the exit code of a command that throws nothing. */
  readonly endWith: (exitCode: number) => void;
}

/** Environment of this process; `overrides` replaces parts of it. */
export function processEnvironment(overrides: Partial<CliEnvironment> = {}): CliEnvironment {
  return {
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    get input() {
      return process.stdin;
    },
    out: process.stdout,
    err: process.stderr,
    endWith: (exitCode) => {
      process.exitCode = exitCode;
    },
    ...overrides,
  };
}

export function logTo(
  out: { write(text: string): unknown },
  options: Pick<LogSettings, "level" | "format" | "secrets">,
): Log {
  return createLog({ ...options, clock: systemClock, write: (line) => out.write(line) });
}

/**
 * Turns SIGINT and SIGTERM into an aborted signal whose reason is a `WarehouseError`. A second one ends the process.
 * `consequence` completes the sentence: `Interrupted; nothing was published.`
 */
export class StopSignals implements Disposable {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal = this.#controller.signal;
  readonly #interrupt: () => void;
  readonly #terminate: () => void;

  constructor(consequence: string) {
    const stop = (code: "run.interrupted" | "run.terminated", how: string) => () =>
      this.#controller.abort(new WarehouseError(code, `${how}; ${consequence}.`));
    this.#interrupt = stop("run.interrupted", "Interrupted");
    this.#terminate = stop("run.terminated", "Terminated");
    process.once("SIGINT", this.#interrupt).once("SIGTERM", this.#terminate);
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#interrupt).off("SIGTERM", this.#terminate);
  }
}

export class CliCommand extends Command {
  /** A shell expands `--out ~/x`, but not `--out=~/x`. */
  override addOption(option: Option): this {
    return super.addOption(/<(?:file|dir)>/.test(option.flags) ? option.argParser(expandHome) : option);
  }

  /** For commands that read a warehouse: sets the option to the folder that applies. */
  warehouse(): this {
    return this.warehouseOption().hook("preAction", async (command) => {
      const { env, cwd } = processEnvironment();
      // Pass these only: --limit means rows here, and items for `run`.
      const { warehouse, config, sample } = command.opts<ConfigFlags>();
      command.setOptionValue(
        "warehouse",
        await warehouseFolder({ env, cwd, flags: { warehouse, config, sample } }),
      );
    });
  }

  /** With --config, because the configuration may name the folder. */
  warehouseOption(): this {
    return this.option("--warehouse <dir>", "warehouse folder (default: configured or ./warehouse)").config();
  }

  url(): this {
    return this.option("--url <url>", "address of the service (default: CONTENT_API_URL)");
  }

  config(): this {
    if (this.options.some(({ long }) => long === "--config")) return this;
    return this.option("--config <file>", "configuration (default: content-warehouse.config.*)");
  }

  service(sample: string): this {
    return this.option("--sample", sample).url().config();
  }

  choice(flags: string, description: string, choices: readonly string[], unlessGiven?: string): this {
    return this.addOption(new Option(flags, description).choices(choices).default(unlessGiven));
  }

  /** Options for the form of an answer. `sections`: keys of its sections. */
  answerForm(sections: readonly string[] = []): this {
    this.formats().option("--limit <n>", "rows of each table (default: as fits a screen)", positive);
    const [inCsv] = sections;
    if (inCsv === undefined) return this;
    const description = `only this section (default for CSV: ${sectionName(inCsv)})`;
    return this.choice("--section <section>", description, sections.map(sectionName));
  }

  /** For answers without long tables. */
  formats(): this {
    return this.choice("--format <format>", "output", ANSWER_FORMATS, "table").json().spreadsheet();
  }

  json(): this {
    return this.#standingFor("json", "--json", "same as --format json");
  }

  spreadsheet(): this {
    return this.#standingFor("csv", "--spreadsheet", "CSV for Excel: no text is read as a formula");
  }

  /** An option in place of `--format`. */
  #standingFor(format: string, flag: string, description: string): this {
    const option = new Option(flag, description);
    const name = option.attributeName();
    option.conflicts(["format", "json", "spreadsheet"].filter((each) => each !== name));
    return this.addOption(option).hook("preAction", (command) => {
      if (command.getOptionValue(name) === true) command.setOptionValue("format", format);
    });
  }

  logFormat(): this {
    return this.choice("--log-format <format>", "format of log lines", LOG_FORMATS, "text");
  }

  destinations(): this {
    return this.option(
      "--destination <name>",
      "destination, as name or name:platform; repeatable",
      (text, before: readonly DestinationName[] = []) => {
        const destination = destinationIn(text);
        if (destination === null)
          throw new InvalidArgumentError(
            'Give a name such as "Web CMS", or with its platform "Print Archive:Archive".',
          );
        return [...before, destination];
      },
    );
  }
}

/** Parses `NAME` or `NAME:PLATFORM`; `null` for other text. A colon before a space belongs to the name. */
function destinationIn(text: string): DestinationName | null {
  const [, name = text, platform = DEFAULT_PLATFORM] = /^(.*):(?!\s)([^:]*)$/s.exec(text) ?? [];
  return name.trim() === "" || platform.trim() === "" ? null : { name, platform };
}

export function positive(text: string): number {
  return wholeNumber(1, 999_999_999)(text);
}

/** Parses a whole number in these bounds, both included. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

/** Throws `absent` unless the folder holds a warehouse. */
export function openWarehouseFolder(warehouse: string, absent: ErrorCode = "config.not_found"): OutputFolder {
  const folder = outputFolder(warehouse);
  if (existsSync(folder.runs)) return folder;
  throw new WarehouseError(
    absent,
    `There is no warehouse in ${folder.root}; name its folder with --warehouse, or create one with "content-warehouse run".`,
  );
}

/**
 * Absolute path of the warehouse: of the flag, else `CONTENT_WAREHOUSE_DIR`, else the configuration file, else
 * `./warehouse`. Loads the configuration only if there is a file, because loading takes most of a short command's time.
 * Throws `config.invalid`.
 */
export async function warehouseFolder(inputs: Omit<ConfigInputs, "sampleBy">): Promise<string> {
  const named = namedWarehouse(inputs);
  if (named !== undefined) return named;
  if (configFileName(inputs) === null) return resolve(inputs.cwd, DEFAULT_WAREHOUSE);
  const { loadWarehouseFolder } = await import("../config/config.ts");
  return loadWarehouseFolder(inputs);
}
