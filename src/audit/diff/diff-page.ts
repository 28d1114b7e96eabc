/** The answer of `diff` for a page: changes that send the same stand apart. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Section } from "../../common/answer.ts";
import { count } from "../../common/figures.ts";
import { type Diff, diffRuns } from "./diff.ts";
import { countedSections, itemsSection, leadOf, linesSection } from "./diff-answer.ts";
import type { RunPair } from "./diff-runs.ts";

export interface PageDiff {
  readonly lead: string;
  readonly sections: readonly Section[];
  readonly totals: Pick<Diff, "items" | "values" | "payloads" | "payloadItems">;
}

/** Rows of a list before it is unfolded. */
const ROWS_SHOWN = 10;

export async function diffForPage(connection: DuckDBConnection, pair: RunPair): Promise<PageDiff> {
  const filter = { cause: undefined, destination: undefined, field: undefined };
  const diff = await diffRuns(connection, pair, filter);
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
        lead: `${count(alike)} mapped values: the destination is sent the same, and the status, a flag or a value that is not sent is another.`,
        limit: 0,
      },
    ],
  };
}
