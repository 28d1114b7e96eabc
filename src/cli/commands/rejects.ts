import { Command, Option } from "commander";
import { systemClock } from "../../common/clock.ts";
import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import { createLog } from "../../common/log.ts";
import { type Config, loadConfig } from "../../config/config.ts";
import { type Retried, retryItems } from "../../run/retry-rejects.ts";
import { openSource, originOf } from "../../run/source.ts";
import type { Row } from "../../storage/duckdb.ts";
import { assertSameInstance } from "../../warehouse/baseline.ts";
import { readRejects } from "../../warehouse/read-rejects.ts";
import { findRun, type PublishedRun } from "../../warehouse/retention.ts";
import { cellText } from "../render/cells.ts";
import { jsonRows } from "../render/rows.ts";
import { drawInParts, type TextColumn } from "../render/table.ts";
import { standardOutput, type Terminal, writeAll } from "../render/terminal.ts";
import { processSettings, type Settings } from "../settings.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";
import { existingFolder } from "./runs.ts";
import { DEFAULT_OUT } from "./sql.ts";

interface Options {
  readonly out: string;
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
  settings: Settings = processSettings(),
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
    .option("--out <dir>", "folder of the warehouse", DEFAULT_OUT)
    .addOption(new Option("--format <format>", "form of the answer").choices(FORMATS).default("table"));
}

function listCommand(terminal: Terminal): Command {
  return subcommand("list", "list the rejects of the current run, each with its reason")
    .addHelpText("after", "\nExample:\n  $ content-warehouse rejects list --out /srv/warehouse\n")
    .action(async ({ out, format }: Options) => {
      const { run, rejects } = await currentRejects(out);
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
    .option("--url <url>", "address of the service; CONTENT_API_URL otherwise")
    .option(
      "--config <file>",
      "configuration file (default: content-warehouse.config.ts or .json, where there is one)",
    )
    .addHelpText("after", RETRY_HELP)
    .action(async (options: RetryOptions) => {
      const { env, cwd } = settings;
      const { out, format, sample, url, config: file } = options;
      const config = await loadConfig({
        cwd,
        env,
        flags: { sample, url, config: file },
        sampleBy: 'for a run of the sample, "content-warehouse rejects retry --sample"',
      });
      const { run, rejects } = await currentRejects(out);
      const retried = await retry(run, rejects, config, settings);
      const nameless = rejects.length - rejects.filter(({ content_id }) => content_id !== null).length;
      const text =
        format === "json"
          ? `${JSON.stringify({ run: run.run, items: retried, nameless })}\n`
          : retriedText(retried, nameless, terminal.columns);
      await writeAll(terminal, [text]);
    });
}

async function currentRejects(out: string): Promise<{ run: PublishedRun; rejects: Row[] }> {
  const run = await findRun(existingFolder(out), "current");
  return withTemporaryFolder("rejects", async (temporaryDirectory) => ({
    run,
    rejects: await readRejects(run.directory, temporaryDirectory),
  }));
}

/** Asks the service that the run read for each rejected item once, whatever the number of its rejects. */
async function retry(
  { run, manifest, directory }: PublishedRun,
  rejects: readonly Row[],
  config: Config,
  { err }: Settings,
): Promise<Retried[]> {
  if (manifest instanceof WarehouseError) throw manifest;
  assertSameInstance(
    { kind: "run", run, manifest },
    { id: null, origin: originOf(config) },
    directory,
    "question",
  );
  const ids = new Set(rejects.flatMap(({ content_id }) => (content_id === null ? [] : [String(content_id)])));
  if (ids.size === 0) return [];
  await using source = await openSource(config);
  const log = createLog({
    level: "warn",
    format: "text",
    secrets: [source.token],
    clock: systemClock,
    write: (line) => err.write(line),
  });
  const { signal } = new AbortController();
  return await retryItems([...ids], source, { config, clock: systemClock, log, signal });
}

const left = (name: string): TextColumn => ({ name, align: "left" });
const right = (name: string): TextColumn => ({ name, align: "right" });

const SHOWN: readonly TextColumn[] = [
  right("reject"),
  left("mode"),
  right("pass"),
  right("page"),
  right("position"),
  { ...left("content_id"), whole: true },
  left("reason"),
];

function listText(run: string, rejects: readonly Row[], width: number | undefined): string {
  if (rejects.length === 0) return `no rejects in the run ${run}\n`;
  const rows = rejects.map((reject) => SHOWN.map(({ name }) => cellText(reject[name] ?? null)));
  const text = drawInParts({ columns: SHOWN, rows }, 1, width);
  return `${text}${counted(rejects.length, "reject")} in the run ${run}; --format json shows the documents\n`;
}

function retriedText(retried: readonly Retried[], nameless: number, width: number | undefined): string {
  const rows = retried.map(({ contentId, now, reason }) => [contentId, now, reason]);
  const columns = [{ ...left("content_id"), whole: true as const }, left("now"), left("reason")];
  const drawn = rows.length === 0 ? "" : drawInParts({ columns, rows }, 1, width);
  const readable = retried.filter(({ now }) => now === "readable").length;
  const told = [
    ...(rows.length === 0
      ? ["no rejected item to ask for"]
      : [
          `${readable} of ${counted(rows.length, "item")} can be read now: the next run takes what it can read; --format json has the reasons in full`,
        ]),
    ...(nameless === 0 ? [] : [`${counted(nameless, "reject")} without an ID cannot be asked for`]),
  ];
  return `${drawn}${told.map((line) => `${line}\n`).join("")}`;
}
