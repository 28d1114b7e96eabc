/**
 * Compares a run with the one before it. A run with far fewer rows is not published without approval: a token that sees
 * less, a filter or a half-restored service all answer without an error.
 */
import { WarehouseError } from "../../common/errors.ts";
import { count } from "../../common/figures.ts";
import { RUN_TABLES } from "../../tables/all.ts";
import { HISTORY_TABLES } from "../../tables/history.ts";
import { type Baseline, type ShrinkLimits, shrinkLimit } from "../../warehouse/baseline.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import type { Check } from "./checks.ts";

/** Tables that are compared, and a name for their rows. */
const GUARDED: readonly (readonly [table: string, rows: string])[] = [
  ["content", "items"],
  ["content_mapped_values", "rows of mapped values"],
  ["custom_fields", "custom fields"],
  ["custom_field_mappings", "mappings"],
  ["custom_field_mapping_values", "mapping values"],
];

/** Row counts of the tables that both runs have. No items at all are always too few. */
export function compareRowCounts(before: Manifest["rows"], now: Manifest["rows"], limits: ShrinkLimits) {
  return GUARDED.flatMap(([table, rows]) => {
    const [was, is] = [before[table], now[table]];
    if (was === undefined || is === undefined) return [];
    const isGone = table === "content" && is === 0 && was > 0;
    return [{ rows, before: was, now: is, shrunk: isGone || was - is > shrinkLimit(was, limits) }];
  });
}

type RowCountChanges = ReturnType<typeof compareRowCounts>;

/** Throws `guard.shrink` if a table shrank. */
export function assertNotShrunk(changes: RowCountChanges, previousRun: string): void {
  const shrunk = changes.filter((change) => change.shrunk);
  if (shrunk.length === 0) return;
  const what = shrunk.map(({ rows, before, now }) => `${rows} from ${count(before)} to ${count(now)}`);
  throw new WarehouseError(
    "guard.shrink",
    `There are far fewer rows than in run ${previousRun}: ${what.join(", ")}; nothing was published. ` +
      "If that is right, run again with --accept-shrink; `maxShrinkPercent` and `minShrink` set the limits.",
  );
}

export function rowCountChecks(changes: RowCountChanges): Check[] {
  return changes.map(({ rows, before, now, shrunk }) => ({
    name: `${rows}, compared with the run before`,
    verdict: shrunk ? "warning" : "passed",
    figure: now,
    expected: before,
    detail: shrunk ? "far fewer, accepted with --accept-shrink" : "not far fewer",
  }));
}

/** Records in `run_checks` which run this one was compared with. */
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

const ABOUT_RUNS: ReadonlySet<string> = new Set([...HISTORY_TABLES, ...RUN_TABLES].map(({ name }) => name));

/**
 * Columns, and tables of lists, that had values in the run before and have none now. Tables about runs and columns that
 * the run before lacks do not count.
 */
export function findVanished(
  before: Pick<Manifest, "rows" | "emptyColumns" | "columns">,
  now: Pick<Manifest, "rows" | "emptyColumns">,
): string[] {
  const known = new Set(before.columns);
  const emptyBefore = new Set(before.emptyColumns);
  const tables = new Set(Object.keys(now.rows).filter((table) => !ABOUT_RUNS.has(table)));
  const hadRows = (table = "") => tables.has(table) && (before.rows[table] ?? 0) > 0;
  const emptied = [...tables].filter((name) => name !== "content" && hadRows(name) && now.rows[name] === 0);
  const columns = now.emptyColumns.filter(
    (place) => known.has(place) && hadRows(place.split(".")[0]) && !emptyBefore.has(place),
  );
  return [...emptied, ...columns];
}
