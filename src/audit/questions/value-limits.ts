/** Limits of `audit --fail-on`: numbers of values, absolute or relative to the run before, and values that were lost. */
import { col } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { count } from "../../common/figures.ts";
import { joinWords } from "../../common/nearest.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { mayShow } from "../../warehouse/baseline.ts";
import { lossText, readMappedChanges } from "../mapping/lost-and-gained.ts";
import {
  LIMIT_KINDS,
  LIMIT_TEXTS,
  type LimitKind,
  limitCondition,
  readPassthrough,
  receivingDestinations,
  sumCounts,
} from "../mapping/value-counts.ts";
import type { OpenedRun } from "../open-run.ts";
import { type AuditScope, scopeCondition } from "../scope.ts";
import type { Coverage } from "./coverage.ts";

export const GATE_KINDS = [...LIMIT_KINDS, "lost"] as const;

export interface ValueLimit {
  readonly kind: (typeof GATE_KINDS)[number];
  readonly limit: number;
  /** Whether the limit is added to the number of the run before. */
  readonly isRelative: boolean;
}

export function comparesRuns({ kind, isRelative }: Pick<ValueLimit, "kind" | "isRelative">): boolean {
  return kind === "lost" || isRelative;
}

/**
 * Throws `audit.threshold` if a limit is exceeded. Returns sentences on limits that passed because nothing was counted or
 * compared.
 */
export async function assertWithinLimits(
  opened: OpenedRun,
  { scope, coverage }: { readonly scope: AuditScope; readonly coverage: Coverage },
  limits: readonly ValueLimit[],
): Promise<string[]> {
  const { connection, manifest, before } = opened;
  const totals = sumCounts(receivingDestinations(coverage.destinations));
  const hasValues = receivingDestinations(coverage.coverage).some(({ values }) => values > 0);
  const notes: string[] = [];
  const exceeded: string[] = [];
  for (const { kind, limit, isRelative } of limits) {
    const nothingCounted = `--fail-on ${kind} passed: there is no value to count at destinations that receive values.`;
    if (comparesRuns({ kind, isRelative }) && before === undefined) {
      notes.push(
        `--fail-on ${kind} passed: there is no run before to compare with, or a run did not read all items.`,
      );
    } else if (kind === "lost") {
      const passthrough = await readPassthrough(connection);
      const showsTexts = before !== undefined && mayShow(before.asked, manifest.asked);
      const changes = await readMappedChanges(connection, { passthrough, showsTexts, scope });
      if (changes.lost > limit)
        exceeded.push(
          `external values lost since run ${before?.run} (limit: ${count(limit)}): ${lossText(changes)}`,
        );
      else if (!hasValues) notes.push(nothingCounted);
    } else if (!hasValues) {
      notes.push(nothingCounted);
    } else {
      const allowed = isRelative ? limit + (await countBefore(opened, scope, kind)) : limit;
      if (totals[kind] > allowed) exceeded.push(countText(coverage, kind, totals[kind], allowed));
    }
  }
  if (exceeded.length === 0) return notes;
  throw new WarehouseError(
    "audit.threshold",
    `There are ${joinWords(exceeded, "and")}; "content-warehouse audit" shows what is missing, "diff --values" what was lost, and "explain" why.`,
  );
}

function countText({ coverage }: Coverage, kind: LimitKind, figure: number, allowed: number): string {
  const worst = receivingDestinations(coverage).toSorted((a, b) => b[kind] - a[kind])[0];
  const where = `${worst?.custom_field ?? worst?.custom_field_id} at ${worst?.destination ?? worst?.destination_id}`;
  return `${count(figure)} ${LIMIT_TEXTS[kind]} at destinations that receive values (limit: ${count(allowed)}; most of them in ${where}: ${count(worst?.[kind] ?? 0)})`;
}

/** Number of values in the run before, in the same scope. */
async function countBefore({ connection }: OpenedRun, scope: AuditScope, kind: LimitKind): Promise<number> {
  const sql = `
    SELECT count(*) AS number FROM before_content_mapped_values
    SEMI JOIN (FROM before_destinations WHERE receives) USING (destination_id)
    WHERE ${limitCondition(kind)} AND ${scopeCondition(scope, "before_content")}`;
  const [row] = await readRows(connection, { number: col.count({ required: true }) }, sql);
  return row?.number ?? 0;
}
