import type { Document } from "../content-set.ts";
import { accessOf } from "./access.ts";
import { type FieldContext, fieldValues } from "./field-values.ts";
import { filesOf } from "./files.ts";
import { galleryOf } from "./gallery.ts";
import { type Lifecycle, lifecycleOf, precise } from "./lifecycle.ts";
import { occasionOf } from "./occasion.ts";
import { withOddity } from "./oddities.ts";
import { iso, type Plan } from "./plan.ts";
import { Random } from "./random.ts";
import type { Story } from "./story.ts";
import { originalOf, storyAt } from "./story-at.ts";
import { tasksOf } from "./tasks.ts";
import { sanitize, slugOf, wordCount } from "./text.ts";
import { type Text, textOf } from "./writing.ts";

/**
 * The item at a position: a pure function of plan and position, so that no item needs the ones before it.
 * `taken`, where titles are not to repeat, is the one exception: it gathers them.
 */
export function documentAt(plan: Plan, index: number, taken?: Set<string>): Document {
  const story = storyAt(plan, index);
  const life = lifecycleOf(plan, story);
  const text = textOf(plan, story, taken);
  const people = peopleOf(plan, story, life);
  const context: FieldContext = { plan, story, text, life, userId: people.author };
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
    ...filesOf(plan, story, life, text),
    ...publicationOf(plan, story, life),
    ...galleryOf(plan, story, life, text),
    ...accessOf(plan, story, life),
    ...occasionOf(plan, story),
    ...translationOf(plan, story),
    tasks: tasksOf(plan, story, life, [people.author, people.owner]),
    custom_fields: fieldValues(context),
  };
  document.custom_fields_updated_at = changeTimes(plan, story, life, document);
  const change = { document, context, random: Random.at(plan.seed, "oddity", index) };
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

/** Where an item goes when it is published, by its kind. */
function publicationOf(plan: Plan, { planned, index }: Story, life: Lifecycle): Partial<Document> {
  const random = Random.at(plan.seed, "published", index);
  const { kind, key } = planned.words;
  const site = `https://www.${plan.instance.subdomain}.example`;
  const discussion = {
    discussion_url: `https://${plan.instance.subdomain}.example/discussions/${random.hex(12)}`,
  };
  const preview = kind === "email" && { marketing_automation_url: `/emails/${random.hex(10)}/preview` };
  if (life.publishedMs === undefined) return { ...discussion, ...preview };
  const trade = key === "retailer_email" || key === "brochure";
  const name = trade
    ? "Partner Portal"
    : kind === "social"
      ? "Social Planner"
      : kind === "email"
        ? "Email Tool"
        : "Web CMS";
  const urls = [
    { external_site_name: name, published_url: kind === "email" ? null : `${site}/${key}/${random.hex(8)}` },
  ];
  if (kind === "press") urls.push({ external_site_name: "Partner Portal", published_url: null });
  return {
    ...discussion,
    ...preview,
    published: true,
    published_date: iso(life.publishedMs),
    published_urls: urls,
    publish_destination: name,
  };
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
  if (content === undefined || content === "") return document;
  const fragment = document.body_fragment === undefined ? { body_fragment: sanitize(content) } : {};
  const words = document.wordcount === undefined ? { wordcount: wordCount(content) } : {};
  return { ...document, ...fragment, ...words };
}
