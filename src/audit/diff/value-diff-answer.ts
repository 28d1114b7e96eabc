/** The answer of `diff --values`: changes of mapped values by cause, by definition, by value and by item. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col, type Section, section } from "../../common/answer.ts";
import { count, pluralize } from "../../common/figures.ts";
import { printableLine } from "../../common/printable.ts";
import type { Cause } from "../../tables/history.ts";
import { DEFINITION_CHANGES } from "../mapping/definition-changes.ts";
import type { RunQuestion } from "../open-run.ts";
import { readList } from "../queries.ts";
import { findItemId } from "../questions/find-item.ts";
import type { ScopeNames } from "../scope.ts";
import { type RunPair, selectValueRuns, unsettledSentence, type ValueSelection } from "./run-pair.ts";
import {
  CAUSES_COUNTED,
  CHANGE_ITEMS,
  CHANGE_LINES,
  changeListSql,
  type DiffFilter,
  diffValues,
  findReasons,
  type ItemValueChange,
  type ValueDiff,
  wordsIn,
} from "./value-diff.ts";

const CAUSE = { cause: col.text({ isWords: true }) } as const;
const WORDS = {
  value: col.text({ isWords: true }),
  before: col.text({ isWords: true }),
  after: col.text({ isWords: true }),
  why: col.text({ dispensable: 1 }),
} as const;

/** Throws `config.not_found` if no history knows both runs. */
export function diffQuestion(
  request: ScopeNames & {
    /** Name or number of a run (kept or not), `current` or `previous`. */
    readonly before: string;
    readonly after: string;
    readonly cause?: Cause | undefined;
    /** Show only this item: ID or slug. */
    readonly item?: string | undefined;
    /** Whether the changes of each item are listed. With `item` they always are. */
    readonly items?: boolean | undefined;
  },
): RunQuestion<ValueSelection> {
  const { before, after, cause, destination, field, item, items = item !== undefined } = request;
  return {
    choose: (folder, temporaryDirectory) => selectValueRuns(folder, [before, after], temporaryDirectory),
    async answer(opened, { pair, wanted }) {
      const { connection } = opened;
      const id = item === undefined ? undefined : await findItemId(opened, item, ITEMS_KNOWN);
      const filter = { cause, destination, field, item: id };
      const diff = await diffValues(connection, pair, filter);
      return {
        lead: leadOf(pair, wanted, diff, filter),
        facts: {
          from: { ...pair.before },
          to: { ...pair.after },
          history_of: wanted,
          items_with_changed_values: diff.items,
          values_changed: diff.values,
          payloads_changed: diff.payloads,
          items_with_changed_payload: diff.payloadItems,
        },
        // The connection stays open while the lists are read.
        sections: [
          ...countedSections(diff),
          { ...(await linesSection(connection, diff)), ...(id !== undefined && { limit: 0 }) },
          ...(items ? [await itemsSection(connection, diff)] : []),
        ],
      };
    },
  };
}

/** Items of the run, and those that its history knows by ID. */
const ITEMS_KNOWN = "FROM content SELECT content_id, slug UNION FROM content_history SELECT content_id, NULL";

/** Changes by cause, and changes of definitions. */
function countedSections({ causes, definitionRows }: ValueDiff): Section[] {
  return [
    section({
      key: "causes",
      none: "",
      title: "Changes by cause",
      columns: { cause: col.name({ isWords: true }), ...CAUSES_COUNTED },
      rows: causes.map((row) => ({ ...row, cause: wordsIn(row.causes).join(", ") })),
      limit: 100,
    }),
    section({
      key: "definitions",
      none: "",
      title: "Changes of definitions",
      columns: DEFINITION_CHANGES,
      rows: definitionRows,
    }),
  ];
}

const APART = "The same at destinations that do not receive values in both runs";

/** `some`: SQL condition. */
async function linesSection(connection: DuckDBConnection, diff: ValueDiff, some = "true"): Promise<Section> {
  const sql = changeListSql("audit_diff_lines", some);
  return section({
    key: "lines",
    none: "",
    title: "What changed in the mapped values",
    apart: APART,
    columns: { ...CAUSE, ...CHANGE_LINES, ...WORDS },
    ...(await readList(connection, CHANGE_LINES, sql, inWords(diff))),
  });
}

async function itemsSection(connection: DuckDBConnection, diff: ValueDiff, some = "true"): Promise<Section> {
  const sql = changeListSql("audit_diff_items", some);
  return section({
    key: "items",
    none: "",
    title: "Items",
    apart: APART,
    columns: { ...CHANGE_ITEMS, ...CAUSE, ...WORDS },
    ...(await readList(connection, CHANGE_ITEMS, sql, inWords(diff))),
  });
}

function inWords(diff: ValueDiff) {
  return <R extends ItemValueChange>(row: R) => ({
    ...row,
    cause: wordsIn(row.causes).join(", "),
    ...changeTexts(row),
    why: findReasons(diff, row)
      .map((text) => printableLine(text))
      .join("; "),
  });
}

/** Which runs were compared, how reliable that is, and what changed. `basis`: run whose history knows both. */
function leadOf(pair: RunPair, basis: string, diff: ValueDiff, filter: DiffFilter): string {
  const { before, after } = pair;
  const sentences = [
    `From run ${before.run} to run ${after.run}, by the history of run ${basis}.`,
    unsettledSentence([before, after], "what it did not see counts as unchanged"),
    diff.sendsOtherwise &&
      "Their pipelines differ in sending values of fields without value mappings as they are; that does not count as a change.",
    ...changeSentences(diff, filter),
  ];
  return sentences.filter((sentence) => sentence !== false).join(" ");
}

function changeSentences(diff: ValueDiff, { cause, destination, field, item }: DiffFilter): string[] {
  const { values, items, payloads, payloadItems, otherItems, largest, receptionChanges } = diff;
  const others = receptionChanges.map(({ destination: name, reception, items: received }) => {
    const accepts = reception === "began" ? "now accepts mappings" : "no longer accepts mappings";
    return `${JSON.stringify(printableLine(name))} ${accepts}: ${pluralize(received, "item")}.`;
  });
  if (otherItems > 0)
    others.push(`Not counted: ${pluralize(otherItems, "item")} at destinations that receive no values.`);
  if (values > 0) {
    const some = largest?.items === items ? "" : `${count(largest?.items ?? 0)} of them `;
    const because = largest === undefined ? "" : `, ${some}because ${printableLine(largest.clause)}`;
    const differ =
      payloads === 0 ? "no payload changed" : `${pluralize(payloadItems, "item")} whose payloads changed`;
    return [`${pluralize(items, "item")} whose mapped values changed${because}; ${differ}.`, ...others];
  }
  if (others.length > 0)
    return ["Nothing changed at destinations that receive values in both runs.", ...others];
  return [cause, destination, field, item].some((each) => each !== undefined)
    ? ["Nothing that matches the filters changed."]
    : ["Nothing changed: every mapped value is as it was."];
}

/** Rows of a list before it is unfolded. */
const ROWS_SHOWN = 10;

/** `run`: run whose history the connection has. */
export async function diffForReport(connection: DuckDBConnection, pair: RunPair, run: string) {
  const filter = { cause: undefined, destination: undefined, field: undefined };
  const diff = await diffValues(connection, pair, filter);
  const alike = diff.causes.reduce((sum, each) => sum + each.alike, 0);
  const [sent, same] = ["change <> 'alike'", "change = 'alike' AND reception = 'receiving'"];
  return {
    lead: leadOf(pair, run, diff, filter),
    totals: diff,
    sections: [
      ...countedSections(diff),
      { ...(await linesSection(connection, diff, sent)), limit: ROWS_SHOWN },
      {
        ...(await itemsSection(connection, diff, sent)),
        title: "Item by item",
        limit: ROWS_SHOWN,
        all: "--items --format csv",
      },
      {
        ...(await linesSection(connection, diff, same)),
        key: "alike",
        title: "No payload change",
        lead: `${count(alike)} mapped values: the destination receives the same; only the status, a flag or an unsent value differs.`,
        limit: 0,
      },
    ],
  };
}

function quoted(value: string | null): string {
  return value === null ? "nothing" : `"${printableLine(value)}"`;
}

/** The value that changed (null: the whole field), and its state in both runs. */
export function changeTexts(
  row: ItemValueChange,
): Readonly<Record<"value", string | null>> & Record<Side, string> {
  if (row.change === "reordered") return { value: null, before: "", after: "order changed" };
  if (row.status_before === null && row.status_after === null)
    return { value: null, before: fieldText(row, "before"), after: fieldText(row, "after") };
  return { value: valueWords(row), before: valueText(row, "before"), after: valueText(row, "after") };
}

/** State of a whole field: its external name, if that changed, and its flags. */
function fieldText(row: ItemValueChange, side: Side): string {
  const isRenamed = row.name_before !== row.name_after;
  const name = row[`name_${side}`];
  const flags = wordsIn(row[`flags_${side}`]).map((flag) => FLAG_WORDS[flag] ?? flag);
  return [...(isRenamed ? [name === null ? "no name" : `as ${quoted(name)}`] : []), ...flags].join(", ");
}

/** What is sent of a value, with external name and status if these changed. Empty if the value is absent. */
function valueText(row: ItemValueChange, side: Side): string {
  const state = stateOf(row, side);
  if (state === undefined) return "";
  const [name, sent] = [row[`name_${side}`], row[`external_value_${side}`]];
  const isText = sent === null && row[`status_${side}`] === "no_value_mapping";
  const isNamed = row.name_before !== row.name_after && sent !== null && name !== null;
  const other = stateOf(row, side === "before" ? "after" : "before");
  const shown = state !== other && state !== "mapped" ? ` [${state}]` : "";
  return `${isText ? "its text" : quoted(sent)}${isNamed ? ` as ${quoted(name)}` : ""}${shown}`;
}

type Side = "before" | "after";

const FLAG_WORDS: Readonly<Record<string, string>> = {
  destination_unsupported: "at a destination without support for mappings",
  collision: "under a name shared by several fields",
};

/** The internal value, or both if another took its place. */
function valueWords(row: ItemValueChange): string {
  const side = (name: Side) => {
    const value = row[`value_${name}`] ?? row[`value_id_${name}`] ?? null;
    if (row[`status_${name}`] === null) return undefined;
    return value === null ? "a value" : quoted(value);
  };
  const [before, after] = [side("before"), side("after")];
  if (before === undefined || after === undefined || before === after) return after ?? before ?? "a value";
  return `${before} -> ${after}`;
}

/** Status and flags; undefined if the value is absent. */
function stateOf(row: ItemValueChange, side: Side): string | undefined {
  const status = row[`status_${side}`];
  return status === null ? undefined : [status, ...wordsIn(row[`flags_${side}`])].join(", ");
}
