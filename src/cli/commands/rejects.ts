import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import type { ConfigFlags } from "../../config/config.ts";
import { type Retried, retryItems, shapesOf } from "../../run/retry-rejects.ts";
import { cellText, jsonRows } from "../../show/rows.ts";
import { drawInParts, left, right, tableOf, whole } from "../../show/table.ts";
import { jsonLine, writeAll } from "../../show/terminal.ts";
import type { Row } from "../../storage/duckdb.ts";
import { readRejects } from "../../warehouse/published-tables.ts";
import { findRun, type PublishedRun } from "../../warehouse/retention.ts";
import { CliCommand, type CliEnvironment, existingFolder, processEnvironment } from "../command.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";
import { askAgain, serviceConfig } from "../with-run.ts";

interface Options extends ConfigFlags {
  readonly warehouse: string;
  readonly format: "table" | "json";
}

const EXAMPLES = `
Examples:
  $ content-warehouse rejects
  $ content-warehouse rejects list --format json | jq '.[].document'
  $ content-warehouse rejects retry --config ./content-warehouse.config.json
`;

export function rejectsCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("rejects")
    .description("show what the current run could not read, and ask for it again")
    .addHelpText("after", EXAMPLES)
    .addCommand(listCommand(environment), { isDefault: true })
    .addCommand(retryCommand(environment));
}

function subcommand(name: string, description: string): CliCommand {
  return new CliCommand(name).description(description).warehouse().format("table", "json");
}

function listCommand({ out }: CliEnvironment): CliCommand {
  return subcommand("list", "list the rejects of the current run, each with its reason")
    .addHelpText("after", "\nExample:\n  $ content-warehouse rejects list --warehouse /srv/warehouse\n")
    .action(async ({ warehouse, format }: Options) => {
      const { run, rejects } = await currentRejects(warehouse);
      const text = format === "json" ? `${jsonRows(rejects)}\n` : listText(run.run, rejects, out.columns);
      await writeAll(out, [text]);
    });
}

const RETRY_HELP = `
Example:
  $ CONTENT_API_URL=https://content.example.com CONTENT_API_TOKEN=... content-warehouse rejects retry

Only items whose ID is known can be asked for. Nothing is published: a published run never changes, and the next run
takes what can be read by then. --sample is for a run of the sample.
`;

function retryCommand(environment: CliEnvironment): CliCommand {
  return subcommand("retry", "ask the service for rejected items again, and say which can be read now")
    .service("ask the embedded service with the sample content")
    .addHelpText("after", RETRY_HELP)
    .action(async (options: Options) => {
      const { out } = environment;
      const { warehouse, format } = options;
      const config = await serviceConfig(environment, options, "rejects retry");
      const { run, rejects } = await currentRejects(warehouse);
      const { manifest } = run;
      if (manifest instanceof WarehouseError) throw manifest;
      const ids = rejects.map(({ content_id }) => content_id ?? null).filter((id) => id !== null);
      const nameless = rejects.length - ids.length;
      const shapes = shapesOf(manifest);
      // Each item once, whatever the number of its rejects.
      const retried = await askAgain({ ...run, manifest }, config, environment, (source, asking) =>
        retryItems([...new Set(ids.map(String))], source, { ...asking, shapes }),
      );
      const text =
        format === "json"
          ? jsonLine({ run: run.run, items: retried, nameless })
          : retriedText(retried, nameless, out.columns);
      await writeAll(out, [text]);
    });
}

async function currentRejects(warehouse: string): Promise<{ run: PublishedRun; rejects: Row[] }> {
  const run = await findRun(existingFolder(warehouse), "current");
  return withTemporaryFolder("rejects", async (temporaryDirectory) => ({
    run,
    rejects: await readRejects(run.directory, temporaryDirectory),
  }));
}

const cellOf = (name: string) => (reject: Row) => cellText(reject[name] ?? null);
const SHOWN = [
  right("reject", cellOf("reject")),
  left("mode", cellOf("mode")),
  right("pass", cellOf("pass")),
  right("page", cellOf("page")),
  right("position", cellOf("position")),
  whole("content_id", cellOf("content_id")),
  left("reason", cellOf("reason")),
];

function listText(run: string, rejects: readonly Row[], width: number | undefined): string {
  if (rejects.length === 0) return `no rejects in the run ${run}\n`;
  const text = drawInParts(tableOf(rejects, SHOWN), 1, width);
  return `${text}${counted(rejects.length, "reject")} in the run ${run}; --format json shows the documents\n`;
}

function retriedText(retried: readonly Retried[], nameless: number, width: number | undefined): string {
  const rest = nameless === 0 ? "" : `${counted(nameless, "reject")} without an ID cannot be asked for\n`;
  if (retried.length === 0) return `no rejected item to ask for\n${rest}`;
  const table = tableOf(retried, [
    whole("content_id", ({ contentId }) => contentId),
    left("now", ({ now }) => now),
    left("reason", ({ reason }) => reason),
  ]);
  const readable = retried.filter(({ now }) => now === "readable").length;
  const told = `${readable} of ${counted(retried.length, "item")} can be read now: the next run takes what it can read; --format json has the reasons in full\n`;
  return `${drawInParts(table, 1, width)}${told}${rest}`;
}
