import type { Document } from "../content-set.ts";
import { fieldValues } from "./field-values.ts";
import { DAY_MS, iso, type Plan } from "./plan.ts";
import { Random } from "./random.ts";
import { slugOf, wordCount } from "./text.ts";
import { bodyOf, makeStory, titleOf } from "./writing.ts";

/** The item at a position: a pure function of plan and position, so that no item needs the ones before it. */
export function documentAt(plan: Plan, index: number): Document {
  const random = Random.at(plan.seed, "item", index);
  const { profile } = plan;
  const step = (profile.nowMs - profile.fromMs) / plan.items;
  const createdMs = Math.floor(profile.fromMs + step * (index + random.next() * 0.9));
  const ageMs = profile.nowMs - createdMs;
  const planned = random.weighted(plan.types);
  const story = makeStory(profile, planned.words, createdMs, random);
  const title = titleOf(story, random);
  const author = random.pick(plan.users);
  const updatedMs = createdMs + Math.floor(random.next() * Math.min(ageMs, 120 * DAY_MS));
  const published = ageMs > 20 * DAY_MS && random.chance(0.75);
  const publishedMs = createdMs + Math.floor((updatedMs - createdMs) * 0.6);
  const body = bodyOf(profile, story, random);
  const document: Document = {
    id: itemId(plan, index, createdMs),
    slug: `${slugOf(title)}-${index.toString(36)}`,
    content_type: planned.type.id,
    created_at: iso(createdMs),
    updated_at: `${iso(updatedMs).slice(0, 19)}.${String(random.int(0, 999_999)).padStart(6, "0")}Z`,
    title,
    state: published ? "promotion" : "production",
    progress_stage: published ? "complete" : ageMs < 20 * DAY_MS ? "planned" : "in_progress",
    author: author.id,
    creator: random.pick(plan.users).id,
    owner: random.pick(plan.users).id,
    last_updated_by: random.pick(plan.users).id,
    content: body,
    wordcount: wordCount(body),
    content_number: index + 1,
    categories: [story.topic.category],
    tags: random.some(story.topic.tags, random.int(1, 3)),
    campaigns: plan.campaigns
      .filter(
        ({ topics, fromMs, toMs }) =>
          createdMs >= fromMs - 30 * DAY_MS && createdMs <= toMs && topics.includes(story.topic.name),
      )
      .map(({ campaign }) => campaign.id),
    published,
    custom_fields: fieldValues({ plan, story, title, createdMs, userId: author.id }, random),
  };
  if (published) {
    document.published_date = iso(publishedMs);
    document.completed_date = iso(publishedMs);
    document.published_urls = [
      {
        external_site_name: "Web CMS",
        published_url: `https://www.${plan.instance.subdomain}.example/${document.slug}`,
      },
    ];
    document.publish_destination = "Web CMS";
  }
  if (story.type.kind === "event") {
    document.event = {
      event_start_date: usDate(createdMs + 45 * DAY_MS),
      event_end_date: usDate(createdMs + 46 * DAY_MS),
      latitude: story.place.latitude,
      longitude: story.place.longitude,
      place_id: Random.at(plan.seed, "place", story.place.name).hex(27),
      timezone_name: story.place.tz,
    };
  }
  return document;
}

/** Seconds, the set's own ten digits, a counter: ascending in creation order. */
function itemId(plan: Plan, index: number, createdMs: number): string {
  const seconds = Math.floor(createdMs / 1000)
    .toString(16)
    .padStart(8, "0");
  return (
    seconds + Random.at(plan.seed, "machine").hex(10) + (index & 0xff_ffff).toString(16).padStart(6, "0")
  );
}

/** `MM/DD/YY`. */
function usDate(ms: number): string {
  const [year = "", month = "", day = ""] = iso(ms).slice(0, 10).split("-");
  return `${month}/${day}/${year.slice(2)}`;
}
