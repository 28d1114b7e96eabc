import { oddityAt } from "./oddities.ts";
import { DAY_MS, type Plan, type PlannedType } from "./plan.ts";
import type { Profile } from "./profile.ts";
import { Random } from "./random.ts";
import type { Kind, Topic } from "./vocabulary.ts";

/** What one item is about: fixed before a word is written, so that title, body and fields speak of the same thing. */
export type Story = ReturnType<typeof storyAt>;

/** The story of the item at a position: a pure function of plan and position. */
export function storyAt(plan: Plan, index: number) {
  const { profile, seed, items } = plan;
  const random = Random.at(seed, "story", index);
  const plain = index < profile.plainItems || index >= items - profile.plainItems;
  const oddity = plain ? undefined : oddityAt(profile, index);
  const createdMs = createdAt(plan, index);
  const { vocabulary } = profile;
  const translation = plain ? undefined : translationAt(profile, index, oddity?.kind);
  const planned = pickType(plan, index, translation ? "article" : oddity?.kind, random);
  const topic = pickTopic(profile, planned, translation?.topic, random);
  return {
    index,
    createdMs,
    planned,
    topic,
    subject: random.pick(topic.subjects),
    place:
      vocabulary.places.find(({ name }) => name === translation?.place) ?? random.pick(vocabulary.places),
    campaign: pickCampaign(plan, topic, createdMs, random),
    translation,
    /** Among the first or the last of the set, where a person looks first. */
    plain,
    oddity,
  };
}

/**
 * Instants rise with the position and keep to office hours: five days a week, nine hours a day, from eight o'clock.
 * @returns milliseconds since 1970 UTC, whole seconds
 */
function createdAt({ profile, seed, items }: Plan, index: number): number {
  const weeks = (profile.nowMs - profile.fromMs) / (7 * DAY_MS);
  const hours = (weeks * 45 * (index + Random.at(seed, "created", index).next() * 0.9)) / items;
  const week = Math.floor(hours / 45);
  const day = Math.floor((hours % 45) / 9);
  const ms = profile.fromMs + (week * 7 + day) * DAY_MS + (hours % 9) * 3_600_000;
  return Math.floor(ms / 1000) * 1000;
}

/** Each translation in turn, at the end of each period, unless the oddity there asks for another kind of item. */
function translationAt({ translationPeriod, vocabulary }: Profile, index: number, kind: Kind = "article") {
  if ((index + 1) % translationPeriod !== 0 || kind !== "article") return undefined;
  const ordinal = (index + 1) / translationPeriod - 1;
  return vocabulary.translations[ordinal % vocabulary.translations.length];
}

function pickType(plan: Plan, index: number, kind: Kind | undefined, random: Random): PlannedType {
  const drawn = random.weighted(plan.types);
  const wanted = plan.profile.firstTypes[index];
  if (wanted !== undefined) return plan.types.find(({ words }) => words.key === wanted) ?? drawn;
  if (kind === undefined) return drawn;
  return plan.types.find(({ words }) => words.kind === kind) ?? drawn;
}

function pickTopic(
  { vocabulary }: Profile,
  { words }: PlannedType,
  topic: string | undefined,
  random: Random,
): Topic {
  const fitting = vocabulary.topics.filter(({ name }) =>
    topic === undefined ? (words.topics?.includes(name) ?? true) : name === topic,
  );
  return random.weighted(fitting.length > 0 ? fitting : vocabulary.topics);
}

/** One that runs, or is about to; most items of a topic belong to its campaign, some to one that is about anything. */
function pickCampaign(plan: Plan, topic: Topic, createdMs: number, random: Random) {
  const running = plan.campaigns.filter(
    ({ fromMs, toMs }) => createdMs >= fromMs - 45 * DAY_MS && createdMs <= toMs,
  );
  const own = running.filter(({ topics }) => topics.includes(topic.name));
  if (own.length > 0) return random.chance(0.75) ? random.pick(own) : undefined;
  const open = running.filter(({ topics }) => topics.length === 0);
  return open.length > 0 && random.chance(0.15) ? random.pick(open) : undefined;
}

/** The item that this one is a translation of: the last article on the topic among the 250 before it. */
export function originalOf(plan: Plan, story: Story): Story | undefined {
  for (let index = story.index - 1; index >= Math.max(0, story.index - 250); index--) {
    const earlier = storyAt(plan, index);
    const fits = earlier.planned.words.kind === "article" && earlier.topic === story.topic;
    if (fits && earlier.translation === undefined && earlier.oddity === undefined) return earlier;
  }
  return undefined;
}
