/** What real instances hold and programs stumble over, besides the oddities of the sample: too odd to be looked at. */
import type { CustomField, CustomFieldValue, Document } from "../../src/service/content-set.ts";

/** Changes an item. Optional fields that become `undefined` are missing. */
type Oddity = (
  document: Document,
  fields: readonly CustomField[],
) => { readonly [Name in keyof Document]?: unknown };

/** Gives a custom field a value. `idOf`: ID of its select value with this display. */
function field(name: string, make: (idOf: (display: string) => string) => CustomFieldValue): Oddity {
  return ({ custom_fields }, fields) => {
    const found = fields.find((each) => each.name === name);
    if (found === undefined) throw new RangeError(`There is no custom field "${name}".`);
    const idOf = (display: string) => {
      const value = found.formatted_select_values?.find((each) => each.display === display);
      if (value === undefined) throw new RangeError(`The field "${name}" has no value "${display}".`);
      return value.id;
    };
    return { custom_fields: { ...custom_fields, [found.id]: make(idOf) } };
  };
}

const BARE_FILE = {
  id: "5f0c2d9e8b7a4c3d2e1f0a9b",
  previewable: false,
  created_at: "2021-05-04T10:00:00Z",
  updated_at: "2021-05-04T10:00:00.000Z",
  public: false,
  ...{ uploaded_by: "", file_name: "", file_url: "", file_extension: "", preview_url: "", subdomain: "" },
  ...{ image_title: "", image_caption: "", image_alt: "" },
};

/** ID of the content type of events in the sample. */
const EVENT_TYPE = "f5e15f77f5aa1b052293f7f2";

export const ODDITIES: readonly Oddity[] = [
  // Titles, bodies and labels.
  () => ({ title: "" }),
  () => ({ title: '=cmd|"/c calc"!A1 and =HYPERLINK("https://tarnbrook.example")' }),
  () => ({ title: `<b>New</b> & "quoted" <script>alert('title')</script>` }),
  () => ({ title: "مراجعة الحذاء \u202eFellgate Mid\u202c خمسة أيام في الجبال" }),
  ({ title }) => ({ title: `🏔️ ${title} – ${"and on it goes ".repeat(40)}` }),
  ({ title }) => ({ title: `  ${title}\n{"level":"info"}\tpasted\r\n` }),
  ({ content }) => ({
    content: `${content}<script>document.cookie="x=1"</script><p onclick="go()"><a href="javascript:go()">x</a></p>`,
  }),
  ({ content = "<p>Long.</p>" }) => ({
    content: content.padEnd(220_000, content),
    body_fragment: null,
  }),
  () => ({ content: undefined, body_fragment: undefined, wordcount: undefined }),
  ({ content }) => ({
    content: `${content}<p>\u2028 separator, \u200b, nul\u0000, bell\u0007, escape\u001b[31m.</p>`,
  }),
  ({ tags = [] }) => ({ tags: [...tags, null, "camping"] }),
  ({ categories = [] }) => ({ categories: [null, ...categories, null] }),
  // Custom fields.
  field("audience", (idOf) => [null, idOf("Climbers"), idOf("Families"), null]),
  field("region", (idOf) => [idOf("DACH"), "Nordics", "", 7, "no such region"]),
  field("funnel_stage", (idOf) => [idOf("Buy")]),
  field("pack_size", () => "Large"),
  field("pack_size", () => "S"),
  field("paper", (idOf) => [idOf("None"), idOf("Matt"), idOf("Gloss")]),
  field('Größe 📐 "quoted"; --', (idOf) => [idOf("أحمر"), idOf("赤"), idOf("it's; DROP TABLE content; --")]),
  field("seo_keywords", () => ["boots", "", "fit", null]),
  field("production_hours", () => Number.MAX_SAFE_INTEGER),
  field("budget", () => -0.01),
  field("quality_score", () => false),
  field("tech_sheet", () => BARE_FILE),
  field("print_ready", () => true),
  field("Region", () => "print"),
  field("title", () => "print"),
  // Other facts.
  () => ({ assigned_date: "last Tuesday" }),
  () => ({ content_type: EVENT_TYPE, event: { event_start_date: "Whitsun", event_end_date: "02/30/26" } }),
  () => ({ content_type: EVENT_TYPE, event: undefined }),
  () => ({ author: undefined, creator: undefined, owner: undefined, last_updated_by: undefined }),
  // A guest of the sample.
  () => ({ owner: "10a56848dfdf282da579871d", last_updated_by: "10a56848dfdf282da579871d" }),
  () => ({ status: { code: 3, labels: ["late", null], since: "2026-02-01" } }),
  () => ({
    unknown: {
      constructor: "data",
      "order by": 1,
      Title: "another title",
      'with "quotes"': true,
      "": "no name",
    },
  }),
  ({ content_type, ...rest }) => ({
    content_type,
    ...Object.fromEntries(Object.keys(rest).map((name) => [name, undefined])),
  }),
];
