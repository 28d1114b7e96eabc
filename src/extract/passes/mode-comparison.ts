/** What three responses for one item say about `updated_at` in the two modes. */
import { NO_TIME } from "../pages/updated-at.ts";

/** `updated_at` of an item in three responses, as `secondsOf`; `undefined` if the response could not be read. */
export interface ModeComparison {
  readonly dynamic: number | undefined;
  readonly full: number | undefined;
  readonly dynamicAgain: number | undefined;
  /** `Date` of the last response, in seconds since 1970. */
  readonly answeredAt: number;
  /** Whether some response is fresh, see `isFresh`. */
  readonly fresh: boolean;
}

/** Whether the responses are of two states, and no edit between two of them explains it. */
export function isOfTwoStates({ dynamic, full, dynamicAgain }: ModeComparison): boolean {
  if (dynamic === undefined || full === undefined || dynamicAgain === undefined) return false;
  const isEditedSince = dynamic === full && dynamicAgain > full;
  return full !== dynamicAgain && !isEditedSince;
}

/** Whether the modes give different times, and dynamic the same one twice. */
export function isOfTwoTimes({ dynamic, full, dynamicAgain }: ModeComparison): boolean {
  return dynamic !== undefined && full !== undefined && dynamic === dynamicAgain && dynamic !== full;
}

/** Seconds since the last edit, by the later time of both modes; 0 if neither gives one. */
export function ageOf({ dynamic = NO_TIME, full = NO_TIME, answeredAt }: ModeComparison): number {
  const later = Math.max(dynamic, full);
  return later < 0 ? 0 : answeredAt - later;
}
