import { Command, Option } from "commander";
import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import { type Config, loadConfig } from "../../config/config.ts";
import { type Retried, retryItems, shapesOf } from "../../run/retry-rejects.ts";
import type { Row } from "../../storage/duckdb.ts";
import { readRejects } from "../../warehouse/published-tables.ts";
import { findRun, type PublishedRun } from "../../warehouse/retention.ts";
import { askAgain, assertReadFrom } from "../ask-again.ts";
import {
  CONFIG_OPTION,
  existingFolder,
  findWarehouse,
  processEnvironment,
  type Settings,
  URL_OPTION,
  warehouseOption,
} from "../options.ts";
import { cellText } from "../render/cells.ts";
import { jsonRows } from "../render/rows.ts";
import { drawInParts, left, right, whole } from "../render/table.ts";
import { standardOutput, type Terminal, writeAll } from "../render/terminal.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";

interface Options {
  readonly warehouse: string;
  readonly format: (typeof FORMATS)[number];
}

interface RetryOptions extends Options {
  readonly sample?: true;
  readonly url?: string;
  readonly config?: string;
}

const FORMATS = ["table", "json"] as const;

const EXAMPLES = `
Examples:
  $ content-warehouse rejects
  $ content-warehouse rejects list --format json | jq '.[].document'
  $ content-warehouse rejects retry --config ./content-warehouse.config.json
`;

/** `content-warehouse rejects`: what the current run could not read, and whether the service sends it better now. */
export function rejectsCommand(
  terminal: Terminal = standardOutput(),
  settings: Settings = processEnvironment(),
): Command {
  const command = new Command("rejects")
    .description("show what the current run could not read, and ask for it again")
    .addHelpText("after", EXAMPLES);
  command.addCommand(listCommand(terminal), { isDefault: true });
  command.addCommand(retryCommand(terminal, settings));
  return command;
}

function subcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(warehouseOption())
    .hook("preAction", findWarehouse)
    .addOption(new Option("--format <format>", "form of the answer").choices(FORMATS).default("table"));
}

function listCommand(terminal: Terminal): Command {
  return subcommand("list", "list the rejects of the current run, each with its reason")
    .addHelpText("after", "\nExample:\n  $ content-warehouse rejects list --warehouse /srv/warehouse\n")
    .action(async ({ warehouse, format }: Options) => {
      const { run, rejects } = await currentRejects(warehouse);
      const text =
        format === "json" ? `${jsonRows(rejects)}\n` : listText(run.run, rejects, terminal.columns);
      await writeAll(terminal, [text]);
    });
}

const RETRY_HELP = `
Example:
  $ CONTENT_API_URL=https://content.example.com CONTENT_API_TOKEN=... content-warehouse rejects retry

Only items whose ID is known can be asked for. Nothing is published: a published run never changes, and the next run
takes what can be read by then. --sample is for a run of the sample.
`;

function retryCommand(terminal: Terminal, settings: Settings): Command {
  return subcommand("retry", "ask the service for rejected items again, and say which can be read now")
    .option("--sample", "ask the embedded service with the sample content")
    .addOption(URL_OPTION)
    .addOption(CONFIG_OPTION)
    .addHelpText("after", RETRY_HELP)
    .action(async (options: RetryOptions) => {
      const { env, cwd } = settings;
      const { warehouse, format, sample, url, config: file } = options;
      const config = await loadConfig({
        cwd,
        env,
        flags: { sample, url, config: file },
        sampleBy: 'for a run of the sample, "content-warehouse rejects retry --sample"',
      });
      const { run, rejects } = await currentRejects(warehouse);
      const retried = await retry(run, rejects, config, settings);
      const nameless = rejects.length - rejects.filter(({ content_id }) => content_id !== null).length;
      const text =
        format === "json"
          ? `${JSON.stringify({ run: run.run, items: retried, nameless })}\n`
          : retriedText(retried, nameless, terminal.columns);
      await writeAll(terminal, [text]);
    });
}

async function currentRejects(warehouse: string): Promise<{ run: PublishedRun; rejects: Row[] }> {
  const run = await findRun(existingFolder(warehouse), "current");
  return withTemporaryFolder("rejects", async (temporaryDirectory) => ({
    run,
    rejects: await readRejects(run.directory, temporaryDirectory),
  }));
}

/** Asks the service that the run read for each rejected item once, whatever the number of its rejects. */
async function retry(
  published: PublishedRun,
  rejects: readonly Row[],
  config: Config,
  { err }: Settings,
): Promise<Retried[]> {
  const { manifest } = published;
  if (manifest instanceof WarehouseError) throw manifest;
  assertReadFrom({ ...published, manifest }, config);
  const ids = new Set(rejects.flatMap(({ content_id }) => (content_id === null ? [] : [String(content_id)])));
  if (ids.size === 0) return [];
  const shapes = shapesOf(manifest);
  return askAgain(config, err, (source, asking) => retryItems([...ids], source, { ...asking, shapes }));
}

const SHOWN = [
  right("reject"),
  left("mode"),
  right("pass"),
  right("page"),
  right("position"),
  whole("content_id"),
  left("reason"),
];

function listText(run: string, rejects: readonly Row[], width: number | undefined): string {
  if (rejects.length === 0) return `no rejects in the run ${run}\n`;
  const rows = rejects.map((reject) => SHOWN.map(({ name }) => cellText(reject[name] ?? null)));
  const text = drawInParts({ columns: SHOWN, rows }, 1, width);
  return `${text}${counted(rejects.length, "reject")} in the run ${run}; --format json shows the documents\n`;
}

function retriedText(retried: readonly Retried[], nameless: number, width: number | undefined): string {
  const rest = nameless === 0 ? "" : `${counted(nameless, "reject")} without an ID cannot be asked for\n`;
  if (retried.length === 0) return `no rejected item to ask for\n${rest}`;
  const rows = retried.map(({ contentId, now, reason }) => [contentId, now, reason]);
  const columns = [whole("content_id"), left("now"), left("reason")];
  const readable = retried.filter(({ now }) => now === "readable").length;
  const told = `${readable} of ${counted(rows.length, "item")} can be read now: the next run takes what it can read; --format json has the reasons in full\n`;
  return `${drawInParts({ columns, rows }, 1, width)}${told}${rest}`;
}
