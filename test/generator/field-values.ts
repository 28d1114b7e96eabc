import type { CustomFieldValue, FileValue } from "../../src/service/content-set.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { DAY_MS, iso, type Plan, type PlannedField } from "./plan.ts";
import { Random } from "./random.ts";
import type { Story } from "./story-at.ts";
import { fill, isFilled, slugOf } from "./text.ts";
import type { Kind } from "./vocabulary.ts";
import type { Text } from "./writing.ts";

/** An item on its way: what its facts are made from. */
export interface ItemContext {
  readonly plan: Plan;
  readonly story: Story;
  readonly text: Text;
  readonly life: Lifecycle;
  /** Its author, who uploads its files. */
  readonly userId: string;
}

/** Values of the fields that the content type carries, by custom field ID. */
export function fieldValues(context: ItemContext): Record<string, CustomFieldValue> {
  const { plan, story } = context;
  const values: Record<string, CustomFieldValue> = {};
  for (const planned of plan.fields) {
    if (planned.words.types?.includes(story.planned.words.key) === false) continue;
    const random = Random.at(plan.seed, "value", story.index, planned.key);
    if (!random.chance(planned.words.share * plan.profile.fieldShare)) continue;
    const value = makeValue(planned, context, random);
    if (value !== undefined) values[planned.field.id] = value;
  }
  return values;
}

/** A value of the field's type; undefined where the item gives no words for one. */
function makeValue(
  planned: PlannedField,
  context: ItemContext,
  random: Random,
): CustomFieldValue | undefined {
  switch (planned.field.field_type) {
    case "select":
      return choose(planned, context, random, 1)[0];
    case "multiselect": {
      const chosen = choose(planned, context, random, random.chance(0.6) ? 1 : 2);
      return chosen.length > 0 || !planned.words.onlyFitting ? chosen : undefined;
    }
    case "date":
      return dateOf(planned.key, context, random);
    case "number":
      return planned.key === "target_words" ? random.int(6, 24) * 50 : random.int(2, 120) / 2;
    case "currency":
      return random.chance(0.15) ? random.int(30_000, 900_000) / 100 : random.int(3, 90) * 100;
    case "rating":
      return random.int(2, 5);
    case "checkbox":
      return random.chance(0.7);
    case "image":
    case "file":
      return makeFile(planned, context, random);
    default:
      return wordsOf(planned.key, context, random);
  }
}

/** Items that are older than this may still have values that were archived since. */
const ARCHIVED_AFTER_MS = 365 * DAY_MS;

/** Value IDs, those that fit the item first; archived ones only where they fit, and only on old items. */
function choose(planned: PlannedField, context: ItemContext, random: Random, count: number): string[] {
  const all = planned.field.formatted_select_values ?? [];
  const wanted = fitting(planned.words.name, context, random);
  const old = context.plan.profile.nowMs - context.story.createdMs > ARCHIVED_AFTER_MS;
  const fit = all.filter(({ display, archived }) => wanted?.includes(display) && (old || !archived));
  const current = all.filter(({ archived }) => !archived);
  if (fit.length === 0 && planned.words.onlyFitting) return [];
  const pool = fit.length > 0 ? fit : current;
  return random.some(pool, count).map(({ id }) => id);
}

/** Displays that fit the item; undefined: any. */
function fitting(name: string, { story, life }: ItemContext, random: Random): readonly string[] | undefined {
  const { key, kind } = story.planned.words;
  switch (name) {
    case "language":
      return [story.translation?.language ?? "English"];
    case "region":
      return random.chance(0.75) ? [story.place.region] : undefined;
    case "season":
      return [random.chance(0.15) ? "All year" : saleSeason(story.createdMs)];
    case "priority":
      return random.chance(0.7) ? ["Normal"] : undefined;
    case "owner_team":
      return TEAMS[key] ?? story.topic.prefers[name] ?? ["Product Marketing", "Brand Editorial"];
    case "funnel_stage":
      return STAGES[key] ?? story.topic.prefers[name];
    case "legal_status":
      return life.publishedMs
        ? ["Approved", "Approved with changes", "Not needed"]
        : ["Requested", "Rejected"];
    case "translation_status":
      return story.translation ? ["Live"] : kind === "press" ? ["Briefed", "In translation"] : undefined;
    default:
      return story.topic.prefers[name];
  }
}

const TEAMS: Readonly<Record<string, readonly string[]>> = {
  newsletter: ["Email & CRM"],
  care_email: ["Email & CRM"],
  retailer_email: ["Trade Marketing"],
  social_post: ["Social"],
  feed_post: ["Social"],
  short_post: ["Social"],
  careers_post: ["People & Culture"],
  product_page: ["Product Marketing"],
  brochure: ["Trade Marketing", "Product Marketing"],
};

const STAGES: Readonly<Record<string, readonly string[]>> = {
  product_page: ["Compare", "Buy"],
  care_email: ["Own"],
  retailer_email: ["Buy"],
  social_post: ["Discover"],
  video: ["Discover", "Compare"],
  event: ["Discover", "Compare"],
  brochure: ["Compare", "Buy"],
};

/** What is in the shops when an item is made: spring collections from February, autumn ones from August. */
function saleSeason(createdMs: number): string {
  const at = new Date(createdMs);
  const month = at.getUTCMonth();
  const year = at.getUTCFullYear();
  if (month >= 1 && month <= 6) return `Spring/Summer ${year}`;
  return `Autumn/Winter ${month === 0 ? year - 1 : year}`;
}

/** Days from the item to a date, by the field's key; before it unless named here: inclusive bounds. */
const DAYS: Readonly<Record<string, readonly [number, number]>> = {
  expiry_date: [180, 720],
  embargo_until: [1, 10],
};

function dateOf(key: string, { story, life }: ItemContext, random: Random): string {
  const ahead = DAYS[key];
  const days = ahead === undefined ? -random.int(1, 6) : random.int(...ahead);
  const from = life.completedMs ?? story.createdMs;
  return iso(Math.max(from + days * DAY_MS, story.createdMs)).slice(0, 10);
}

const CALLS: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  article: ["Read the guide", "Find out more"],
  page: ["Find a dealer", "See the range", "Compare models"],
  press: ["To the press room", "Read the report"],
  email: ["Read on", "See the range", "Find a dealer", "Order the part"],
  event: ["Book a place", "Register now"],
  webinar: ["Save your seat", "Register now"],
};

const WORDS: Readonly<Record<string, readonly string[]>> = {
  editor_note: [
    "<p>Check the weights of the {product} with <strong>product marketing</strong> before this goes out.</p>",
    "<p>Second picture is a stand-in; the series from {place} comes <em>next week</em>.</p>",
    "<p>Keep it under two minutes. {person} has the figures.</p>",
  ],
  photo_credit: ["Kenji Morita", "Tom Greaves / Tarnbrook", "Courtesy of {place} tourist office", "{person}"],
  preheader: [
    "{Angle}, and two other things worth knowing",
    "Made for {season}: the {product}",
    "Five minutes of reading from {place}",
  ],
  seo_description: [
    "{Angle}: practical advice from people who are out every week.",
    "{Angle}: what works, what does not, and a short list to take along.",
    "{product}: who it is for, how it fits and how to look after it.",
  ],
  seo_keywords: ["{angle}, {line}, outdoor", "{product}, {angle}", "{place}, {season}, {line}"],
  season_old: ["SS24", "AW23", "spring 24"],
};

/** Text of a text field, and of a field type that is not known. */
function wordsOf(key: string, { story, text, plan }: ItemContext, random: Random): string | undefined {
  const { slots } = text;
  // English words would not fit a translated item.
  if (story.translation && (key === "seo_description" || key === "seo_keywords")) return undefined;
  switch (key) {
    case "cta_link":
      return `https://www.${plan.instance.subdomain}.example/${slugOf(slots.product ?? story.subject.angle)}`;
    case "seo_title":
      return `${text.title} | Tarnbrook`;
    case "cta_text":
      return random.pick(CALLS[story.planned.words.kind] ?? ["Find out more"]);
    case "featured_skus":
      return Array.from({ length: random.int(1, 3) }, () => `TB-${random.int(1000, 9999)}`).join("\n");
    default: {
      const templates = (WORDS[key] ?? ["{Angle}"]).filter((template) => isFilled(template, slots));
      return templates.length > 0 ? fill(random.pick(templates), slots) : undefined;
    }
  }
}

function makeFile({ field }: PlannedField, context: ItemContext, random: Random): FileValue {
  const { plan, story, text, userId } = context;
  const id = random.hex(24);
  const image = field.field_type === "image";
  const extension = image ? random.pick(["jpg", "jpg", "png"]) : "pdf";
  const shown = text.slots.product ?? story.subject.heading;
  const { season } = text.slots;
  const name = `${slugOf(`${shown} ${image ? story.place.name : field.display_label}`)}.${extension}`;
  const url = `https://files.${plan.instance.subdomain}.example/${id}/${name}`;
  const at = story.createdMs + random.int(0, 10) * 3_600_000;
  return {
    id,
    previewable: image || random.chance(0.5),
    uploaded_by: userId,
    file_name: name,
    file_url: url,
    file_extension: extension,
    created_at: iso(at),
    updated_at: iso(at + random.int(0, 3) * 1_200_000),
    preview_url: image ? `${url}?preview=1` : "",
    image_title: image ? `${shown}, ${story.place.name}` : "",
    image_caption: image ? `${story.place.name} in ${season}. Photo: Tarnbrook` : "",
    image_alt: image && random.chance(0.8) ? `${shown} near ${story.place.name}` : "",
    public: random.chance(0.7),
    subdomain: plan.instance.subdomain,
  };
}
