/** Ends what a lake keeps of earlier runs, after an erasure, and finds what that leaves. */
import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import type { Remaining } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import type { Store } from "../store/store.ts";
import type { Claim } from "./claim.ts";
import { hasEarlierBounds } from "./delta/earlier.ts";
import { readTable } from "./delta/read.ts";
import { filesOf, type TableState } from "./delta/state.ts";
import { assertStays, LANES, type LakePlace } from "./finish.ts";
import { historyOf } from "./history.ts";
import { uploadOf } from "./keys.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";
import { tablesIn } from "./status.ts";
import { removeRuns, YOUNG_MS } from "./vacuum.ts";

/**
 * Removes the copies of earlier runs, and what their claims say of them. `target`: the lake's name among the targets. Throws
 * `target.refused` where readers of the newest version still see an earlier run, `target.fenced` where the instance is being
 * removed.
 */
export async function forgetEarlier(place: LakePlace, target: string): Promise<readonly Remaining[]> {
  const { store, instance } = place;
  const { numbers } = await historyOf(store, instance);
  await removeRuns(place, numbers.slice(0, -1), Number.POSITIVE_INFINITY);
  const history = await historyOf(store, instance);
  assertStays(store, history);
  const { claim, removal } = history;
  const last = claim ?? removal;
  if (last === null) return [];
  const names = (await tablesIn(store)).filter((name) => name !== RUN_SNAPSHOTS.name);
  const tables = await inParallel(LANES, names, (_, name) => earlierIn(store, last, name));
  const behind = names.filter((_, at) => tables[at]?.isBehind);
  if (claim !== null && behind.length > 0) throw stillShown(store, claim, behind);
  const earlier = tables.filter(({ isEarlier }) => isEarlier).length;
  const waiting = tables.reduce((sum, { unnamed }) => sum + unnamed, 0);
  return [
    earlier > 0 && {
      what: `earlier versions of ${counted(earlier, "table")} in ${store.address}`,
      command: `lake vacuum --all-versions --target ${target}`,
    },
    waiting > 0 && {
      what: `${counted(waiting, "data file")} in ${store.address} that another program has not committed; a vacuum takes them once they are a day old`,
      command: `lake vacuum --target ${target}`,
    },
  ].filter((each) => each !== false);
}

function stillShown({ address }: Store, { run }: Claim, tables: readonly string[]): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `Of the tables in ${address}, ${tables.join(", ")} did not take ${run} and may show the person still; "content-warehouse deliver" says why.`,
  );
}

/** What a table has of runs before the last one. */
interface Earlier {
  /** Whether readers of its newest version see one. */
  readonly isBehind: boolean;
  /** Whether its earlier versions or dead uploads have one, or its log still says what such files have. */
  readonly isEarlier: boolean;
  /** Files of other programs that no version names and that are too young to be dead. */
  readonly unnamed: number;
}

/** The last claim, or the removal after it. */
type Last = Pick<Claim, "instance" | "sequence" | "tables">;

const NOTHING: Earlier = { isBehind: false, isEarlier: false, unnamed: 0 };

async function earlierIn(store: Store, claim: Last, table: string): Promise<Earlier> {
  const { instance, sequence } = claim;
  const folder = `${table}/instance=${instance}/`;
  const objects = await Array.fromAsync(store.list(folder));
  const state = await readTable(store, table);
  if (state === null) return NOTHING;
  const active = new Set(filesOf(state, instance).map(({ path }) => path));
  const removed = new Set(Array.from(state.removed.values(), ({ path }) => path));
  const since = Date.now() - YOUNG_MS;
  let [isEarlier, unnamed] = [false, 0];
  for (const { key, modifiedMs } of objects) {
    const path = key.slice(table.length + 1);
    const upload = uploadOf(path);
    // That of a later run is none of the person's here: who made it delivers it, or erases in it too.
    if (active.has(path) || (upload !== undefined && upload.sequence > sequence)) continue;
    if (upload === undefined && !removed.has(path) && modifiedMs > since) unnamed++;
    else isEarlier = true;
  }
  return {
    isBehind: isBehind(state, claim),
    isEarlier: isEarlier || (await hasEarlierBounds(store, state, instance)),
    unnamed,
  };
}

/** Files that other programs made of the last run's, such as by OPTIMIZE, have other names. */
function isBehind(state: TableState, { instance, tables }: Last): boolean {
  const files = tables.find(({ name }) => name === state.table)?.files ?? [];
  const claimed = new Set(files.map(({ path }) => path));
  return filesOf(state, instance).some(({ path }) => uploadOf(path) !== undefined && !claimed.has(path));
}
