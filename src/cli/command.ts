/** Commands, with the options that several have, and what they have around them. */
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_PLATFORM } from "../api/destination.ts";
import { systemClock } from "../common/clock.ts";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { createLog, LOG_FORMATS, type Log, type LogSettings } from "../common/log.ts";
import type { Secret } from "../common/secret.ts";
import type { ConfigFlags } from "../config/config.ts";
import { ANSWER_FORMATS } from "../show/answer.ts";
import { type OutputFolder, outputFolder } from "../warehouse/layout.ts";
import { sectionName } from "./answer-form.ts";
import { endSoon } from "./end-soon.ts";
import { warehouseFolder } from "./warehouse-folder.ts";

/** `columns`: width of the screen in characters; undefined where the output is a file or a pipe. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number | undefined };
export type InputStream = Readable & { readonly isTTY?: boolean };

export interface CliEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. Throws where the folder was removed, so only those who need it ask. */
  readonly cwd: string;
  /** Only those who need it ask, likewise. */
  readonly input: InputStream;
  /** Takes the answer. */
  readonly out: OutputStream;
  /** Takes progress, the log, and what else is not the answer. */
  readonly err: OutputStream;
  /** Says how the program is to end although nothing failed. */
  readonly endWith: (exitCode: number) => void;
  /** Ends the program soon, whatever a user's function has under way. */
  readonly endSoon: () => void;
}

/** That of this process, but for what is given. */
export function processEnvironment(given: Partial<CliEnvironment> = {}): CliEnvironment {
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
    endSoon,
    ...given,
  };
}

/** Width of a terminal that does not know its own. */
const COLUMNS = 80;

/** Width of standard error, asked for at each drawing; undefined where it is no terminal whose cursor can move. */
export function liveColumns({ env, err }: Pick<CliEnvironment, "env" | "err">): (() => number) | undefined {
  return err.isTTY === true && env.TERM !== "dumb" ? () => err.columns || COLUMNS : undefined;
}

export function logTo(
  out: { write(text: string): unknown },
  options: Pick<LogSettings, "level" | "format" | "secrets">,
): Log {
  return createLog({ ...options, clock: systemClock, write: (line) => out.write(line) });
}

/** The log of a command that asks the service for a person who waits: warnings, without the secrets. */
export function warningsTo({ err }: CliEnvironment, secrets: readonly Secret[]): Log {
  return logTo(err, { level: "warn", format: "text", secrets });
}

/**
 * A signal that SIGINT or SIGTERM aborts with an error; a second one ends the process at once, as it does by default.
 * `left`: what the work leaves behind then, such as `nothing was published`.
 */
export class StopSignals implements Disposable {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal = this.#controller.signal;
  readonly #interrupt: () => void;
  readonly #terminate: () => void;

  constructor(left: string) {
    const stop = (code: "run.interrupted" | "run.terminated", how: string) => () =>
      this.#controller.abort(new WarehouseError(code, `${how}; ${left}.`));
    this.#interrupt = stop("run.interrupted", "Interrupted");
    this.#terminate = stop("run.terminated", "Terminated");
    process.once("SIGINT", this.#interrupt).once("SIGTERM", this.#terminate);
  }

  get exitCode(): number {
    return asWarehouseError(this.signal.reason).exitCode;
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#interrupt).off("SIGTERM", this.#terminate);
  }
}

export class CliCommand extends Command {
  /** Of a warehouse that is read: its folder is found also where the option is not given. */
  warehouse(): this {
    return this.warehouseOption().hook("preAction", async (command) => {
      const { env, cwd } = processEnvironment();
      // Not all options: --limit of `diff` counts rows, and that of `run` items.
      const { warehouse, config, sample } = command.opts<ConfigFlags>();
      command.setOptionValue(
        "warehouse",
        await warehouseFolder({ env, cwd, flags: { warehouse, config, sample } }),
      );
    });
  }

  /** With the configuration, which may say where it is. */
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

  /** The service, and the configuration. */
  service(sample: string): this {
    return this.option("--sample", sample).url().config();
  }

  choice(flags: string, description: string, choices: readonly string[], unlessGiven?: string): this {
    return this.addOption(new Option(flags, description).choices(choices).default(unlessGiven));
  }

  /** Options that say how its answer is drawn. `sections`: keys of its parts, if it has several; `inCsv`: the one that CSV has. */
  answerForm(sections: readonly string[] = [], inCsv = sections[0] ?? ""): this {
    this.formats().option("--limit <n>", "rows of each table (default: as fits a screen)", positive);
    if (sections.length === 0) return this;
    const description = `only this part (CSV: ${sectionName(inCsv)} unless given)`;
    return this.choice("--section <section>", description, sections.map(sectionName));
  }

  /** Of an answer without long tables. */
  formats(): this {
    return this.choice("--format <format>", "form", ANSWER_FORMATS, "table").json().spreadsheet();
  }

  /** Beside --format. */
  json(): this {
    return this.addOption(new Option("--json", "same as --format json").implies({ format: "json" })).hook(
      "preAction",
      refuseTwoForms,
    );
  }

  logFormat(): this {
    return this.choice("--log-format <format>", "lines of the log", LOG_FORMATS, "text");
  }

  /** Beside --format: CSV holds values as they are unless this is given. */
  spreadsheet(): this {
    return this.addOption(
      new Option("--spreadsheet", "CSV for Excel, in which no text is a formula").implies({ format: "csv" }),
    ).hook("preAction", onlyForCsv);
  }

  /** `Web CMS`, or `Print Archive:Archive` for one on another platform than the generic one. */
  destinations(): this {
    return this.option(
      "--destination <name>",
      "map for this name or name:platform; may be repeated",
      (text, before: Destinations = []) => {
        const destination = destinationIn(text);
        if (destination === null) throw new InvalidArgumentError(NO_DESTINATION);
        return [...before, destination];
      },
    );
  }
}

/** Throws `config.invalid` for --json beside another format. */
function refuseTwoForms(command: Command): void {
  const { format, json } = command.opts();
  if (json === true && format !== "json") throw invalid(`Give --json or ${formGiven(command)}, not both.`);
}

/** The option that says the format: itself, or one that implies it. */
function formGiven(command: Command): string {
  const { format } = command.opts();
  if (command.getOptionValueSource("format") !== "implied") return `--format ${format}`;
  return format === "json" ? "--json" : "--spreadsheet";
}

/** Throws `config.invalid` for --spreadsheet beside another format. */
function onlyForCsv(command: Command): void {
  const { format, spreadsheet } = command.opts();
  if (spreadsheet !== true || format === "csv") return;
  throw new WarehouseError(
    "config.invalid",
    `--spreadsheet is for CSV, not for ${formGiven(command)}; leave one of them out.`,
  );
}

export function invalid(sentence: string): WarehouseError {
  return new WarehouseError("config.invalid", sentence);
}

export type Destinations = NonNullable<ConfigFlags["destinations"]>;

export const NO_DESTINATION = 'Give a name such as "Web CMS", or with its platform "Print Archive:Archive".';

/** `NAME` or `NAME:PLATFORM`; null for any other text. A colon with a space behind it belongs to the name. */
export function destinationIn(text: string): Destinations[number] | null {
  const [, name = text, platform = DEFAULT_PLATFORM] = /^(.*):(?!\s)([^:]*)$/s.exec(text) ?? [];
  return name.trim() === "" || platform.trim() === "" ? null : { name, platform };
}

export function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("Give a whole number from 1.");
  return Number(text);
}

/** The folder of a warehouse that is there. Throws `config.not_found`. */
export function openWarehouseFolder(warehouse: string): OutputFolder {
  const folder = outputFolder(warehouse);
  if (existsSync(folder.runs)) return folder;
  throw new WarehouseError(
    "config.not_found",
    `There is no warehouse in ${folder.root}; name its folder with --warehouse, or make one with "content-warehouse run".`,
  );
}
