import type { Plan } from "./plan.ts";
import { Random } from "./random.ts";
import type { Story } from "./story-at.ts";
import { capital } from "./text.ts";
import type { PersonWords } from "./vocabulary.ts";

/** Words for the slots of titles and sentences; one that has none is missing. */
export type Slots = Readonly<Record<string, string>>;

/** Words that fit a story; another `attempt` gives others. */
export function slotsOf(plan: Plan, story: Story, attempt: number): Slots {
  const random = Random.at(plan.seed, "slots", story.index, attempt);
  const { topic, subject, place, campaign, createdMs } = story;
  const [product, product2] = random.some(subject.products ?? topic.products, 2);
  const person = random.pick(plan.profile.vocabulary.people.filter(speaks)).name;
  const season = seasonOf(createdMs);
  const month = new Date(createdMs).toLocaleString("en-US", { month: "long", timeZone: "UTC" });
  return {
    ...(product !== undefined && { product }),
    ...(product2 !== undefined && { product2 }),
    ...(campaign && { campaign: campaign.campaign.name }),
    place: place.name,
    season,
    Season: capital(season),
    year: String(new Date(createdMs).getUTCFullYear()),
    month,
    Month: month,
    angle: subject.angle,
    Angle: capital(subject.angle),
    line: topic.prefers.product_line?.[0] ?? topic.category,
    person,
    n: random.pick(["three", "four", "five", "six", "seven", "eight", "nine"]),
  };
}

function speaks({ removed, role }: PersonWords): boolean {
  return removed === undefined && role !== "viewer";
}

function seasonOf(ms: number): string {
  const month = new Date(ms).getUTCMonth();
  return ["winter", "spring", "summer", "autumn"][Math.floor(((month + 1) % 12) / 3)] ?? "winter";
}
