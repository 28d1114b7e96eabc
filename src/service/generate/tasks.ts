import type { Task } from "../content-set.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { DAY_MS, iso, type Plan } from "./plan.ts";
import { Random } from "./random.ts";
import type { Story } from "./story.ts";

const WAITING = 0;
const CURRENT = 1;
const COMPLETED = 2;

/** The workflow of the item's kind: done up to where the item stands. Some items have none. */
export function tasksOf(plan: Plan, story: Story, { stage }: Lifecycle, owners: readonly string[]): Task[] {
  const random = Random.at(plan.seed, "tasks", story.index);
  if (random.chance(0.1)) return [];
  const steps = plan.profile.vocabulary.workflows[story.planned.words.kind];
  const done =
    stage === "complete" ? steps.length : stage === "planned" ? 0 : random.int(1, steps.length - 1);
  const ids = steps.map(() => random.hex(24));
  return steps.map((description, position) => {
    const deadline = iso(story.createdMs + (position + 1) * 4 * DAY_MS);
    const before = ids[position - 1];
    const relative = before !== undefined && random.chance(0.3);
    return {
      id: ids[position] ?? "",
      completed: position < done,
      completion_action:
        position === steps.length - 1 ? "publish" : random.pick(["complete", "submit", "approve"]),
      deadline: position >= done && relative && random.chance(0.3) ? null : deadline,
      deadline_offset: relative ? random.int(1, 5) : null,
      deadline_offset_unit: relative ? random.pick(["days", "business_days", "weeks"]) : null,
      deadline_offset_task_id: relative ? before : null,
      deadline_offset_task_action: relative ? random.pick(["completed", "started"]) : null,
      description,
      position,
      state: position < done ? COMPLETED : position === done ? CURRENT : WAITING,
      owner_ids: random.some(owners, random.chance(0.85) ? 1 : random.int(0, 2)),
    };
  });
}
