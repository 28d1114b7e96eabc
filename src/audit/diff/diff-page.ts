/** What a page has of the answer of `diff`: rows of each list, those that send the same apart. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Section } from "../../common/answer.ts";
import { count } from "../../common/figures.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { type Diff, diffRuns, listSome } from "./diff.ts";
import { type ChangeColumns, countedSections, itemsSection, leadOf, linesSection } from "./diff-answer.ts";
import type { RunPair } from "./diff-runs.ts";

export interface PageDiff {
  readonly lead: string;
  readonly sections: readonly Section[];
  readonly totals: Pick<Diff, "items" | "values" | "payloads" | "payloadItems">;
}

/** Rows of a list before it is unfolded. */
const ROWS_SHOWN = 10;

/** `limit`: rows of a list, at most. Of the changes of items each cause has its share. */
export async function diffForPage(
  connection: DuckDBConnection,
  pair: RunPair,
  limit: number,
): Promise<PageDiff> {
  const filter = { cause: undefined, destination: undefined, field: undefined };
  const diff = await diffRuns(connection, pair, filter);
  const lists = { connection, diff, limit: undefined };
  // What a screen does not get comes last.
  const counts = countedSections(lists);
  return {
    lead: leadOf(pair, diff, filter),
    totals: diff,
    sections: [
      ...counts.filter(({ limit }) => limit !== 0),
      { ...inParts(await linesSection(lists, "change <> 'alike'")), limit: ROWS_SHOWN },
      await someItems(connection, diff, limit),
      alikeSection(diff, await linesSection(lists, "change = 'alike'")),
      ...counts.filter(({ limit }) => limit === 0),
    ],
  };
}

/**
 * The cause with the fewest changes first: what touches many items at once is a line of another list already. What changed
 * of an item for the same cause stands together.
 */
async function someItems(connection: DuckDBConnection, diff: Diff, limit: number): Promise<Section> {
  await listSome(connection, limit);
  const items = await itemsSection({ connection, diff, limit: undefined });
  const sent = new Map(diff.causes.map(({ causes, values, alike }) => [causes, values - alike]));
  const sizeOf = (causes: unknown) => sent.get(typeof causes === "string" ? causes : null) ?? 0;
  const { why, ...columns } = items.columns;
  const hidden = { why: { ...why, kind: "text", hidden: true } } satisfies ChangeColumns;
  return inParts({
    ...items,
    title: "Item by item",
    columns: { ...columns, ...hidden },
    rows: items.rows.toSorted(
      (a, b) =>
        sizeOf(a.causes) - sizeOf(b.causes) ||
        compareUtf8(String(a.causes), String(b.causes)) ||
        compareUtf8(String(a.content_id), String(b.content_id)),
    ),
    total: [...sent.values()].reduce((sum, size) => sum + size, 0),
    limit: ROWS_SHOWN,
    all: "--items --format csv",
  });
}

function alikeSection({ causes }: Diff, lines: Section): Section {
  const alike = causes.reduce((sum, each) => sum + each.alike, 0);
  return inParts({
    ...lines,
    key: "alike",
    title: "No payload change",
    lead: `${count(alike)} mapped values: the destination is sent the same, and the status, a flag or a value that is not sent is another.`,
    limit: 0,
  });
}

/** A change in columns of its own instead of in words. */
function inParts(section: Section): Section {
  const shown = (name: keyof ChangeColumns) =>
    ({ ...section.columns[name], kind: "text", hidden: false }) as const;
  const columns = {
    value: shown("value"),
    before: shown("before"),
    after: shown("after"),
    words: { kind: "text", hidden: true },
  } satisfies ChangeColumns;
  return { ...section, columns: { ...section.columns, ...columns } };
}
