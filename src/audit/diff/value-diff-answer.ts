/** The answer of `diff --values`: changes of mapped values by definition, by value and by item. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { count, pluralize } from "../../common/figures.ts";
import { printableLine } from "../../common/printable.ts";
import type { Cause } from "../../tables/history.ts";
import type { RunQuestion } from "../open-run.ts";
import { findItemId } from "../questions/find-item.ts";
import type { ScopeNames } from "../scope.ts";
import { type PairSelection, type RunPair, selectValueRuns, unsettledSentence } from "./run-pair.ts";
import { diffValues } from "./value-diff.ts";

type ValueDiff = Awaited<ReturnType<typeof diffValues>>;
type ChangeLine = Awaited<ReturnType<ValueDiff["readLines"]>>["rows"][number];

/** Throws `answer.nothing` if no history knows both runs. */
export function diffQuestion(
  request: ScopeNames & {
    /** Name or number of a run (kept or not), `current` or `previous`. */
    readonly before: string;
    readonly after: string;
    readonly cause?: Cause | undefined;
    /** Show only this item: ID, slug or title. */
    readonly item?: string | undefined;
    /** Whether the changes of each item are listed. With `item` they always are. */
    readonly items?: boolean | undefined;
  },
): RunQuestion<PairSelection> {
  const { before, after, cause, destination, field, item, items = item !== undefined } = request;
  return {
    choose: (folder, temporaryDirectory) => selectValueRuns(folder, [before, after], temporaryDirectory),
    async answer(opened, { pair, wanted }) {
      const id = item === undefined ? undefined : await findItemId(opened, item, ITEMS_KNOWN);
      const diff = await diffValues(opened.connection, pair, { cause, destination, field, item: id });
      const lines = await diff.readLines();
      return {
        lead: leadOf(pair, wanted, diff, mostFrequent(lines.rows)),
        facts: {
          from: { ...pair.before },
          to: { ...pair.after },
          history_of: wanted,
          items_with_changed_values: diff.items,
          values_changed: diff.values,
          lost: diff.lost,
          gained: diff.gained,
          payloads_changed: diff.payloads,
          items_with_changed_payload: diff.payloadItems,
        },
        // The connection stays open while the lists are read.
        sections: [
          diff.definitions,
          { ...lines.section, ...(id !== undefined && { limit: 0 }) },
          ...(items ? [await diff.readItems()] : []),
        ],
      };
    },
  };
}

/** Items of the run, and those that its history knows by ID. */
const ITEMS_KNOWN =
  "FROM content SELECT content_id, slug, title UNION FROM content_history SELECT content_id, NULL, NULL";

/** Which runs were compared, how reliable that is, and what changed. `basis`: run whose history knows both; `first`: the change of most items. */
function leadOf({ before, after }: RunPair, basis: string, diff: ValueDiff, first?: ChangeLine): string {
  const sentences = [
    `From run ${before.run} to run ${after.run}, by the history of run ${basis}.`,
    unsettledSentence([before, after], "what it did not see counts as unchanged"),
    diff.sendsOtherwise &&
      "Their pipelines differ in sending values of fields without value mappings as they are; that does not count as a change.",
    ...changeSentences(diff, first),
  ];
  return sentences.filter((sentence) => sentence !== false).join(" ");
}

/** The change of most items at destinations that receive values. */
function mostFrequent(lines: readonly ChangeLine[]): ChangeLine | undefined {
  const receiving = lines.filter(({ reception }) => reception === "receiving");
  return receiving.toSorted((a, b) => b.items - a.items)[0];
}

function changeSentences(diff: ValueDiff, first?: ChangeLine): string[] {
  const { values, items, lost, gained, payloadItems, otherItems, receptionChanges } = diff;
  const definitions = diff.definitions.rows.length;
  const sentences: string[] = [];
  if (values > 0) {
    const all = items === 1 ? "it is" : "all are";
    const some = `${count(payloadItems)} of these items ${payloadItems === 1 ? "is" : "are"}`;
    const sent = payloadItems === 0 ? "none is" : payloadItems === items ? all : some;
    sentences.push(`Mapped values of ${pluralize(items, "item")} changed; ${sent} sent differently.`);
    const gains =
      lost > 0 ? `${count(gained)} gained one` : `${pluralize(gained, "value")} gained an external value`;
    const moves = [lost > 0 && `${pluralize(lost, "value")} lost the external value`, gained > 0 && gains];
    if (lost + gained > 0) sentences.push(`${moves.filter((move) => move !== false).join(", ")}.`);
    if (first !== undefined)
      sentences.push(`Largest change (${pluralize(first.items, "item")}, ${first.what}): ${first.cause}.`);
  } else {
    const which = diff.isFiltered ? " that matches the filters" : "";
    const did = definitions === 0 ? "." : `; ${pluralize(definitions, "definition")} did.`;
    sentences.push(`No mapped value${which} changed${did}`);
  }
  for (const { destination, reception, items: received } of receptionChanges) {
    const receives = reception === "began" ? "now receives values" : "no longer receives values";
    sentences.push(
      `${JSON.stringify(printableLine(destination))} ${receives}: ${pluralize(received, "item")}.`,
    );
  }
  if (otherItems > 0)
    sentences.push(`Not counted: ${pluralize(otherItems, "item")} at destinations that receive nothing.`);
  return sentences;
}

/** `run`: run whose history the connection has. */
export async function diffForReport(connection: DuckDBConnection, pair: RunPair, run: string) {
  const diff = await diffValues(connection, pair);
  const lines = await diff.readLines();
  const receiving = lines.rows.filter(
    ({ reception, change }) => reception === "receiving" && change !== "alike",
  );
  return {
    lead: leadOf(pair, run, diff, mostFrequent(lines.rows)),
    totals: diff,
    /** The changes that touch most items, at destinations that receive values in both runs. */
    largest: receiving.slice(0, 4),
    sections: [
      diff.definitions,
      {
        ...lines.section,
        shows: ["cause", "destination", "custom_field", "value", "before", "after", "items"],
        limit: 10,
      },
    ],
  };
}
