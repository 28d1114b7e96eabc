import type { DuckDBConnection } from "@duckdb/node-api";
import { col, type Section, section } from "../../common/answer.ts";
import { count, pluralize } from "../../common/figures.ts";
import { printableLine } from "../../common/printable.ts";
import type { Cause } from "../../tables/history.ts";
import { DEFINITION_CHANGES } from "../mapping/definition-changes.ts";
import type { RunQuestion, RunSelection } from "../open-run.ts";
import { readList } from "../queries.ts";
import { notFound, type ScopeNames } from "../scope.ts";
import { changeTexts, wordsIn } from "./change-text.ts";
import { findItemId } from "./content-diff-answer.ts";
import { findRunPair, type RunPair, unsettledSentence } from "./run-pair.ts";
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
): RunQuestion<RunSelection & { readonly pair: RunPair }> {
  const { before, after, cause, destination, field, item, items = item !== undefined } = request;
  return {
    async choose(folder, temporaryDirectory) {
      const pair = await findRunPair(folder, [before, after], temporaryDirectory);
      if (pair.basis !== undefined) return { pair, wanted: pair.basis };
      const [one, other] = [pair.before, pair.after];
      throw notFound(
        `No history knows both ${one.run} and ${other.run}; "diff ${one.sequence} ${other.sequence} --content --table content_mapped_values" compares their mapped values row by row.`,
      );
    },
    async answer(opened, { pair }) {
      const { connection } = opened;
      const id = item === undefined ? undefined : await findItemId(opened, item, ITEMS_KNOWN);
      const filter = { cause, destination, field, item: id };
      const diff = await diffValues(connection, pair, filter);
      const lists = { connection, diff };
      return {
        lead: leadOf(pair, diff, filter),
        facts: {
          from: { ...pair.before },
          to: { ...pair.after },
          history_of: pair.basis ?? null,
          items_with_changed_values: diff.items,
          values_changed: diff.values,
          payloads_changed: diff.payloads,
          items_with_changed_payload: diff.payloadItems,
        },
        // The connection stays open while the lists are read.
        sections: [
          ...countedSections(diff),
          { ...(await linesSection(lists)), ...(id !== undefined && { limit: 0 }) },
          ...(items ? [await itemsSection(lists)] : []),
        ],
      };
    },
  };
}

export interface Lists {
  readonly connection: DuckDBConnection;
  readonly diff: ValueDiff;
}

/** Items of the run, and those that its history knows by ID. */
const ITEMS_KNOWN = "FROM content SELECT content_id, slug UNION FROM content_history SELECT content_id, NULL";

export function leadOf(pair: RunPair, diff: ValueDiff, filter: DiffFilter): string {
  return [...compared(pair, diff), cameTo(diff, filter)].join(" ");
}

/** Changes by cause, and changes of definitions. */
export function countedSections({ causes, definitionRows }: ValueDiff): Section[] {
  return [
    section({
      key: "causes",
      none: "",
      title: "Changes by cause",
      columns: { cause: col.name({ isWords: true }), ...CAUSES_COUNTED },
      rows: causes.map(withCause),
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

/** `condition`: SQL. */
export async function linesSection(lists: Lists, some = "true"): Promise<Section> {
  return section({
    key: "lines",
    none: "",
    title: "What changed in the mapped values",
    apart: APART,
    columns: { ...CAUSE, ...CHANGE_LINES, ...WORDS },
    ...(await readList(
      lists.connection,
      CHANGE_LINES,
      changeListSql("audit_diff_lines", some),
      inWords(lists.diff),
    )),
  });
}

export async function itemsSection(lists: Lists, some = "true"): Promise<Section> {
  return section({
    key: "items",
    none: "",
    title: "Items",
    apart: APART,
    columns: { ...CHANGE_ITEMS, ...CAUSE, ...WORDS },
    ...(await readList(
      lists.connection,
      CHANGE_ITEMS,
      changeListSql("audit_diff_items", some),
      inWords(lists.diff),
    )),
  });
}

function withCause<R extends Pick<ItemValueChange, "causes">>(row: R) {
  return { ...row, cause: wordsIn(row.causes).join(", ") };
}

function inWords(diff: ValueDiff) {
  return <R extends ItemValueChange>(row: R) => ({
    ...withCause(row),
    ...changeTexts(row),
    why: findReasons(diff, row)
      .map((text) => printableLine(text))
      .join("; "),
  });
}

/** Sentences: which runs were compared, and how reliable the comparison is. */
function compared({ before, after, basis }: RunPair, { sendsOtherwise }: ValueDiff): string[] {
  const sentences = [
    `From run ${before.run} to run ${after.run}, by the history of run ${basis}.`,
    unsettledSentence([before, after], "what it did not see counts as unchanged"),
    sendsOtherwise &&
      "Their pipelines differ in sending values of fields without value mappings as they are; that does not count as a change.",
  ];
  return sentences.filter((sentence) => sentence !== false);
}

function cameTo(diff: ValueDiff, { cause, destination, field, item }: DiffFilter): string {
  const { values, items, payloads, payloadItems, otherItems, largest, receptionChanges } = diff;
  const others = [
    ...receptionChanges.map(
      ({ destination: name, reception, items: received }) =>
        `${JSON.stringify(printableLine(name))} ${reception === "began" ? "now accepts mappings" : "no longer accepts mappings"}: ${pluralize(received, "item")}.`,
    ),
    ...(otherItems === 0
      ? []
      : [`Not counted: ${pluralize(otherItems, "item")} at destinations that receive no values.`]),
  ];
  if (values > 0) {
    const some = largest?.items === items ? "" : `${count(largest?.items ?? 0)} of them `;
    const because = largest === undefined ? "" : `, ${some}because ${printableLine(largest.clause)}`;
    const differ =
      payloads === 0 ? "no payload changed" : `${pluralize(payloadItems, "item")} whose payloads changed`;
    const changed = `${pluralize(items, "item")} whose mapped values changed${because}; ${differ}.`;
    return [changed, ...others].join(" ");
  }
  if (others.length > 0)
    return ["Nothing changed at destinations that receive values in both runs.", ...others].join(" ");
  return [cause, destination, field, item].some((each) => each !== undefined)
    ? "Nothing that matches the filters changed."
    : "Nothing changed: every mapped value is as it was.";
}

/** Rows of a list before it is unfolded. */
const ROWS_SHOWN = 10;

export async function diffForReport(connection: DuckDBConnection, pair: RunPair) {
  const filter = { cause: undefined, destination: undefined, field: undefined };
  const diff = await diffValues(connection, pair, filter);
  const lists = { connection, diff };
  const alike = diff.causes.reduce((sum, each) => sum + each.alike, 0);
  const [sent, same] = ["change <> 'alike'", "change = 'alike' AND reception = 'receiving'"];
  return {
    lead: leadOf(pair, diff, filter),
    totals: diff,
    sections: [
      ...countedSections(diff),
      { ...(await linesSection(lists, sent)), limit: ROWS_SHOWN },
      {
        ...(await itemsSection(lists, sent)),
        title: "Item by item",
        limit: ROWS_SHOWN,
        all: "--items --format csv",
      },
      {
        ...(await linesSection(lists, same)),
        key: "alike",
        title: "No payload change",
        lead: `${count(alike)} mapped values: the destination receives the same; only the status, a flag or an unsent value differs.`,
        limit: 0,
      },
    ],
  };
}
