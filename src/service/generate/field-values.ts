import type { CustomFieldValue, FileValue } from "../content-set.ts";
import { DAY_MS, iso, type Plan, type PlannedField } from "./plan.ts";
import type { Random } from "./random.ts";
import { capital, fill, slugOf } from "./text.ts";
import type { Story } from "./writing.ts";

interface Context {
  readonly plan: Plan;
  readonly story: Story;
  readonly title: string;
  readonly createdMs: number;
  readonly userId: string;
}

/** Values of the fields that the content type carries, by custom field ID. */
export function fieldValues(context: Context, random: Random): Record<string, CustomFieldValue> {
  const { plan, story } = context;
  const values: Record<string, CustomFieldValue> = {};
  for (const planned of plan.fields) {
    if (planned.words.types?.includes(story.type.key) === false) continue;
    if (random.chance(planned.words.share)) values[planned.field.id] = makeValue(planned, context, random);
  }
  return values;
}

function makeValue(planned: PlannedField, context: Context, random: Random): CustomFieldValue {
  switch (planned.field.field_type) {
    case "select":
      return choose(planned, context, random, 1)[0] ?? null;
    case "multiselect":
      return choose(planned, context, random, random.int(1, 2));
    case "date":
      return iso(context.createdMs + random.int(-30, 200) * DAY_MS).slice(0, 10);
    case "number":
      return random.int(2, 60) * (planned.key === "target_words" ? 50 : 1);
    case "currency":
      return random.int(3, 90) * 100 + (random.chance(0.2) ? 0.5 : 0);
    case "rating":
      return random.int(2, 5);
    case "image":
    case "file":
      return makeFile(planned, context, random);
    default:
      return textOf(planned.key, context, random);
  }
}

/** Value IDs; those that fit the topic first, archived ones seldom. */
function choose({ field, words }: PlannedField, { story }: Context, random: Random, count: number): string[] {
  const all = field.formatted_select_values ?? [];
  const preferred = story.topic.prefers[words.name];
  const fitting = all.filter(({ display }) => preferred?.includes(display));
  const current = all.filter(({ archived }) => !archived);
  const pool = fitting.length > 0 && random.chance(0.9) ? fitting : random.chance(0.03) ? all : current;
  return random.some(pool, count).map(({ id }) => id);
}

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  cta_text: [
    "Find out more",
    "See the range",
    "Find a dealer",
    "Book a place",
    "Read the guide",
    "Order the part",
  ],
  editor_note: [
    "<p>Check the {product} weights with product marketing before this goes out.</p>",
    "<p>Second image is a stand-in.</p>",
  ],
  photo_credit: ["Kenji Morita", "Tom Greaves / Tarnbrook", "Courtesy of {place} tourist office"],
  preheader: ["{Angle}, and {n} other things worth knowing", "Made for {season}: the {product}"],
  seo_description: ["{Angle}: practical advice from people who use the {product} every week."],
  seo_keywords: ["{product}, {angle}", "{angle}, {place}, outdoor"],
  season_old: ["SS24", "AW23", "spring 24"],
};

function textOf(key: string, { story, title, plan }: Context, random: Random): string {
  const { slots } = story;
  if (key === "cta_link")
    return `https://www.${plan.instance.subdomain}.example/${slugOf(slots.product ?? "")}`;
  if (key === "seo_title") return `${title} | Tarnbrook`;
  if (key === "featured_skus")
    return Array.from({ length: random.int(1, 3) }, () => `TB-${random.int(1000, 9999)}`).join("\n");
  const templates = TEXTS[key] ?? ["{Angle}"];
  return fill(random.pick(templates), { ...slots, Angle: capital(slots.angle ?? "") });
}

function makeFile(
  { field }: PlannedField,
  { plan, story, createdMs, userId }: Context,
  random: Random,
): FileValue {
  const id = random.hex(24);
  const image = field.field_type === "image";
  const extension = image ? random.pick(["jpg", "jpg", "png"]) : "pdf";
  const name = `${slugOf(`${story.slots.product} ${image ? story.place.name : field.display_label}`)}.${extension}`;
  const url = `https://files.${plan.instance.subdomain}.example/${id}/${name}`;
  const at = createdMs + random.int(0, 10 * DAY_MS);
  return {
    id,
    previewable: image || random.chance(0.5),
    uploaded_by: userId,
    file_name: name,
    file_url: url,
    file_extension: extension,
    created_at: iso(at),
    updated_at: iso(at + random.int(0, DAY_MS)),
    preview_url: image ? `${url}?preview=1` : "",
    image_title: image ? `${story.slots.product}, ${story.place.name}` : "",
    image_caption: image ? `${story.slots.product} near ${story.place.name} in ${story.slots.season}` : "",
    image_alt: image ? `Someone with the ${story.slots.product} outdoors` : "",
    public: random.chance(0.7),
    subdomain: plan.instance.subdomain,
  };
}
