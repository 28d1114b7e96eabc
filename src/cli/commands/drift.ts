import {
  DRIFT_PARTS,
  type DriftLine,
  type DriftPart,
  type DriftReport,
  driftOf,
  isNew,
} from "../../audit/questions/drift.ts";
import { findPreviousRun, type PreviousRun } from "../../audit/questions/run-history.ts";
import { count, counted } from "../../common/figures.ts";
import { drawTable, left, right, tableOf } from "../../show/table.ts";
import { paragraph, writeAll } from "../../show/terminal.ts";
import { CliCommand, processEnvironment } from "../command.ts";
import { sectionJson } from "../render/sections.ts";
import { withRuns } from "../with-run.ts";

interface Options {
  readonly warehouse: string;
  readonly format: "table" | "json";
}

const EXAMPLES = `
Examples:
  $ content-warehouse drift
  $ content-warehouse drift 42 --warehouse /srv/warehouse
  $ content-warehouse drift --format json | jq '.newFields[] | select(.before == 0).path'

RUN is a run's name, its number, or "current". It is compared with the run that
was current when it began. A count is of documents, of all passes together.
`;

export function driftCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("drift")
    .description("show new, vanished and changed fields, compared with the run before")
    .argument("[run]", "name or number of a run, or current", "current")
    .warehouse()
    .format("table", "json")
    .addHelpText("after", EXAMPLES)
    .action((wanted: string, { warehouse, format }: Options) =>
      withRuns(
        warehouse,
        async (folder) => {
          const previous = await findPreviousRun(folder, wanted);
          return { wanted, beside: previous.manifest?.run, anyPipeline: true, previous };
        },
        async ({ run, connection, manifest }, { previous }) => {
          const drift = await driftOf({ connection, now: manifest, before: previous.manifest });
          const told = { run, previous, drift };
          await writeAll(out, [format === "json" ? driftJson(told) : driftText(told, out.columns)]);
        },
      ),
    );
}

interface Told {
  readonly run: string;
  readonly previous: PreviousRun;
  readonly drift: DriftReport;
}

type OfService = Exclude<DriftPart, "policy">;

const TITLES: Readonly<Record<OfService, string>> = {
  newFields: "New fields (not in the specification)",
  vanishedFields: "Vanished fields (no value any more)",
  changedTypes: "Changed types",
  outsideContract: "Values outside the contract",
  contradictions: "Answers that contradict each other",
};

/** What a kind means, beside the title of its part. */
const MEANINGS: Readonly<Record<DriftLine["kind"], string>> = {
  unknown_field: "",
  empty: "",
  type: "another type",
  single_for_list: "one value in place of a list",
  unreadable: "not readable as its type",
  rounded: "more digits than its type holds",
  instant_form: "an instant in another form, stored in UTC",
  views_differ: "two answers differ",
  versions_differ: "answers of two versions",
  unlisted: "not a listed value",
  personal_dropped: "dropped",
  personal_hashed: "hashed",
  token_redacted: "token redacted",
};

function driftJson({ run, previous, drift }: Told): string {
  const head = { run, previousRun: previous.manifest?.run ?? null };
  const parts = DRIFT_PARTS.map((key) => ({ key, rows: drift[key].map((line) => ({ ...line })) }));
  return sectionJson(head, parts);
}

function driftText({ run, previous, drift }: Told, width: number | undefined): string {
  const head = previous.missing ?? `Run ${run}, compared with ${previous.manifest?.run}.`;
  const parts = DRIFT_PARTS.filter((part) => part !== "policy").map((part) =>
    partText(part, drift[part], width),
  );
  return [paragraph("", head, width), ...parts, paragraph("", policyText(drift.policy), width)].join("\n");
}

function partText(part: OfService, lines: readonly DriftLine[], width: number | undefined): string {
  const title = TITLES[part];
  if (lines.length === 0) return `${title}: none\n`;
  const compared = lines.some(({ before }) => before !== null);
  const kinds = lines.some(({ kind }) => MEANINGS[kind] !== "");
  const known = part === "vanishedFields" ? "gone" : "known";
  const table = tableOf(lines, [
    left("field", ({ path }) => path),
    ...(compared ? [left<DriftLine>("status", (line) => (isNew(line) ? "new" : known))] : []),
    right("count", (line) => count(line.count)),
    ...(compared ? [right<DriftLine>("before", ({ before }) => count(before ?? 0))] : []),
    ...(kinds ? [left<DriftLine>("what", ({ kind }) => MEANINGS[kind])] : []),
    left("example", ({ example }) => example ?? ""),
    left("item", ({ exampleContentId }) => exampleContentId ?? ""),
  ]);
  return `${title}\n${drawTable(table, width).text}`;
}

/** The policy's own work: told in one sentence, so that it hides no departure of the service. */
function policyText(lines: readonly DriftLine[]): string {
  if (lines.length === 0) return "The personal-data policy changed no field.";
  const kinds = Map.groupBy(lines, ({ kind }) => MEANINGS[kind]);
  const parts = [...kinds].map(([meaning, some]) => {
    const values = some.reduce((sum, line) => sum + line.count, 0);
    return `${counted(some.length, "field")} ${meaning} (${counted(values, "value")})`;
  });
  return `By the personal-data policy: ${parts.join(", ")}; --format json lists them.`;
}
