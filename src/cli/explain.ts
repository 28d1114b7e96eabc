import { Command } from "commander";
import { runAsOf } from "../audit/as-of.ts";
import { pointerTo } from "../audit/evidence.ts";
import { explainItem, type ItemExplanation } from "../audit/explain.ts";
import { resolveScope } from "../audit/filters.ts";
import type { OpenedRun } from "../audit/open-run.ts";
import { payloadJson } from "../audit/payload.ts";
import { WarehouseError } from "../errors.ts";
import { explanationText, type Told } from "./explain-text.ts";
import { existingFolder } from "./runs.ts";
import { DEFAULT_OUT } from "./sql.ts";
import { printableText, standardOutput, type Terminal, writeAll } from "./terminal.ts";
import { withRun } from "./with-run.ts";

interface Options {
  readonly out: string;
  readonly destination?: string;
  readonly field?: string;
  readonly run?: string;
  readonly asOf?: string;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse explain why-your-tent-is-wet-inside-and-what-to-do-about-it
  $ content-warehouse explain 66d57e529df0deca35000000 --destination "Web CMS" --field audience
  $ content-warehouse explain 66d57e529df0deca35000000 --as-of 2026-11-20T02:00:00Z --json

ITEM is an item's ID or its slug. Exit code 31: what was published is not what the rules of the mapping procedure give.
`;

/** `content-warehouse explain ITEM`: why an item produces these external values, rule by rule, with the evidence. */
export function explainCommand(terminal: Terminal = standardOutput()): Command {
  return new Command("explain")
    .description("explain which external values an item produces, by which mapping, and where that was read")
    .argument("<item>", "ID or slug of an item")
    .option("--out <dir>", "folder of the warehouse", DEFAULT_OUT)
    .option("--destination <name>", "only this destination, by name or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--run <run>", "name or number of a run (default: current)")
    .option(
      "--as-of <when>",
      "a run, or an instant: the last run that was finished by then, of those that are kept",
    )
    .option("--json", "print one JSON object instead of the explanation")
    .addHelpText("after", EXAMPLES)
    .action(async (item: string, options: Options) => {
      const run = await runOf(options);
      await withRun(options.out, run, (opened) => explain(terminal, opened, item, options));
    });
}

async function runOf({ out, run, asOf }: Options): Promise<string> {
  if (run !== undefined && asOf !== undefined) {
    throw new WarehouseError(
      "config.invalid",
      "--run and --as-of both say which run is meant; give one of them.",
    );
  }
  return asOf === undefined ? (run ?? "current") : runAsOf(existingFolder(out), asOf);
}

async function explain(terminal: Terminal, opened: OpenedRun, item: string, options: Options): Promise<void> {
  const { destination, field, json } = options;
  const { destinationIds, fieldIds } = await resolveScope(opened.connection, {
    destination,
    field,
    contentType: undefined,
  });
  const explanation = await explainItem(opened, item);
  const told: Told = { run: opened.run, verdict: opened.manifest.verdict, destinationIds, fieldIds };
  const text =
    json === true
      ? `${JSON.stringify(explanationJson(explanation, told), undefined, 2)}\n`
      : explanationText(explanation, told, terminal.columns);
  await writeAll(terminal, [json === true && terminal.columns === undefined ? text : printableText(text)]);
}

/** The explanation for programs: the steps as the procedure takes them, with the filters applied. */
export function explanationJson(explanation: ItemExplanation, told: Told): object {
  const { item, mapped, definitions, evidence, passthrough } = explanation;
  const { destinationIds, fieldIds } = told;
  const isDestination = (id: string) => destinationIds?.includes(id) ?? true;
  const isField = (id: string) => fieldIds?.includes(id) ?? true;
  const { document, lookups } = evidence;
  return {
    run: told.run,
    verdict: told.verdict,
    item,
    passthrough,
    destinations: definitions.destinations
      .filter(({ destinationId }) => isDestination(destinationId))
      .map(({ destinationId, identification, supportsMappings }) => {
        const payload = mapped.payloads.find((each) => each.destinationId === destinationId);
        return {
          destinationId,
          identification,
          supportsMappings,
          payload: payload === undefined ? null : (JSON.parse(payloadJson(payload)) as unknown),
          steps: mapped.steps.filter(
            (step) =>
              step.destinationId === destinationId &&
              (!("customFieldId" in step) || isField(step.customFieldId)),
          ),
        };
      }),
    fields: definitions.fields
      .filter(({ customFieldId }) => isField(customFieldId))
      .map(({ customFieldId, name, fieldType }) => ({ customFieldId, name, fieldType })),
    evidence: {
      document:
        document === undefined
          ? null
          : {
              ...document,
              request: document.request ?? null,
              parts: [...document.parts]
                .filter(([id]) => isField(id))
                .map(([id, json]) => ({ customFieldId: id, pointer: pointerTo(id), json })),
            },
      lookups,
    },
  };
}
