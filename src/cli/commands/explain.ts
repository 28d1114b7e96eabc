import { Command } from "commander";
import { placeKey } from "../../audit/mapping/mapped-value.ts";
import { payloadJson } from "../../audit/mapping/payload.ts";
import type { OpenedRun } from "../../audit/open-run.ts";
import { assertNotPast, type Moment, runAsOf } from "../../audit/questions/as-of.ts";
import { pointerTo } from "../../audit/questions/evidence.ts";
import { explainItem, type ItemExplanation } from "../../audit/questions/explain.ts";
import { explainPast } from "../../audit/questions/explain-past.ts";
import { matching, resolveScope } from "../../audit/questions/filters.ts";
import type { KnownRun } from "../../audit/questions/run-history.ts";
import { WarehouseError } from "../../common/errors.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import { pastJson, pastText, type ToldOfPast } from "../render/explain-past-text.ts";
import { explanationText, type Told } from "../render/explain-text.ts";
import { printableText, standardOutput, type Terminal, writeAll } from "../render/terminal.ts";
import { withRuns } from "../with-run.ts";
import { DEFAULT_OUT } from "./sql.ts";

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

ITEM is an item's ID or its slug. WHEN is the name or number of a run, or an instant, in UTC unless it names a zone:
2026-11-20T02:00:00Z, "2026-11-20 02:00", 2026-11-20T03:00+01:00; a day alone is its beginning.
Exit code 31: what was published is not what the rules of the mapping procedure give.
`;

/** What is cut from a CSV ends with the carriage return of its line. */
const trimmed = (item: string): string => item.trim();

/** `content-warehouse explain ITEM`: why an item produces these external values, rule by rule, with the evidence. */
export function explainCommand(terminal: Terminal = standardOutput()): Command {
  return new Command("explain")
    .description("explain which external values an item produces, by which mapping, and where that was read")
    .argument("<item>", "ID or slug of an item", trimmed)
    .option("--out <dir>", "folder of the warehouse", DEFAULT_OUT)
    .option("--destination <name>", "only this destination, by name or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--run <run>", "name or number of a run (default: current)")
    .option(
      "--as-of <when>",
      "a run, or an instant: the last run that had started by then; where its files are gone, the history is asked",
    )
    .option("--json", "print one JSON object instead of the explanation")
    .addHelpText("after", EXAMPLES)
    .action(async (item: string, options: Options) => {
      await withRuns(
        options.out,
        (folder, temporaryDirectory) => momentOf(folder, options, temporaryDirectory),
        (opened, { past }) =>
          past === undefined
            ? explain(terminal, opened, item, options)
            : tellPast(terminal, opened, { item, past, options }),
      );
    });
}

async function momentOf(
  folder: OutputFolder,
  { run, asOf }: Options,
  temporaryDirectory: string,
): Promise<Moment> {
  if (run !== undefined && asOf !== undefined) {
    throw new WarehouseError(
      "config.invalid",
      "--run and --as-of both say which run is meant; give one of them.",
    );
  }
  if (asOf !== undefined) return runAsOf(folder, asOf, temporaryDirectory);
  if (run !== undefined) await assertNotPast(folder, run, temporaryDirectory);
  return { wanted: run ?? "current" };
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
  const answer =
    json === true
      ? `${JSON.stringify(explanationJson(explanation, told), undefined, 2)}\n`
      : explanationText(explanation, told, terminal.columns);
  await write(terminal, answer, json === true);
}

/** The same of a run whose files are gone, as far as the history knows it. */
async function tellPast(
  terminal: Terminal,
  opened: OpenedRun,
  asked: { readonly item: string; readonly past: KnownRun; readonly options: Options },
): Promise<void> {
  const { destination, field, json } = asked.options;
  const explanation = await explainPast(opened, asked.item, asked.past);
  const told: ToldOfPast = {
    run: opened.run,
    destinationIds: idsOfName(explanation.destinations, "destination", destination),
    fieldIds: idsOfName(explanation.fields, "custom field", field),
  };
  const answer =
    json === true
      ? `${JSON.stringify(pastJson(explanation, told), undefined, 2)}\n`
      : pastText(explanation, told, terminal.columns);
  await write(terminal, answer, json === true);
}

function idsOfName(
  names: ReadonlyMap<string, string | null>,
  what: string,
  wanted: string | undefined,
): string[] | undefined {
  if (wanted === undefined) return undefined;
  return matching(
    [...names].map(([id, name]) => ({ id, name })),
    what,
    wanted,
  );
}

async function write(terminal: Terminal, text: string, isJson: boolean): Promise<void> {
  await writeAll(terminal, [isJson && terminal.columns === undefined ? text : printableText(text)]);
}

/** The explanation for programs: the steps as the procedure takes them, with the filters applied. */
export function explanationJson(explanation: ItemExplanation, told: Told): object {
  const { item, mapped, definitions, evidence, passthrough, since } = explanation;
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
    since:
      since === undefined
        ? null
        : mapped.ledger
            .filter(
              ({ destinationId, customFieldId }) => isDestination(destinationId) && isField(customFieldId),
            )
            .map((row) => {
              const { destinationId, customFieldId, ordinal } = row;
              return { destinationId, customFieldId, ordinal, ...since.get(placeKey(row)) };
            }),
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
