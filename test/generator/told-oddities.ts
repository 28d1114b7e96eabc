import type {
  Campaign,
  ContentType,
  CustomField,
  CustomFieldValue,
  Document,
  User,
} from "../../src/service/content-set.ts";
import type { OddityName } from "./oddities.ts";

/** What the files of a generated set say, for telling its oddities. */
export interface Reading {
  readonly documents: readonly Document[];
  readonly types: ReadonlyMap<string, ContentType>;
  readonly fields: readonly CustomField[];
  readonly users: ReadonlyMap<string, User>;
  readonly campaigns: ReadonlyMap<string, Campaign>;
  readonly ids: ReadonlySet<string>;
}

type Tell = (document: Document, set: Reading) => boolean;

/** Whether the item has a value of the named field for which the test holds. */
function value(name: string, test: (value: CustomFieldValue, field: CustomField) => boolean): Tell {
  return ({ custom_fields = {} }, { fields }) =>
    fields.some((field) => {
      const given =
        field.name === name && Object.hasOwn(custom_fields, field.id) ? custom_fields[field.id] : undefined;
      return given !== undefined && test(given, field);
    });
}

function selectValue(field: CustomField, id: unknown) {
  return field.formatted_select_values?.find((one) => one.id === id);
}

function isMapped(field: CustomField, id: unknown): boolean {
  return field.mappings.some(({ values }) => values.some(({ value_id }) => value_id === id));
}

function list(test: (values: readonly unknown[], field: CustomField) => boolean) {
  return (given: CustomFieldValue, field: CustomField) => Array.isArray(given) && test(given, field);
}

function isText(field: CustomField, given: unknown): given is string {
  return (
    typeof given === "string" && selectValue(field, given) === undefined && !/^[0-9a-f]{24}$/.test(given)
  );
}

function event(test: (event: NonNullable<Document["event"]>) => boolean): Tell {
  return ({ event }) => event !== undefined && test(event);
}

const title =
  (test: (title: string) => boolean): Tell =>
  (document) =>
    test(document.title ?? "");
const body =
  (test: (body: string) => boolean): Tell =>
  (document) =>
    test(document.content ?? "");
const bodyType = (document: Document, { types }: Reading) => types.get(document.content_type)?.body_type;
const READABLE_US_DATE = /^(0[1-9]|1[0-2])\/(0[1-9]|[12]\d|3[01])\/\d\d$/;

/** How each oddity is told in the files; the compiler sees to it that none is left out. */
export const tells: Readonly<Record<OddityName, Tell>> = {
  "title missing": ({ title, author }) => title === undefined && author !== undefined,
  "title null": ({ title }) => title === null,
  "title empty": ({ title }) => title === "",
  "title formula": title((text) => text.startsWith("=cmd")),
  "title markup": title((text) => text.includes("<script>")),
  "title emoji": title((text) => text.includes("👩🏽‍🚀")),
  "title right to left": title((text) => text.includes("\u202e")),
  "title long": title((text) => text.length > 500),
  "title with line breaks": title((text) => /^ {2}.*\n.*\t.*\r\n$/.test(text)),
  "title repeated": (document, { documents }) =>
    document.title === "Monthly planning" &&
    documents.some(({ id, title }) => id !== document.id && title === document.title),
  "body with script": body((html) => html.includes("<script>") && html.includes("javascript:")),
  "body very long": body((html) => html.length >= 200_000),
  "body empty": (document, set) => document.content === "" && bodyType(document, set) === "html",
  "body missing": ({ content, title }) => content === undefined && title !== undefined,
  "body with control characters": body((html) => html.includes("\u0000") && html.includes("\u2028")),
  "tags repeated": ({ tags = [] }) => new Set(tags).size < tags.length,
  "tags with null": ({ tags = [] }) => tags.includes(null),
  "tags with empty text": ({ tags = [] }) => tags.includes("") && tags.includes(" camping "),
  "tags empty": ({ tags }) => tags?.length === 0,
  "categories with null": ({ categories = [] }) => categories.includes(null),
  "categories missing": ({ categories, title }) => categories === undefined && title !== undefined,

  "multiselect with null": value(
    "audience",
    list((values) => values.includes(null)),
  ),
  "multiselect repeated": value(
    "activity",
    list((values) => new Set(values).size < values.length),
  ),
  "multiselect empty": value(
    "audience",
    list((values) => values.length === 0),
  ),
  "multiselect sent as one value": value("region", (given, field) => selectValue(field, given) !== undefined),
  "multiselect of many": value(
    "activity",
    list((values) => new Set(values).size >= 5),
  ),
  "multiselect mixed": value(
    "region",
    list((values) => values.includes(7) && values.includes("")),
  ),
  "select sent as list": value(
    "funnel_stage",
    list((values) => values.length === 1),
  ),
  "select null": value("product_line", (given) => given === null),
  "select empty text": value("funnel_stage", (given) => given === ""),
  "select sent as value": value("language", (given, field) => {
    return isText(field, given) && (field.formatted_select_values ?? []).some((one) => one.value === given);
  }),
  "select sent as display": value("language", (given, field) => {
    return isText(field, given) && (field.formatted_select_values ?? []).some((one) => one.display === given);
  }),
  "select sent as unknown text": value("owner_team", (given, field) => isText(field, given)),
  "select value deleted": value("priority", (given, field) => {
    return /^[0-9a-f]{24}$/.test(String(given)) && !selectValue(field, given) && !isMapped(field, given);
  }),
  "select value deleted but still mapped": value("season", (given, field) => {
    return field.field_type === "select" && !selectValue(field, given) && isMapped(field, given);
  }),
  "select value archived and mapped": value("season", (given, field) => {
    return selectValue(field, given)?.archived === true && isMapped(field, given);
  }),
  "select value archived and unmapped": value("product_line", (given, field) => {
    return selectValue(field, given)?.archived === true && !isMapped(field, given);
  }),
  "select value unmapped": value("language", (given, field) => {
    return (
      selectValue(field, given) !== undefined &&
      field.mappings.some(({ values }) => !values.some(({ value_id }) => value_id === given))
    );
  }),
  "select value many to one": value(
    "region",
    list((values, field) =>
      field.mappings.some((mapping) => {
        const external = values.flatMap((id) => mapping.values.filter(({ value_id }) => value_id === id));
        return external.length > 1 && new Set(external.map((one) => one.value)).size < external.length;
      }),
    ),
  ),
  "select value ambiguous": value(
    "activity",
    list((values, field) =>
      values.some((id) =>
        field.mappings.some((mapping) => mapping.values.filter(({ value_id }) => value_id === id).length > 1),
      ),
    ),
  ),
  "select text ambiguous": value("pack_size", (given, field) => {
    return (field.formatted_select_values ?? []).filter(({ display }) => display === given).length > 1;
  }),
  "select text of another's value": value("pack_size", (given, { formatted_select_values: all = [] }) => {
    return (
      all.some((one) => one.value === given && one.display !== given) &&
      all.some((one) => one.display === given && one.value !== given)
    );
  }),
  "external value empty": value(
    "paper",
    list((values, field) =>
      values.some((id) =>
        field.mappings.some((mapping) =>
          mapping.values.some((one) => one.value_id === id && one.value === ""),
        ),
      ),
    ),
  ),
  "two fields for one external name": ({ custom_fields = {} }, { fields }) => {
    const names = fields
      .filter(({ id, field_type }) => /select/.test(field_type) && Object.hasOwn(custom_fields, id))
      .flatMap(({ mappings }) => mappings.map((one) => `${one.external_site_id} ${one.field_name}`));
    return new Set(names).size < names.length;
  },
  "hostile field name": value(
    'Größe 📐 "quoted"; --',
    list((values) => values.length === 3),
  ),
  "definition missing": ({ custom_fields = {} }, { fields }) =>
    Object.keys(custom_fields).some((id) => !fields.some((field) => field.id === id)),
  "date unreadable": value("expiry_date", (given) => Number.isNaN(Date.parse(String(given)))),
  "date with time": value("legal_review_date", (given) => String(given).endsWith("T09:30:00Z")),
  "text empty": value("cta_text", (given) => given === ""),
  "text over lines": value(
    "editor_note",
    (given) => String(given).includes("\n") && String(given).includes("\t"),
  ),
  "text as list": value(
    "seo_keywords",
    list((values) => values.includes(null)),
  ),
  "number sent as text": value("production_hours", (given) => given === "12,5"),
  "number large": value("production_hours", (given) => given === Number.MAX_SAFE_INTEGER),
  "number negative": value("budget", (given) => typeof given === "number" && given < 0),
  "boolean value": value("quality_score", (given) => given === false),
  "field of an unknown type": value(
    "quality_score",
    (given, field) => field.field_type === "rating" && given === 5,
  ),
  "file sent as address": value("hero_image", (given) => String(given).startsWith("https://")),
  "file without details": value("tech_sheet", (given) => {
    return typeof given === "object" && given !== null && "file_name" in given && given.file_name === "";
  }),
  "no custom fields": ({ custom_fields, title }) => custom_fields === undefined && title !== undefined,

  "only what every item has": (document) => Object.keys(document).length === 5,
  archived: ({ archived }) => archived === true,
  deleted: ({ deleted_at }) => typeof deleted_at === "string",
  "updated without fraction": ({ updated_at, title }) => !updated_at.includes(".") && title !== undefined,
  "instant with fraction": ({ assigned_date }) => assigned_date?.endsWith(".250Z") === true,
  "instant unreadable": ({ assigned_date }) => assigned_date === "last Tuesday",
  "event without date": event(({ event_start_date }) => event_start_date === null),
  "event date unreadable": event(
    ({ event_start_date: at }) => typeof at === "string" && !READABLE_US_DATE.test(at),
  ),
  "event date impossible": event(({ event_end_date }) => event_end_date === "02/30/26"),
  "event without place": event(({ latitude, place_id }) => latitude === null && place_id === null),
  "event without facts": (document, set) =>
    document.event === undefined && bodyType(document, set) === "event" && document.title !== undefined,
  "campaign not described": ({ campaigns: ids = [] }, { campaigns }) => ids.some((id) => !campaigns.has(id)),
  "user not described": ({ author }, { users }) => typeof author === "string" && !users.has(author),
  "nobody assigned": ({ author, owner }) => author === null && owner === null,
  "no person known": ({ author, creator, title }) =>
    author === undefined && creator === undefined && title !== undefined,
  "task without owner": ({ tasks = [] }) => tasks.length === 1 && tasks[0]?.owner_ids.length === 0,
  "task without deadline": ({ tasks = [] }) => tasks.length === 1 && tasks[0]?.deadline === null,
  "task with several owners": ({ tasks = [] }) =>
    tasks.some(({ owner_ids: ids }) => ids.length > new Set(ids).size),
  "task after another": ({ tasks: [first, second] = [] }) => {
    return (
      first?.completed === true && second?.deadline === null && second.deadline_offset_task_id === first.id
    );
  },
  "tasks all completed": ({ tasks = [] }) => tasks.length === 1 && tasks[0]?.completed === true,
  "no tasks": ({ tasks }) => tasks?.length === 0,
  "published without address": ({ published, published_urls: urls = [] }) =>
    published === true && urls.length === 2 && urls.every(({ published_url }) => !published_url),
  "status as text": ({ status }) => typeof status === "string",
  "status as object": ({ status }) => typeof status === "object" && status !== null,
  "gallery in full": ({ gallery }) =>
    gallery?.collections?.length === 2 &&
    gallery.pinned === true &&
    typeof gallery.doc_provider_file_id === "string",
  "favourite of everybody": ({ favorites = [] }, { users }) => favorites.length === users.size,
  "being edited by two": ({ currently_editing: people = [] }) => people.length === 2,
  "fields locked": ({ locked, field_locks = {} }) => locked === true && "title" in field_locks,
  "original not in the set": ({ localized_from_id: id }, { ids }) => typeof id === "string" && !ids.has(id),
  "unknown text": ({ unknown = {} }) => typeof unknown.ai_summary === "string",
  "unknown personal field": ({ unknown = {} }) => String(unknown.contact_email).includes("@"),
  "unknown object": ({ unknown = {} }) => typeof unknown.performance === "object",
  "unknown awkward names": ({ unknown = {} }) =>
    Object.hasOwn(unknown, "") && Object.hasOwn(unknown, "constructor"),
};
