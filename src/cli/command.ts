/** Commands, with the options that several have. */
import { existsSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { WarehouseError } from "../common/errors.ts";
import { type ConfigFlags, warehouseFolder } from "../config/config.ts";
import { DEFAULT_PLATFORM } from "../extract/content-client.ts";
import { type OutputFolder, outputFolder } from "../warehouse/layout.ts";
import { processEnvironment } from "./environment.ts";

export const URL_OPTION = new Option("--url <url>", "address of the service; CONTENT_API_URL otherwise");
export const WAREHOUSE_OPTION = new Option(
  "--warehouse <dir>",
  "folder of the warehouse; else CONTENT_WAREHOUSE_DIR, else `warehouse` in the configuration, else ./warehouse",
);

export class CliCommand extends Command {
  /** Of a warehouse that is read: its folder is found also where the option is not given. */
  warehouse(): this {
    return this.addOption(WAREHOUSE_OPTION).hook("preAction", findWarehouse);
  }

  config(): this {
    return this.option(
      "--config <file>",
      "configuration file (default: content-warehouse.config.ts, .mts, .mjs, .js or .json, where there is one)",
    );
  }

  /** The service, and the configuration. */
  service(sample: string): this {
    return this.option("--sample", sample).addOption(URL_OPTION).config();
  }

  fleet(): this {
    return this.option(
      "--fleet <file>",
      "file that names the instances; docs/fleet.md has its form",
      "fleet.json",
    );
  }

  format(...choices: readonly string[]): this {
    return this.addOption(
      new Option("--format <format>", "form of the answer").choices(choices).default("table"),
    );
  }

  /** Beside --format: CSV holds values as they are unless this is given. */
  spreadsheet(): this {
    return this.addOption(
      new Option(
        "--spreadsheet",
        "CSV for Excel and the like: an apostrophe before texts that would run as formulas",
      ).implies({ format: "csv" }),
    ).hook("preAction", onlyForCsv);
  }

  /** `Web CMS`, or `Print Archive:Archive` for one on another platform than the generic one. */
  destinations(ofWhat: string): this {
    return this.option(
      "--destination <name[:platform]>",
      `destination whose external values are wanted${ofWhat}; may be repeated (platform: ${DEFAULT_PLATFORM} unless given)`,
      (text, before: Destinations = []) => {
        const destination = destinationIn(text);
        if (destination === null) throw new InvalidArgumentError(NO_DESTINATION);
        return [...before, destination];
      },
    );
  }
}

async function findWarehouse(command: Command): Promise<void> {
  const { env, cwd } = processEnvironment();
  command.setOptionValue("warehouse", await warehouseFolder({ env, cwd, flags: command.opts() }));
}

/** Throws `config.invalid` for --spreadsheet beside another format. */
function onlyForCsv(command: Command): void {
  const { format, spreadsheet } = command.opts();
  if (spreadsheet !== true || format === "csv") return;
  throw new WarehouseError(
    "config.invalid",
    `--spreadsheet is for CSV, not for --format ${format}; leave one of them out.`,
  );
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
