/** The drift of a run, for a screen and for programs. */
import {
  DRIFT_PARTS,
  type DriftLine,
  type DriftPart,
  type DriftReport,
  isNew,
} from "../../audit/questions/drift.ts";
import type { PreviousRun } from "../../audit/questions/run-history.ts";
import { count, counted } from "../../common/figures.ts";
import { jsonRows } from "./rows.ts";
import { drawTable, left, right } from "./table.ts";
import { paragraph } from "./terminal.ts";

export interface DriftAnswer {
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
};

/** What a kind means, beside the title of its part. */
const MEANINGS: Readonly<Record<DriftLine["kind"], string>> = {
  unknown_field: "",
  empty: "",
  type: "another type",
  single_for_list: "one value in place of a list",
  unreadable: "not readable as its type",
  rounded: "more digits than its type holds",
  views_differ: "two documents differ",
  unlisted: "not a listed value",
  personal_dropped: "dropped",
  personal_hashed: "hashed",
  token_redacted: "token redacted",
};

export function driftJson({ run, previous, drift }: DriftAnswer): string {
  const head = { run, previousRun: previous.manifest?.run ?? null };
  const members = Object.entries(head).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  const parts = DRIFT_PARTS.map((part) => `"${part}":${jsonRows(drift[part].map((line) => ({ ...line })))}`);
  return `{${[...members, ...parts].join(",\n")}}\n`;
}

export function driftText({ run, previous, drift }: DriftAnswer, width: number | undefined): string {
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
  const columns = [
    left("field"),
    ...(compared ? [left("status")] : []),
    right("count"),
    ...(compared ? [right("before")] : []),
    ...(kinds ? [left("what")] : []),
    left("example"),
    left("item"),
  ];
  const rows = lines.map((line) => [
    line.path,
    ...(compared ? [isNew(line) ? "new" : part === "vanishedFields" ? "gone" : "known"] : []),
    count(line.count),
    ...(compared ? [count(line.before ?? 0)] : []),
    ...(kinds ? [MEANINGS[line.kind]] : []),
    line.example ?? "",
    line.exampleContentId ?? "",
  ]);
  return `${title}\n${drawTable({ columns, rows }, width).text}`;
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
