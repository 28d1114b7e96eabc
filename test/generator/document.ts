import type { Document, DocumentTask } from "../../src/service/content-set.ts";
import { fieldValues, type ItemContext } from "./field-values.ts";
import { filesOf } from "./files.ts";
import { galleryOf } from "./gallery.ts";
import { type Lifecycle, lifecycleOf, precise } from "./lifecycle.ts";
import { withOddity } from "./oddities.ts";
import { DAY_MS, iso, type Plan } from "./plan.ts";
import { Random } from "./random.ts";
import { originalOf, type Story, storyAt } from "./story-at.ts";
import { sanitize, slugOf, wordCount } from "./text.ts";
import { type Text, textOf } from "./writing.ts";

/** The item at a position, of plan and position alone, but for `taken`: titles that are not to repeat, gathered. */
export function documentAt(plan: Plan, index: number, taken?: Set<string>): Document {
  const story = storyAt(plan, index);
  const life = lifecycleOf(plan, story);
  const text = textOf(plan, story, taken);
  const people = peopleOf(plan, story, life);
  const item: ItemContext = { plan, story, text, life, userId: people.author };
  const document: Document = {
    id: itemId(plan, story),
    slug: slugFor(story, text),
    content_type: story.planned.type.id,
    created_at: iso(story.createdMs),
    updated_at: precise(life.updatedMs, Random.at(plan.seed, "precise", index)),
    title: text.title,
    ...standing(life),
    ...people,
    content: text.body,
    excerpt: text.excerpt,
    content_number: index + 1,
    ...labelsOf(plan, story),
    ...filesOf(item),
    ...publicationOf(plan, story, life),
    ...galleryOf(item),
    ...accessOf(plan, story, life),
    ...occasionOf(plan, story),
    ...translationOf(plan, story),
    tasks: tasksOf(plan, story, life, [people.author, people.owner]),
    custom_fields: fieldValues(item),
  };
  document.custom_fields_updated_at = changeTimes(plan, story, life, document);
  const change = { document, context: item, random: Random.at(plan.seed, "oddity", index) };
  return withWords(story.oddity ? withOddity(story.oddity, change) : document);
}

/** Seconds, the set's own ten digits, a counter: ascending in creation order. */
function itemId(plan: Plan, { index, createdMs }: Story): string {
  const seconds = Math.floor(createdMs / 1000)
    .toString(16)
    .padStart(8, "0");
  return seconds + plan.machine + (index & 0xff_ffff).toString(16).padStart(6, "0");
}

/** Unique: the position tells items of one title apart. */
function slugFor({ index }: Story, { title, distinct }: Text): string {
  const words = slugOf(title).slice(0, 80);
  if (words === "") return `item-${index.toString(36)}`;
  return distinct ? words : `${words}-${index.toString(36)}`;
}

function standing({ stage, state, archived, deletedMs, completedMs }: Lifecycle): Partial<Document> {
  return {
    state,
    progress_stage: stage,
    ...(archived && { archived }),
    ...(deletedMs !== undefined && { deleted_at: iso(deletedMs) }),
    ...(completedMs !== undefined && { completed_date: iso(completedMs) }),
  };
}

function peopleOf(plan: Plan, { index, createdMs }: Story, { updatedMs }: Lifecycle) {
  const random = Random.at(plan.seed, "people", index);
  const writers = plan.users.filter(({ role, removed }) => role !== "viewer" && !removed);
  const author = random.pick(random.chance(0.06) ? plan.users : writers).id;
  const editor = random.pick(random.chance(0.04) ? plan.users : writers).id;
  return {
    author,
    creator: random.chance(0.5) ? author : editor,
    owner: random.pick(random.chance(0.04) ? plan.users : writers).id,
    last_updated_by: random.chance(0.6) ? editor : author,
    assigned_date: iso(createdMs + Math.floor((updatedMs - createdMs) * random.next() * 0.3)),
  };
}

function labelsOf(plan: Plan, { index, topic, campaign, planned }: Story): Partial<Document> {
  const random = Random.at(plan.seed, "labels", index);
  const personas = random.some(plan.personaIds, random.int(0, 2));
  const stages = random.some(plan.stageIds, random.int(0, 1));
  const channel = planned.words.kind === "social" && random.pick(["social_a", "social_b", "social_c"]);
  return {
    categories: [topic.category, ...(random.chance(0.15) ? ["Evergreen"] : [])],
    tags: random.some(topic.tags, random.int(1, 3)),
    campaigns: campaign ? [campaign.campaign.id] : [],
    ...(personas.length > 0 && { personas }),
    ...(stages.length > 0 && { stages }),
    ...(channel && { social_media_channel: channel }),
    ...(random.chance(0.1) && { payment: random.int(8, 60) * 25 + (random.chance(0.3) ? 0.5 : 0) }),
  };
}

/** Where an item is published, by the key or the kind of its content type. */
const SITES: Readonly<Record<string, string>> = {
  retailer_email: "Partner Portal",
  brochure: "Partner Portal",
  social: "Social Planner",
  email: "Email Tool",
};

function publicationOf(plan: Plan, { planned, index }: Story, { publishedMs }: Lifecycle): Partial<Document> {
  const random = Random.at(plan.seed, "published", index);
  const { kind, key } = planned.words;
  const { subdomain } = plan.instance;
  const before = {
    discussion_url: `https://${subdomain}.example/discussions/${random.hex(12)}`,
    ...(kind === "email" && { marketing_automation_url: `/emails/${random.hex(10)}/preview` }),
  };
  if (publishedMs === undefined) return before;
  const site = SITES[key] ?? SITES[kind] ?? "Web CMS";
  const url = kind === "email" ? null : `https://www.${subdomain}.example/${key}/${random.hex(8)}`;
  return {
    ...before,
    published: true,
    published_date: iso(publishedMs),
    published_urls: [
      { external_site_name: site, published_url: url },
      ...(kind === "press" ? [{ external_site_name: "Partner Portal", published_url: null }] : []),
    ],
    publish_destination: site,
  };
}

/** Who may see it, who works on it, what is shut. */
function accessOf(plan: Plan, story: Story, life: Lifecycle): Partial<Document> {
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

/** Facts of events and webinars; dates as `MM/DD/YY`, on the first Saturday some weeks after the item was begun. */
function occasionOf(plan: Plan, { index, planned, createdMs, place }: Story): Partial<Document> {
  const random = Random.at(plan.seed, "occasion", index);
  const begin = createdMs + random.int(21, 80) * DAY_MS;
  const saturday = begin + ((6 - new Date(begin).getUTCDay()) % 7) * DAY_MS;
  if (planned.words.kind === "webinar" && saturday < plan.profile.nowMs) {
    return {
      webinar_playback_url: `https://live.${plan.instance.subdomain}.example/replay/${random.hex(12)}`,
    };
  }
  if (planned.words.kind !== "event") return {};
  return {
    event: {
      event_start_date: usDate(saturday),
      event_end_date: usDate(saturday + random.int(0, 2) * DAY_MS),
      latitude: place.latitude,
      longitude: place.longitude,
      place_id: `plc_${Random.at(plan.seed, "place", place.name).hex(20)}`,
      timezone_name: place.tz,
    },
  };
}

function usDate(ms: number): string {
  const [year = "", month = "", day = ""] = iso(ms).slice(0, 10).split("-");
  return `${month}/${day}/${year.slice(2)}`;
}

const WAITING = 0;
const CURRENT = 1;
const COMPLETED = 2;

/** The workflow of the item's kind: done up to where the item stands. Some items have none. */
function tasksOf(plan: Plan, story: Story, { stage }: Lifecycle, owners: readonly string[]): DocumentTask[] {
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

function translationOf(plan: Plan, story: Story): Partial<Document> {
  if (story.translation === undefined) return {};
  const original = originalOf(plan, story);
  return { localized_from_id: original ? itemId(plan, original) : null };
}

function changeTimes(plan: Plan, { index, createdMs }: Story, { updatedMs }: Lifecycle, document: Document) {
  const random = Random.at(plan.seed, "changes", index);
  const times: Record<string, string> = {};
  for (const id of Object.keys(document.custom_fields ?? {})) {
    if (random.chance(0.8)) times[id] = iso(createdMs + Math.floor((updatedMs - createdMs) * random.next()));
  }
  return times;
}

/** Adds what follows from the body, whatever it has become. */
function withWords(document: Document): Document {
  const { content } = document;
  if (!content) return document;
  const { body_fragment = sanitize(content), wordcount = wordCount(content) } = document;
  return { ...document, body_fragment, wordcount };
}
