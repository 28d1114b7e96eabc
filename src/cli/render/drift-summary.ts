/** The drift of a run in a few lines: what is new by name, the rest as one figure. */
import { type DriftLine, type DriftReport, isNew } from "../../audit/questions/drift.ts";
import { count } from "../../common/figures.ts";
import type { RunSummary } from "../../run/summary.ts";

type Seen = Pick<RunSummary, "drift" | "previousRun">;

const NAMED = 5;

interface Part {
  /** One of its lines, and several. */
  readonly words: readonly [one: string, several: string];
  readonly lines: readonly DriftLine[];
}

/** The policy's own work is none of the service's. */
function partsOf(drift: DriftReport): Part[] {
  return [
    { words: ["new field", "new fields"], lines: drift.newFields },
    { words: ["vanished field", "vanished fields"], lines: drift.vanishedFields },
    { words: ["changed type", "changed types"], lines: drift.changedTypes },
    {
      words: ["field with values outside the contract", "fields with values outside the contract"],
      lines: drift.outsideContract,
    },
  ];
}

/** Whether nothing departs from the specification that did not in the run before. */
export function isUneventful({ drift, previousRun }: Seen): boolean {
  if (drift === null || previousRun === null) return true;
  return partsOf(drift).every(({ lines }) => lines.filter(isFresh).length === 0);
}

/** Since the run before: a field that is there for the first time, or not any more. */
function isFresh(line: DriftLine): boolean {
  return isNew(line) || line.count === 0;
}

/** No line where the service keeps to the specification. */
export function summaryOfDrift({ drift, previousRun }: Seen): string[] {
  if (drift === null) return [];
  const parts = partsOf(drift);
  if (previousRun === null) {
    const all = parts.filter(({ lines }) => lines.length > 0).map(named);
    return all.length === 0 ? [] : [`${all.join("; ")}; nothing to compare with yet`];
  }
  const fresh = parts
    .map(({ words, lines }) => ({ words, lines: lines.filter(isFresh) }))
    .filter(({ lines }) => lines.length > 0)
    .map(named);
  const known = parts.reduce((sum, { lines }) => sum + lines.filter((line) => !isFresh(line)).length, 0);
  if (known === 0) return fresh;
  return [
    ...fresh,
    `${count(known)} known before; "content-warehouse drift" lists ${known === 1 ? "it" : "them"}`,
  ];
}

function named({ words: [one, several], lines }: Part): string {
  const names = lines.slice(0, NAMED).map(({ path }) => path);
  const more = lines.length > names.length ? `, and ${count(lines.length - names.length)} more` : "";
  return `${count(lines.length)} ${lines.length === 1 ? one : several}: ${names.join(", ")}${more}`;
}
