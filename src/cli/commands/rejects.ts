import { REJECTS, type Reject, rejectsSection } from "../../audit/questions/run-facts.ts";
import { type Answer, col, section } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import type { ConfigFlags } from "../../config/config.ts";
import { type Retried, retryItems, shapesOf } from "../../run/retry-rejects.ts";
import { sectionJson } from "../../show/answer.ts";
import { writeAll } from "../../show/terminal.ts";
import { readRejects } from "../../warehouse/published-tables.ts";
import { findRun, type PublishedRun } from "../../warehouse/retention.ts";
import { type AnswerFlags, showAnswer } from "../answer-form.ts";
import { CliCommand, type CliEnvironment, existingFolder, processEnvironment } from "../command.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";
import { askAgain, serviceConfig } from "../with-run.ts";

interface Options extends ConfigFlags, AnswerFlags {
  readonly warehouse: string;
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
  return new CliCommand(name).description(description).warehouse().answerForm();
}

function listCommand({ out }: CliEnvironment): CliCommand {
  return subcommand("list", "list the rejects of the current run, each with its reason")
    .addHelpText("after", "\nExample:\n  $ content-warehouse rejects list --warehouse /srv/warehouse\n")
    .action(async ({ warehouse, ...form }: Options) => {
      const { run, rejects } = await currentRejects(warehouse);
      if (form.format === "json") await writeAll(out, sectionJson(rejectsSection(rejects)));
      else await showAnswer(out, listAnswer(run.run, rejects), form);
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
      const { warehouse } = options;
      const config = await serviceConfig(environment, options, "rejects retry");
      const { run, rejects } = await currentRejects(warehouse);
      const { manifest } = run;
      if (manifest instanceof WarehouseError) throw manifest;
      const ids = rejects.map(({ content_id }) => content_id).filter((id) => id !== null);
      const nameless = rejects.length - ids.length;
      const shapes = shapesOf(manifest);
      // Each item once, whatever the number of its rejects.
      const retried = await askAgain({ ...run, manifest }, config, environment, (source, asking) =>
        retryItems([...new Set(ids)], source, { ...asking, shapes }),
      );
      await showAnswer(out, retriedAnswer(run.run, retried, nameless), options);
    });
}

async function currentRejects(warehouse: string): Promise<{ run: PublishedRun; rejects: Reject[] }> {
  const run = await findRun(existingFolder(warehouse), "current");
  return withTemporaryFolder("rejects", async (temporaryDirectory) => ({
    run,
    rejects: await readRejects(run.directory, REJECTS, temporaryDirectory),
  }));
}

function listAnswer(run: string, rejects: readonly Reject[]): Answer {
  const lead = `${rejects.length === 0 ? "No rejects" : counted(rejects.length, "reject")} in the run ${run}.`;
  return { lead, facts: { run }, sections: [{ ...rejectsSection(rejects), none: "" }] };
}

const RETRIED = {
  contentId: col.name({ required: true, head: "item" }),
  now: col.text({ required: true }),
  reason: col.text({ required: true }),
} as const;

function retriedAnswer(run: string, retried: readonly Retried[], nameless: number): Answer {
  const readable = retried.filter(({ now }) => now === "readable").length;
  const items = section({
    key: "items",
    title: "Items asked for again",
    columns: RETRIED,
    rows: retried,
    limit: 1000,
  });
  return {
    lead:
      retried.length === 0
        ? "No rejected item to ask for."
        : `${readable} of ${counted(retried.length, "item")} can be read now: the next run takes what it can read.`,
    facts: { run, nameless },
    sections: [items],
    next: nameless === 0 ? [] : [`${counted(nameless, "reject")} without an ID cannot be asked for.`],
  };
}
