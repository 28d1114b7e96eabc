/** Ends what a lake keeps of earlier runs, after an erasure. */
import { claimNumbers } from "./claim.ts";
import type { LakePlace } from "./finish.ts";
import { hasEarlierFiles, removeRuns } from "./vacuum.ts";

/** Gives a sentence where earlier versions of tables may hold the person still. */
export async function forgetEarlier(place: LakePlace): Promise<readonly string[]> {
  const earlier = (await claimNumbers(place.store, place.instance)).slice(0, -1);
  await removeRuns(place, earlier, Number.POSITIVE_INFINITY);
  if (!(await hasEarlierFiles(place))) return [];
  return [
    `Earlier versions of the tables in ${place.store.address} may hold the person still: "content-warehouse lake vacuum --all-versions" ends that.`,
  ];
}
