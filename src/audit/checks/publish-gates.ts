/**
 * Checks that can keep a run from being published: rejects, values of other types, and the run before. A run with far
 * fewer rows is not published without approval: a token that sees less, a filter or a half-restored service all answer
 * without an error.
 */
import { WarehouseError } from "../../common/errors.ts";
import { count } from "../../common/figures.ts";
import type { Journal } from "../../extract/landing/journal.ts";
import type { TableFiles } from "../../load/load-table.ts";
import type { ExtractRecord, RejectLimits } from "../../raw/extract-record.ts";
import { RUN_TABLES } from "../../tables/all.ts";
import { HISTORY_TABLES } from "../../tables/history.ts";
import { type Baseline, type ShrinkLimits, shrinkLimit } from "../../warehouse/baseline.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { type Check, type CheckResults, noneExpected, noneNamed } from "./checks.ts";
import { type Contract, misfitChecks } from "./contract.ts";
import type { TableFacts } from "./table-checks.ts";

interface GateSettings extends ShrinkLimits {
  readonly contract: Contract;
  /** Null: `REJECT_LIMITS`. */
  readonly maxRejects: RejectLimits | null;
}

const REJECT_LIMITS: RejectLimits = { share: 0.005, items: 20 };

/** How many of the listed items may be rejected. */
export function rejectLimit(listed: number, { share, items }: RejectLimits): number {
  return Math.max(items, Math.floor(listed * share));
}

/**
 * `rejected`: listed documents that are not items, and items that the service refused to give, or to give in both
 * modes. Items that were not asked for are not rejects.
 */
function rejectCount(
  { count: items, rejected, unread, inPartRejected }: ExtractRecord["items"],
  { maxRejects }: GateSettings,
) {
  const listed = items + rejected;
  return {
    listed,
    rejected: rejected + unread.rejected + inPartRejected.length,
    limit: rejectLimit(listed, maxRejects ?? REJECT_LIMITS),
  };
}

/**
 * Throws `source.rejects` if there are too many rejects. If most of them have an ID of another type, or nothing can be
 * read, items themselves have changed: then it throws `contract.drift`.
 */
export function assertFewRejects(
  settings: GateSettings,
  items: ExtractRecord["items"],
  journal: Journal,
): void {
  const { listed, rejected, limit } = rejectCount(items, settings);
  const isNothingRead = rejected > 0 && rejected === listed;
  if (rejected <= limit && !isNothingRead) return;
  const reasonsOf = (single: boolean) =>
    journal.rejects.filter(({ mode }) => (mode === "item") === single).map(({ reason }) => reason);
  const ofListings = reasonsOf(false);
  const ofIdType = ofListings.filter((reason) => reason.startsWith("the item's id is a "));
  const hasDrifted = isNothingRead || ofIdType.length > ofListings.length / 2;
  const reasons = [...new Set(ofListings.length > 0 ? ofListings : reasonsOf(true))].slice(0, 2).join("; ");
  throw new WarehouseError(
    hasDrifted ? "contract.drift" : "source.rejects",
    `${rejected} of ${listed} listed items could not be read, limit: ${limit} (${reasons}); nothing was published. ` +
      `Ask the operator of the service what changed${hasDrifted ? "" : ", or set `maxRejects`"}.`,
  );
}

/**
 * Checks rejects and misfits, and compares the tables with those of the run before. Throws `contract.drift` and
 * `guard.shrink`.
 */
export function checkAgainstBaseline(
  before: Baseline,
  { tables, emptyColumns, misfits }: TableFacts,
  { items, asked: { gates, accepted, destinations } }: ExtractRecord,
): CheckResults {
  const { listed, rejected, limit } = rejectCount(items, gates);
  const name = "listed items that could not be read, or not in both modes";
  const rejects = { ...noneExpected(name, rejected, `of ${listed}; see run_rejects`), expected: limit };
  const checks: Check[] = [rejects, ...misfitChecks(misfits), baselineCheck(before)];
  if (before.kind !== "run") return { checks, warnings: [] };
  const now = { rows: rowCounts(tables), emptyColumns };
  const changes = compareRowCounts(before.manifest.rows, now.rows, gates);
  if (!accepted.shrink) assertNotShrunk(changes, before.run);
  const { allDestinations, destinations: configured } = before.manifest.asked;
  const unconfigured = (allDestinations ? [] : configured).filter(
    ({ name, platform }) => !destinations.some((each) => each.name === name && each.platform === platform),
  );
  // Names and platforms of these destinations are gone, for this reason.
  const places = findVanished(before.manifest, now).filter(
    (place) => unconfigured.length === 0 || !/^destinations\.|\.destination_/.test(place),
  );
  const vanished = noneNamed("columns and tables that had values in the run before and have none", places);
  const compared = changes.map(
    ({ rows, before: was, now: is, shrunk }): Check => ({
      name: `${rows}, compared with the run before`,
      verdict: shrunk ? "warning" : "passed",
      figure: is,
      expected: was,
      detail: shrunk ? "far fewer, accepted with --accept-shrink" : "not far fewer",
    }),
  );
  return {
    checks: [...checks, ...compared, vanished],
    warnings: [
      ...unconfigured.map(
        ({ name, platform }) =>
          `Destination ${JSON.stringify(name)} on platform ${JSON.stringify(platform)} is no longer configured, so its values are not counted and have its ID in place of its name. If it still receives content, name it in \`destinations\`.`,
      ),
      ...places.map((place) => `${place} had values in the run before, and has none now.`),
    ],
  };
}

/** Records in `run_checks` which run this one was compared with. */
function baselineCheck(before: Baseline): Check {
  const name = "earlier runs that this one was compared with";
  const [figure, detail] =
    before.kind === "run"
      ? [1, before.run]
      : before.kind === "none"
        ? [0, "none was published yet"]
        : [0, `${before.run} is damaged, and --accept-shrink was given: ${before.reason}`];
  const verdict = before.kind === "damaged" ? "warning" : "passed";
  return { name, verdict, figure, expected: null, detail };
}

export function rowCounts(tables: readonly TableFiles[]): Manifest["rows"] {
  return Object.fromEntries(tables.map(({ table, rows }) => [table, rows]));
}

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

/** Throws `guard.shrink` if a table shrank. */
function assertNotShrunk(changes: ReturnType<typeof compareRowCounts>, previousRun: string): void {
  const shrunk = changes.filter((change) => change.shrunk);
  if (shrunk.length === 0) return;
  const what = shrunk.map(({ rows, before, now }) => `${rows} from ${count(before)} to ${count(now)}`);
  throw new WarehouseError(
    "guard.shrink",
    `There are far fewer rows than in run ${previousRun}: ${what.join(", ")}; nothing was published. ` +
      "If that is right, run again with --accept-shrink; `maxShrinkPercent` and `minShrink` set the limits.",
  );
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
  const hadRows = (table = "") =>
    Object.hasOwn(now.rows, table) && !ABOUT_RUNS.has(table) && (before.rows[table] ?? 0) > 0;
  const emptied = Object.keys(now.rows).filter(
    (name) => name !== "content" && hadRows(name) && now.rows[name] === 0,
  );
  const columns = now.emptyColumns.filter(
    (place) => known.has(place) && hadRows(place.split(".")[0]) && !emptyBefore.has(place),
  );
  return [...emptied, ...columns];
}
