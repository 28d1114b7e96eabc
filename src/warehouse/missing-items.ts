/** Finds items of the run before that no pass of this run listed. */
import { asWarehouseError, isOfTheDisk } from "../common/errors.ts";
import { type Baseline, type ShrinkLimits, shrinkLimit } from "./baseline.ts";
import { openTables, tableSql, tablesSourceOf } from "./published-tables.ts";

export interface MissingItems {
  /** Items to request singly, in ascending order. */
  readonly ids: readonly string[];
  readonly count: number;
  /** Why no item is requested although some may be missing; `null` if all are. */
  readonly notAsked: string | null;
}

const NONE: MissingItems = { ids: [], count: 0, notAsked: null };

/**
 * Requests no item if more are missing than the mass-change limits allow, or if the run before cannot be read. Throws
 * errors of the disk.
 */
export async function findMissingItems(request: {
  readonly baseline: Baseline;
  readonly temporaryDirectory: string;
  readonly listed: (contentId: string) => boolean;
  readonly acceptShrink: boolean;
  readonly shrinkLimits: ShrinkLimits;
}): Promise<MissingItems> {
  const { baseline, temporaryDirectory } = request;
  if (baseline.kind === "none") return NONE;
  if (baseline.kind === "damaged") return { ...NONE, notAsked: "the run before is damaged" };
  const rows = baseline.manifest.rows.content;
  if (rows === undefined) return NONE;
  const bearable = shrinkLimit(rows, request.shrinkLimits);
  const ids: string[] = [];
  let count = 0;
  try {
    const source = tablesSourceOf(baseline);
    await using database = await openTables(source, { memoryLimitMb: 128, threads: 1, temporaryDirectory });
    const query = `SELECT content_id FROM ${tableSql(source, "content")}`;
    for await (const chunk of (await database.connection.stream(query)).yieldRows()) {
      for (const id of chunk.map(([cell]) => String(cell))) {
        if (request.listed(id)) continue;
        count += 1;
        if (request.acceptShrink || count <= bearable) ids.push(id);
      }
    }
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (isOfTheDisk(error)) throw thrown;
    return { ...NONE, notAsked: `the run before cannot be read: ${error.message}` };
  }
  if (ids.length === count) return { ids, count, notAsked: null };
  return { ids: [], count, notAsked: `more than ${bearable} are missing` };
}
