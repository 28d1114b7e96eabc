import type { Document } from "../content-set.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Plan } from "./plan.ts";
import { Random } from "./random.ts";
import type { Story } from "./story.ts";

/** Who may see it, who works on it, what is shut. */
export function accessOf(plan: Plan, story: Story, life: Lifecycle): Partial<Document> {
  const random = Random.at(plan.seed, "access", story.index);
  const summary = life.publishedMs
    ? "PUBLIC"
    : random.pick(["PRIVATE_INSTANCE", "PRIVATE_MEMBERS", "PRIVATE"]);
  const people = summary === "PRIVATE" ? random.some(plan.users, 2).map(({ id }) => id) : [];
  const groups = summary === "PRIVATE_MEMBERS" ? random.some(plan.groupIds, random.int(1, 2)) : [];
  const editing = life.stage === "in_progress" && random.chance(0.15) ? random.pick(plan.users) : undefined;
  const locked = life.stage === "complete" && random.chance(0.06);
  const seen = Math.floor((plan.profile.nowMs - random.int(1, 55) * 60_000) / 1000);
  return {
    ...(random.chance(0.8) && { acl: { group_ids: groups, user_ids: people, access_summary: summary } }),
    ...(locked && { locked: true, field_locks: { body: { locked: true } } }),
    ...(editing && {
      currently_editing: [
        { id: editing.id, name: editing.name, avatar_url: editing.avatar_thumbnail_url, last_seen: seen },
      ],
    }),
  };
}
