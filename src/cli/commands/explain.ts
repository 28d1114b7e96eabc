import { placeKey } from "../../audit/mapping/mapped-value.ts";
import type { OpenedRun } from "../../audit/open-run.ts";
import { assertNotPast, type Moment, runAsOf } from "../../audit/questions/as-of.ts";
import { type DocumentEvidence, pointerTo } from "../../audit/questions/evidence.ts";
import { explainItem, type ItemExplanation } from "../../audit/questions/explain.ts";
import { explainPast } from "../../audit/questions/explain-past.ts";
import { matching, resolveScope } from "../../audit/questions/filters.ts";
import type { KnownRun } from "../../audit/questions/run-history.ts";
import { jsonText, printableText } from "../../common/printable.ts";
import { writeAll } from "../../show/terminal.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import { CliCommand, invalid, processEnvironment } from "../command.ts";
import { pastJson, pastText } from "../render/explain-past-text.ts";
import { isWanted, type Told } from "../render/explain-sentences.ts";
import { explanationText, type ToldText } from "../render/explain-text.ts";
import { withRuns } from "../with-run.ts";

interface Options {
  readonly warehouse: string;
  readonly destination?: string;
  readonly field?: string;
  readonly run?: string;
  readonly asOf?: string;
  readonly steps?: true;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse explain why-your-tent-is-wet-inside-and-what-to-do-about-it
  $ content-warehouse explain 66d57e529df0deca35000000 --destination "Web CMS" --field audience --steps
  $ content-warehouse explain 66d57e529df0deca35000000 --as-of 2026-11-20T02:00:00Z --json

ITEM is an item's ID or its slug. WHEN is the name or number of a run, or an instant, in UTC unless it names a zone:
2026-11-20T02:00:00Z, "2026-11-20 02:00", 2026-11-20T03:00+01:00; a day alone is its beginning.
Exit code 31: what was published is not what the rules of the mapping procedure give.
`;

export function explainCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("explain")
    .description("explain which external values an item produces, by which mapping, and where that was read")
    .argument("<item>", "ID or slug of an item")
    .warehouse()
    .option("--destination <name>", "only this destination, by name or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--run <run>", "name or number of a run (default: current)")
    .option(
      "--as-of <when>",
      "a run, or an instant: the last run that had started by then; where its files are gone, the history is asked",
    )
    .option("--steps", "tell the rules too, one by one, and where each thing was read")
    .option("--json", "print one JSON object, which has the steps, instead of the explanation")
    .addHelpText("after", EXAMPLES)
    .action((item: string, options: Options) =>
      withRuns(
        options.warehouse,
        (folder, temporaryDirectory) => momentOf(folder, options, temporaryDirectory),
        async (opened, { past }) => {
          const answer = await explain(opened, { item, past }, options, out.columns);
          await writeAll(out, [
            typeof answer === "string" ? printableText(answer) : `${jsonText(answer, 2)}\n`,
          ]);
        },
      ),
    );
}

async function momentOf(
  folder: OutputFolder,
  { run, asOf }: Options,
  temporaryDirectory: string,
): Promise<Moment> {
  if (run !== undefined && asOf !== undefined) {
    throw invalid("--run and --as-of both say which run is meant; give one of them.");
  }
  if (asOf !== undefined) return runAsOf(folder, asOf, temporaryDirectory);
  if (run !== undefined) await assertNotPast(folder, run, temporaryDirectory);
  return { wanted: run ?? "current" };
}

/** The object for `--json`, else the text; of a run whose files are gone, as far as the history knows it. */
async function explain(
  opened: OpenedRun,
  { item, past }: { readonly item: string; readonly past: KnownRun | undefined },
  { destination, field, steps, json }: Options,
  width: number | undefined,
): Promise<object | string> {
  const { run, manifest } = opened;
  if (past !== undefined) {
    const explanation = await explainPast(opened, item, past);
    const destinationIds = idsOfName(explanation.destinations, "destination", destination);
    const fieldIds = idsOfName(explanation.fields, "custom field", field);
    const told = { run, width, destinationIds, fieldIds };
    return json === true ? pastJson(explanation, told) : pastText(explanation, told);
  }
  const scope = await resolveScope(opened.connection, { destination, field });
  const explanation = await explainItem(opened, item);
  const told = { run, verdict: manifest.verdict, steps: steps === true, width, ...scope };
  return json === true ? explanationJson(explanation, told) : explanationText(explanation, told);
}

function idsOfName(
  names: ReadonlyMap<string, string | null>,
  what: string,
  wanted: string | undefined,
): string[] | undefined {
  const things = [...names].map(([id, name]) => ({ id, name }));
  return wanted === undefined ? undefined : matching(things, what, wanted);
}

/** The explanation for programs: the steps as the procedure takes them, with the filters applied. */
function explanationJson(
  { item, mapped, definitions, evidence, passthrough, since }: ItemExplanation,
  { run, verdict, destinationIds, fieldIds }: ToldText,
): object {
  const isShown = (each: { readonly destinationId: string; readonly customFieldId?: string }) =>
    isWanted(destinationIds, each.destinationId) &&
    (each.customFieldId === undefined || isWanted(fieldIds, each.customFieldId));
  const { document, lookups } = evidence;
  return {
    run,
    verdict,
    item,
    passthrough,
    destinations: definitions.destinations.filter(isShown).map((destination) => {
      const { destinationId } = destination;
      const members = mapped.payloads.get(destinationId);
      return {
        ...destination,
        payload: members === undefined ? null : Object.fromEntries(members),
        steps: mapped.steps.filter((step) => step.destinationId === destinationId && isShown(step)),
      };
    }),
    fields: definitions.fields
      .filter(({ customFieldId }) => isWanted(fieldIds, customFieldId))
      .map(({ customFieldId, name, fieldType }) => ({ customFieldId, name, fieldType })),
    since:
      since === undefined
        ? null
        : mapped.ledger.filter(isShown).map((row) => {
            const { destinationId, customFieldId, ordinal } = row;
            return { destinationId, customFieldId, ordinal, ...since.get(placeKey(row)) };
          }),
    evidence: {
      document: document === undefined ? null : documentJson(document, fieldIds),
      lookups,
    },
  };
}

function documentJson(document: DocumentEvidence, fieldIds: Told["fieldIds"]): object {
  const parts = [...document.parts].filter(([id]) => isWanted(fieldIds, id));
  return {
    ...document,
    request: document.request ?? null,
    parts: parts.map(([id, json]) => ({ customFieldId: id, pointer: pointerTo(id), json })),
  };
}
