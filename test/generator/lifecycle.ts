import { DAY_MS, iso, type Plan } from "./plan.ts";
import { Random } from "./random.ts";
import type { Story } from "./story-at.ts";

/** What has happened to an item by the moment that the set shows. Milliseconds since 1970 UTC, whole seconds. */
export type Lifecycle = ReturnType<typeof lifecycleOf>;

/** Young items are plans and drafts, old ones are done; what is very old may be archived. */
export function lifecycleOf(plan: Plan, { index, createdMs, plain, planned }: Story) {
  const random = Random.at(plan.seed, "life", index);
  const ageDays = (plan.profile.nowMs - createdMs) / DAY_MS;
  const stage = stageAt(ageDays, plain, random);
  const workMs = Math.min(random.int(2, 35) + random.next(), ageDays * 0.8) * DAY_MS;
  const completedMs = stage === "complete" ? Math.max(createdMs, toQuarter(createdMs + workMs)) : undefined;
  const goesOut = planned.words.kind !== "card" && (plain || random.chance(0.88));
  const laterMs = random.chance(0.4) ? random.int(1, 90) * DAY_MS * random.next() : 0;
  const seenMs = (completedMs ?? createdMs + (stage === "planned" ? workMs / 8 : workMs)) + laterMs;
  const begun = completedMs ?? createdMs;
  const updatedMs = Math.max(begun, Math.min(toOfficeHours(seenMs), plan.profile.nowMs - 7 * 3_600_000));
  const old = ageDays > 400;
  return {
    stage,
    state:
      stage !== "complete" ? "production" : ageDays < 240 || random.chance(0.2) ? "promotion" : "completed",
    updatedMs,
    completedMs,
    publishedMs: goesOut ? completedMs : undefined,
    deletedMs: !plain && random.chance(0.012) ? updatedMs : undefined,
    archived: !plain && old && random.chance(0.12),
  };
}

function stageAt(ageDays: number, plain: boolean, random: Random): "planned" | "in_progress" | "complete" {
  if (plain && ageDays > 60) return "complete";
  const drawn = random.next();
  if (ageDays < 21) return drawn < 0.5 ? "planned" : drawn < 0.9 ? "in_progress" : "complete";
  if (ageDays < 60) return drawn < 0.1 ? "planned" : drawn < 0.4 ? "in_progress" : "complete";
  return drawn < 0.03 ? "planned" : drawn < 0.07 ? "in_progress" : "complete";
}

/** The time of day brought between seven and five o'clock, whole seconds. */
function toOfficeHours(ms: number): number {
  const midnight = ms - (ms % DAY_MS);
  return midnight + 7 * 3_600_000 + Math.floor(((ms - midnight) / DAY_MS) * 36_000) * 1000;
}

/** A quarter of an hour in office hours, when things are scheduled. */
function toQuarter(ms: number): number {
  const at = toOfficeHours(ms);
  return at - (at % 900_000);
}

/** With the microseconds that the dynamic view shows. */
export function precise(ms: number, random: Random): string {
  return iso(ms).replace("Z", `.${String(random.int(1, 999_999)).padStart(6, "0")}Z`);
}
