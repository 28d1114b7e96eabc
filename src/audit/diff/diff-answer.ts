import { col, type Section, section } from "../../common/answer.ts";
import { counted } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import { printableLine } from "../../common/printable.ts";
import type { Cause } from "../../tables/history.ts";
import type { Choice, Question } from "../open-run.ts";
import { notFound, type Scoped } from "../questions/filters.ts";
import { type ListRequest, listOf } from "../rows-listed.ts";
import { changeParts, wordsIn } from "./change-words.ts";
import { DEFINITIONS } from "./definition-changes.ts";
import {
  CAUSES_COUNTED,
  changesSql,
  type Diff,
  type DiffFilter,
  diffRuns,
  ITEMS,
  LINES,
  type PlacedChange,
  whyOf,
} from "./diff.ts";
import { findPair, type RunPair } from "./diff-runs.ts";

/** For people. */
const CAUSE = { cause: col.text() } as const;
/** A change, and the definitions behind it. */
const WORDS = {
  value: col.text(),
  before: col.text(),
  after: col.text(),
  why: col.text({ dispensable: 1 }),
} as const;

/** Throws `config.not_found` for two runs that no history knows both. */
export function diffQuestion(
  request: Scoped & {
    /** Name or number of a run, also one whose files are gone, `current` or `previous`. */
    readonly before: string;
    readonly after: string;
    readonly cause?: Cause | undefined;
    /** Whether the changed values of each item are told too. */
    readonly items?: boolean | undefined;
    /** Rows of each list; undefined: all. */
    readonly limit?: number | undefined;
  },
): Question<Choice & { readonly pair: RunPair }> {
  const { before, after, cause, destination, field, items = false, limit } = request;
  return {
    async choose(folder, temporaryDirectory) {
      const pair = await findPair(folder, [before, after], temporaryDirectory);
      if (pair.basis !== undefined) return { pair, wanted: pair.basis };
      const [one, other] = [pair.before, pair.after];
      throw notFound(
        `No history knows both ${one.run} and ${other.run}; "diff ${one.sequence} ${other.sequence} --content --table content_mapped_values" compares their mapped values row by row.`,
      );
    },
    async answer({ connection }, { pair }) {
      const filter = { cause, destination, field };
      const diff = await diffRuns(connection, pair, filter);
      const lists = { connection, diff, limit };
      return {
        lead: leadOf(pair, diff, filter),
        facts: {
          from: { ...pair.before },
          to: { ...pair.after },
          history_of: pair.basis ?? null,
          items_changed: diff.items,
          values_changed: diff.values,
          payloads_changed: diff.payloads,
          items_with_changed_payload: diff.payloadItems,
        },
        // Its lists are read as long as the connection is open.
        sections: [
          ...countedSections(lists),
          await linesSection(lists),
          ...(items ? [await itemsSection(lists)] : []),
        ],
      };
    },
  };
}

export interface Lists extends ListRequest {
  readonly diff: Diff;
}

export function leadOf(pair: RunPair, diff: Diff, filter: DiffFilter): string {
  return [...compared(pair, diff), cameTo(diff, filter)].join(" ");
}

/** What there is of each cause, and what became of the definitions. */
export function countedSections({ diff, limit }: Pick<Lists, "diff" | "limit">): Section[] {
  const { causes, definitionRows } = diff;
  return [
    section({
      key: "causes",
      none: "",
      title: "Changes by cause",
      columns: { ...CAUSE, ...CAUSES_COUNTED, cause: col.name() },
      rows: causes.map(withCause),
      limit: 100,
    }),
    section({
      key: "definitions",
      none: "",
      title: "Changes of definitions",
      columns: DEFINITIONS,
      rows: definitionRows.slice(0, limit),
      total: definitionRows.length,
      ...(limit === undefined ? {} : { limit, all: `--limit ${definitionRows.length}` }),
    }),
  ];
}

/** `some`: a condition. */
export async function linesSection(lists: Lists, some = "true"): Promise<Section> {
  return section({
    key: "lines",
    none: "",
    title: "What changed",
    columns: { ...CAUSE, ...LINES, ...WORDS },
    ...(await listOf(lists, LINES, changesSql("audit_diff_lines", some), inWords(lists.diff))),
  });
}

export async function itemsSection(lists: Lists, some = "true"): Promise<Section> {
  return section({
    key: "items",
    none: "",
    title: "Items",
    columns: { ...ITEMS, ...CAUSE, ...WORDS },
    ...(await listOf(lists, ITEMS, changesSql("audit_diff_items", some), inWords(lists.diff))),
  });
}

/** Causes as people read them. */
function withCause<R extends Pick<PlacedChange, "causes">>(row: R) {
  return { ...row, cause: wordsIn(row.causes).join(", ") };
}

function inWords(diff: Diff) {
  return <R extends PlacedChange>(row: R) => ({
    ...withCause(row),
    ...changeParts(row),
    why: whyOf(diff, row)
      .map((text) => printableLine(text))
      .join("; "),
  });
}

/** What was compared, and how far it can be relied on: a sentence each. */
function compared({ before, after, basis }: RunPair, { sendsOtherwise }: Diff): string[] {
  const unsettled = [before, after].filter(({ verdict }) => verdict === "unsettled").map(({ run }) => run);
  const are = unsettled.length === 1 ? `Run ${unsettled[0]} is` : `${listed(unsettled, "and")} are`;
  const sentences = [
    `From run ${before.run} to run ${after.run}, by the history of run ${basis}.`,
    unsettled.length > 0 && `${are} unsettled: what it did not see counts as it was.`,
    sendsOtherwise &&
      "Their pipelines differ in sending values of fields without value mappings as they are; that alone is no change here.",
  ];
  return sentences.filter((sentence) => sentence !== false);
}

function cameTo(diff: Diff, { cause, destination, field }: DiffFilter): string {
  const { values, items, payloads, payloadItems } = diff;
  if (values > 0) {
    const differ =
      payloads === 0
        ? "no payload differs"
        : `${counted(payloads, "payload")} of ${counted(payloadItems, "item")} ${payloads === 1 ? "differs" : "differ"}`;
    return `${counted(values, "mapped value")} of ${counted(items, "item")} changed; ${differ}.`;
  }
  return [cause, destination, field].some((each) => each !== undefined)
    ? "Nothing that the filters let through changed."
    : "Nothing changed: every mapped value is as it was.";
}
