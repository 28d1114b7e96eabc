import type { Profile } from "./profile.ts";
import type { Random } from "./random.ts";
import { capital, escapeHtml, fill } from "./text.ts";
import type { Kind, Place, Topic, TypeWords } from "./vocabulary.ts";

/** What one item is about: fixed before a word is written, so that title, body and fields speak of the same thing. */
export interface Story {
  readonly type: TypeWords;
  readonly topic: Topic;
  readonly place: Place;
  readonly slots: Readonly<Record<string, string>>;
}

export function makeStory(profile: Profile, type: TypeWords, createdMs: number, random: Random): Story {
  const topic = random.weighted(profile.vocabulary.topics);
  const place = random.pick(profile.vocabulary.places);
  const [product = "", product2 = product] = random.some(topic.products, 2);
  const slots = {
    product,
    product2,
    place: place.name,
    season: seasonOf(createdMs),
    angle: random.pick(topic.angles),
    n: String(random.int(3, 9)),
  };
  return { type, topic, place, slots };
}

function seasonOf(ms: number): string {
  const month = new Date(ms).getUTCMonth();
  return ["winter", "spring", "summer", "autumn"][Math.floor(((month + 1) % 12) / 3)] ?? "winter";
}

/** Titles of what is no article; articles take those of their topic. */
const TITLES: Readonly<Record<Exclude<Kind, "article">, readonly string[]>> = {
  page: ["{product}", "{product}: fit, care and repair", "{Angle}: everything in one place"],
  press: ["Tarnbrook presents the {product}", "Tarnbrook extends its range with the {product2}"],
  email: ["Ready for {season}? Start with {angle}", "New in: the {product}", "{Angle}, in two minutes"],
  social: ["{product} at {place}", "{Angle} – short tip", "{season} carousel: {product}"],
  event: ["{product} demo day, {place}", "Workshop: {angle}, {place}"],
  webinar: ["Live: {angle}", "Dealer webinar: the new {product}"],
  media: ["{Angle}, shown in {n} minutes", "On the way: {place} in {season}"],
  file: ["{product} – {place}, {season}", "{product} product sheet"],
  card: ["{Season} plan: {angle}", "Draft: {angle}"],
};

export function titleOf({ type, topic, slots }: Story, random: Random): string {
  const templates = type.kind === "article" ? topic.titles : TITLES[type.kind];
  const all = { ...slots, Angle: capital(slots.angle ?? ""), Season: capital(slots.season ?? "") };
  return capital(fill(random.pick(templates), all));
}

const KINDS_WITHOUT_BODY: readonly Kind[] = ["file", "media"];

/** HTML; empty where the content type has no text. */
export function bodyOf(profile: Profile, story: Story, random: Random): string {
  if (story.type.bodyType === "no_body" || KINDS_WITHOUT_BODY.includes(story.type.kind)) return "";
  if (story.type.kind === "social") return paragraph(story, random, 1);
  const sections = random.int(...profile.sections);
  const parts = [paragraph(story, random, 2)];
  for (let section = 0; section < sections; section++) {
    parts.push(
      `<h2>${escapeHtml(capital(random.pick(story.topic.angles)))}</h2>`,
      paragraph(story, random, 3),
    );
  }
  return parts.join("\n");
}

function paragraph({ topic, slots }: Story, random: Random, details: number): string {
  const sentences = [
    random.pick(topic.open),
    ...random.some(topic.detail, details),
    random.pick(topic.close),
  ];
  return `<p>${sentences.map((sentence) => escapeHtml(fill(sentence, slots))).join(" ")}</p>`;
}
