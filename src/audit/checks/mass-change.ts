/**
 * The guard against mass change: a run that holds much less than the one before it is not published without a person's
 * word. A token that may see less, a filter that somebody set, a half-restored service: all answer without an error.
 */
import { WarehouseError } from "../../common/errors.ts";
import { count } from "../../common/figures.ts";
import { RUN_TABLES } from "../../tables/all.ts";
import { HISTORY_TABLES } from "../../tables/history.ts";
import { type Baseline, type ShrinkLimits, shrinkLimit } from "../../warehouse/baseline.ts";
import { type Check, noneNamed } from "./checks.ts";

/** Tables that are compared with those of the run before, and what people call their rows. */
const GUARDED: readonly (readonly [table: string, rows: string])[] = [
  ["content", "items"],
  ["content_mapped_values", "rows of mapped values"],
  ["custom_fields", "custom fields"],
  ["custom_field_mappings", "mappings"],
  ["custom_field_mapping_values", "mapping values"],
];

/** Rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

type Change = ReturnType<typeof changesOf>[number];

/** Compares what both runs have: a pipeline without a table says nothing about it. No items at all are too few anyway. */
export function changesOf(before: RowCounts, now: RowCounts, limits: ShrinkLimits) {
  return GUARDED.flatMap(([table, rows]) => {
    const [was, is] = [before[table], now[table]];
    if (was === undefined || is === undefined) return [];
    const gone = table === "content" && is === 0 && was > 0;
    const shrunk = gone || was - is > shrinkLimit(was, limits);
    return [{ rows, before: was, now: is, shrunk }];
  });
}

/** Throws `guard.shrink` where something shrank. */
export function assertNotShrunk(changes: readonly Change[], previousRun: string): void {
  const shrunk = changes.filter((change) => change.shrunk);
  if (shrunk.length === 0) return;
  const what = shrunk.map(({ rows, before, now }) => `${rows} from ${count(before)} to ${count(now)}`);
  throw new WarehouseError(
    "guard.shrink",
    `Compared with the run ${previousRun} there are far fewer: ${what.join(", ")}; nothing was published. ` +
      "If that is right, run again with --accept-shrink; `maxShrinkPercent` and `minShrink` set the limits.",
  );
}

export function guardChecks(changes: readonly Change[]): Check[] {
  return changes.map(({ rows, before, now, shrunk }) => ({
    name: `${rows}, compared with the run before`,
    verdict: shrunk ? "warning" : "passed",
    figure: now,
    expected: before,
    detail: shrunk ? "far fewer, accepted with --accept-shrink" : "not far fewer",
  }));
}

/** What this run was compared with, for `run_checks`. */
export function baselineCheck(before: Baseline): Check {
  const common = { name: "runs before this one that it was held against", expected: null };
  switch (before.kind) {
    case "none":
      return { ...common, verdict: "passed", figure: 0, detail: "none was published yet" };
    case "damaged": {
      const detail = `${before.run} is damaged, and --accept-shrink was given: ${before.reason}`;
      return { ...common, verdict: "warning", figure: 0, detail };
    }
    case "run":
      return { ...common, verdict: "passed", figure: 1, detail: before.run };
  }
}

/** What a run states of how full its tables are. */
export interface Fullness {
  readonly rows: RowCounts;
  readonly emptyColumns: readonly string[];
}

/** The same of the run before; `columns`: those that it has. */
export interface FullnessBefore extends Fullness {
  readonly columns: readonly string[];
}

const TELL_OF_RUNS: ReadonlySet<string> = new Set([...HISTORY_TABLES, ...RUN_TABLES].map(({ name }) => name));

/**
 * Columns, and tables of lists, that had values in the run before and have none in this one: a field may have vanished
 * from all items. Not those of the history, which tell of runs, and no column that the run before lacks.
 */
export function vanished(before: FullnessBefore, now: Fullness): string[] {
  const known = new Set(before.columns);
  const emptyBefore = new Set(before.emptyColumns);
  const ofContent = new Set(Object.keys(now.rows).filter((table) => !TELL_OF_RUNS.has(table)));
  const hadRows = (table = "") => ofContent.has(table) && (before.rows[table] ?? 0) > 0;
  const emptied = [...ofContent].filter(
    (name) => name !== "content" && hadRows(name) && now.rows[name] === 0,
  );
  const columns = now.emptyColumns.filter(
    (place) => known.has(place) && hadRows(place.split(".")[0]) && !emptyBefore.has(place),
  );
  return [...emptied, ...columns];
}

export function vanishedCheck(places: readonly string[]): Check {
  return noneNamed("columns and tables that had values in the run before and have none", places);
}
