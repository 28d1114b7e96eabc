import type { CustomFieldValue, Document } from "../../../src/service/content-set.ts";
import type { Plan, PlannedField } from "../plan.ts";
import { sharedId } from "../plan.ts";
import type { OddityChange, OddityEffect } from "./effect.ts";

/** Gives a field a value: a plain one, or one made for the item. */
function put(key: string, value: CustomFieldValue | ((plan: Plan, field: PlannedField) => CustomFieldValue)) {
  return ({ document, context: { plan } }: OddityChange): Partial<Document> => {
    const field = fieldOf(plan, key);
    const made = typeof value === "function" ? value(plan, field) : value;
    return { custom_fields: { ...document.custom_fields, [field.field.id]: made } };
  };
}

function fieldOf(plan: Plan, key: string): PlannedField {
  const found = plan.fields.find((field) => field.key === key);
  if (found === undefined) throw new RangeError(`The vocabulary has no custom field "${key}".`);
  return found;
}

/** ID of the select value with this display. */
function idOf({ field }: PlannedField, display: string): string {
  const found = field.formatted_select_values?.find((value) => value.display === display);
  if (found === undefined) throw new RangeError(`The field "${field.name}" has no value "${display}".`);
  return found.id;
}

const pick =
  (...displays: readonly string[]) =>
  (_: Plan, field: PlannedField): string[] =>
    displays.map((display) => idOf(field, display));

const pickOne =
  (display: string) =>
  (_: Plan, field: PlannedField): string =>
    idOf(field, display);

/** Custom field values. The fields are those of `vocabulary/fields.json`, by key. */
export const fieldOddities = {
  "multiselect with null": {
    harsh: true,
    set: put("audience", (plan, field) => [null, ...pick("Climbers", "Families")(plan, field), null]),
  },
  "multiselect repeated": { set: put("activity", pick("Hiking", "Climbing", "Hiking")) },
  "multiselect empty": { set: put("audience", []) },
  "multiselect sent as one value": { set: put("region", pickOne("Nordics")) },
  "multiselect of many": {
    set: put("activity", pick("Hiking", "Camping", "Travel", "Bikepacking", "Ski Touring")),
  },
  "multiselect mixed": {
    harsh: true,
    set: put("region", (plan, field) => [...pick("DACH")(plan, field), "Nordics", "", 7, "no such region"]),
  },
  "select sent as list": { harsh: true, set: put("funnel_stage", pick("Buy")) },
  "select null": { set: put("product_line", null) },
  "select empty text": { set: put("funnel_stage", "") },
  "select sent as value": { set: put("language", "de") },
  "select sent as display": { set: put("language", "Swedish") },
  "select sent as unknown text": { set: put("owner_team", "Marketing Ops") },
  "select value deleted": { set: put("priority", "5f0c2d9e8b7a4c3d2e1f0a9b") },
  "select value deleted but still mapped": {
    set: put("season", ({ seed }) => sharedId(seed, "value", "season/Spring/Summer 2024")),
  },
  "select value archived and mapped": { set: put("season", pickOne("Spring/Summer 2025")) },
  "select value archived and unmapped": { set: put("product_line", pickOne("Travel Luggage")) },
  "select value unmapped": { set: put("language", pickOne("Japanese")) },
  "select value many to one": { set: put("region", pick("UK & Ireland", "Nordics", "DACH")) },
  "select value ambiguous": { set: put("activity", pick("Bikepacking")) },
  "select text ambiguous": { harsh: true, set: put("pack_size", "Large") },
  "select text of another's value": { harsh: true, set: put("pack_size", "S") },
  "external value empty": { harsh: true, set: put("paper", pick("None", "Matt", "Gloss")) },
  "two fields for one external name": {
    set: (change) => {
      const first = put("region", pick("DACH"))(change);
      return put(
        "launch_market",
        pickOne("Nordics"),
      )({ ...change, document: { ...change.document, ...first } });
    },
  },
  "hostile field name": {
    harsh: true,
    set: put('Größe 📐 "quoted"; --', pick("أحمر", "赤", "it's; DROP TABLE content; --")),
  },
  "definition missing": {
    set: ({ document, context: { plan } }) => {
      const gone = sharedId(plan.seed, "field", "removed");
      return { custom_fields: { ...document.custom_fields, [gone]: "kept from a field that was removed" } };
    },
  },
  "date unreadable": { set: put("expiry_date", "end of next season") },
  "date with time": { set: put("legal_review_date", "2025-06-18T09:30:00Z") },
  "text empty": { set: put("cta_text", "") },
  "text over lines": {
    set: put("editor_note", "<p>Two\nlines, a tab\tand a “quote”.</p>\n<ul><li>one</li></ul>"),
  },
  "text as list": { harsh: true, set: put("seo_keywords", ["boots", "", "fit", null]) },
  "number sent as text": { set: put("production_hours", "12,5") },
  "number large": { harsh: true, set: put("production_hours", 9_007_199_254_740_991) },
  "number negative": { harsh: true, set: put("budget", -0.01) },
  "boolean value": { harsh: true, set: put("quality_score", false) },
  "field of an unknown type": { set: put("quality_score", 5) },
  "file sent as address": { set: put("hero_image", "https://files.tarnbrook.example/legacy/hero.jpg") },
  "file without details": {
    harsh: true,
    set: put("tech_sheet", ({ seed }) => ({
      id: sharedId(seed, "file", "bare"),
      previewable: false,
      uploaded_by: "",
      file_name: "",
      file_url: "",
      file_extension: "",
      created_at: "2021-05-04T10:00:00Z",
      updated_at: "2021-05-04T10:00:00.000Z",
      preview_url: "",
      image_title: "",
      image_caption: "",
      image_alt: "",
      public: false,
      subdomain: "",
    })),
  },
  "no custom fields": { without: ["custom_fields"] },
} as const satisfies Readonly<Record<string, OddityEffect>>;
