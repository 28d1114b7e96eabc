/** The views of an item at the three levels of detail: how each column is computed. */
import { BASIC_FIELDS } from "../../api/basic.ts";
import {
  DYNAMIC_COLUMN_NAMES,
  DYNAMIC_COLUMNS,
  type DynamicColumnName,
  isDynamicColumn,
} from "../../api/dynamic.ts";
import { type ItemField, NO_DEFAULT } from "../../api/field.ts";
import { FULL_FIELDS } from "../../api/full.ts";
import { type Document, sortableInstant } from "../content-set.ts";
import { JsonText, writeJson } from "../json-text.ts";
import type { ContentSet } from "../load.ts";
import { type Actor, PERMISSION_COLUMNS } from "../permissions.ts";
import { parseView } from "../query.ts";
import { CUSTOM_FIELD_COLUMNS, fullCustomFields } from "./custom-fields.ts";

/** `2026-03-01T09:30:12.123456Z` as `2026-03-01T09:30:12Z`. */
function toSecond(instant: string): string {
  return instant.replace(/\.\d+(?=Z$)/, "");
}

/** An item and what its views are computed from. `type` is missing if the content set does not describe it. */
type ViewItem = ReturnType<typeof viewItem>;

export function viewItem(document: Document, set: ContentSet, actor: Actor) {
  return { document, type: set.contentTypes.get(document.content_type), set, actor };
}

/** The value of an item in one column; for `undefined` and `null` the default is sent. */
type ColumnFunction = (item: ViewItem) => unknown;

type ViewColumn = ReturnType<typeof viewColumns>[number];

/** Facts that a document states in another form than views show: views compute these columns. */
const COMPUTED_ONLY: ReadonlySet<string> = new Set([
  "content_type",
  "custom_fields",
  "last_updated_by",
  "updated_at",
]);

/**
 * Columns of a view, in the order of the fields. A column shows the document's fact of the same name, or else what is
 * computed. `key`: the name as JSON writes it, with its colon.
 */
function viewColumns<Name extends string>(
  computed: Readonly<Partial<Record<Name, ColumnFunction>>>,
  fields: Readonly<Record<Name, ItemField>>,
) {
  const functions: Readonly<Partial<Record<string, ColumnFunction>>> = computed;
  return Object.entries<ItemField>(fields).map(([name, field]) => {
    // Without a default in the specification, a missing field is null.
    const fallback = new JsonText(JSON.stringify(field.default === NO_DEFAULT ? null : field.default));
    const fact = factOf(name);
    const compute = functions[name] ?? fact;
    const isStated = compute !== fact && !COMPUTED_ONLY.has(name);
    const column = isStated ? (item: ViewItem) => fact(item) ?? compute(item) : compute;
    return { name, key: memberKey(name), compute: column, fallback };
  });
}

/** A fact of the document, of its gallery, or of its event; other items have no event. */
function factOf(name: string): ColumnFunction {
  const { galleryOnly, eventOnly } = isDynamicColumn(name) ? DYNAMIC_COLUMNS[name] : NO_GATES;
  if (galleryOnly) return ({ document }) => Reflect.get(document.gallery ?? {}, name);
  if (eventOnly) {
    return ({ document, type }) =>
      type?.bodyType === "event" ? Reflect.get(document.event ?? {}, name) : null;
  }
  return ({ document }) => Reflect.get(document, name);
}

const NO_GATES = { galleryOnly: false, eventOnly: false };

/** The item as JSON with these columns. Unknown fields of the document come last, and replace columns of their names. */
export function renderView(columns: readonly ViewColumn[], item: ViewItem): string {
  const { unknown } = item.document;
  const shown = unknown ? columns.filter(({ name }) => !Object.hasOwn(unknown, name)) : columns;
  const members = shown.map(({ key, compute, fallback }) => key + writeJson(compute(item) ?? fallback));
  for (const [name, value] of Object.entries(unknown ?? {})) members.push(memberKey(name) + writeJson(value));
  return `{${members.join(",")}}`;
}

function memberKey(name: string): string {
  return `${JSON.stringify(name)}:`;
}

function preferredTitle({ document: { title } }: ViewItem): string | undefined {
  return title || undefined;
}

function nextTask({ tasks }: Document) {
  return tasks?.find(({ completed }) => !completed);
}

function userOf({ set }: ViewItem, id: string | null | undefined) {
  return typeof id === "string" ? set.users.get(id) : undefined;
}

/** Campaigns of the item, as far as the content set describes them. */
function campaignsOf({ document, set }: ViewItem): JsonText | undefined {
  if (document.campaigns === undefined) return undefined;
  return JsonText.list(document.campaigns.flatMap((id) => set.campaigns.get(id) ?? []));
}

/** First URL that the item was published at. */
function firstPublishedUrl({ published_urls }: Document): string | undefined {
  const first = published_urls?.find(({ published_url }) => published_url !== null);
  return first?.published_url ?? undefined;
}

/** URLs of an item in the instance's own pages. */
const addressOf = {
  canonical: (item: ViewItem) => `${origin(item)}/content/${item.document.slug}`,
  factory: (item: ViewItem) => `${origin(item)}/factory/content/${item.document.slug}`,
  service: (item: ViewItem) => `${origin(item)}/c/${item.document.id}`,
  discussion: (item: ViewItem) => `${origin(item)}/content/${item.document.slug}/discussion`,
};

function origin({ set }: ViewItem): string {
  return `https://${set.instance.subdomain}.example`;
}

type ColumnFunctions<Name extends string> = Readonly<Partial<Record<Name, ColumnFunction>>>;

/** Columns of `detail=basic`; a column that is not named here shows the document's fact of the same name. */
const BASIC: ColumnFunctions<keyof typeof BASIC_FIELDS> = {
  assignee_id: ({ document }) => document.author,
  campaign_ids: ({ document }) => document.campaigns,
  content_type: ({ document, type }) => type?.json ?? document.content_type,
  creator_id: ({ document }) => document.creator,
  factory_url: addressOf.factory,
  next_task: ({ document }) => nextTask(document)?.description,
  preferred_title: preferredTitle,
  updated_at: ({ document }) => toSecond(document.updated_at),
  categories: ({ document }) => document.categories ?? [],
};

/** Columns that `detail=full` adds. */
const FULL: ColumnFunctions<keyof typeof FULL_FIELDS> = {
  last_updated_by_details: (item) => userOf(item, item.document.last_updated_by)?.extended,
  owner_details: (item) => userOf(item, item.document.owner)?.extended,
  custom_fields: fullCustomFields,
  last_updated_by: (item) => userOf(item, item.document.last_updated_by)?.plain,
  persona_ids: ({ document }) => document.personas,
  published_url: ({ document }) => firstPublishedUrl(document),
  stage_ids: ({ document }) => document.stages,
};

const BASIC_VIEW = viewColumns(BASIC, BASIC_FIELDS);
const FULL_VIEW = [...BASIC_VIEW, ...viewColumns(FULL, FULL_FIELDS)];

/** Columns of the view that a request asks for. */
export function viewOf(query: URLSearchParams, singleItem: boolean): readonly ViewColumn[] {
  const { detail, columns, gallery } = parseView(query);
  if (detail !== "dynamic") return detail === "basic" ? BASIC_VIEW : FULL_VIEW;
  // The default set, then the requested columns that the request may have.
  const asked = columns.filter(isDynamicColumn).filter((name) => {
    const { galleryOnly, singleItemOnly } = DYNAMIC_COLUMNS[name];
    return (gallery || !galleryOnly) && (singleItem || !singleItemOnly);
  });
  return [...new Set([...DEFAULT_SET, ...asked])].flatMap((name) => COLUMNS.get(name) ?? []);
}

const DEFAULT_SET = DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name].defaultSet);

function collections({ document }: ViewItem) {
  return document.gallery?.collections ?? [];
}

/** Deadlines of all tasks, earliest first. */
function deadlines({ document }: ViewItem): string[] {
  const known = (document.tasks ?? []).map(({ deadline }) => deadline).filter((at) => at !== null);
  return known.sort((a, b) => (sortableInstant(a) < sortableInstant(b) ? -1 : 1));
}

/** Columns of the dynamic set. */
const DYNAMIC: ColumnFunctions<DynamicColumnName> = {
  added_to_collection_date: (item) =>
    Object.fromEntries(collections(item).map(({ collection_id, added_date }) => [collection_id, added_date])),
  added_to_collection_dates: (item) =>
    collections(item).map(({ collection_id, added_date }) => ({ collection_id, added_date })),
  author_details: (item) => userOf(item, item.document.author)?.dynamic,
  body_type: ({ type }) => type?.bodyType ?? "no_body",
  campaign_details: campaignsOf,
  categories_array: ({ document }) => document.categories,
  collection_uids: (item) => collections(item).map(({ collection_id }) => collection_id),
  content_file_format: ({ type }) => type?.fileFormat,
  content_type_details: ({ type }) => type?.json,
  creator_details: (item) => userOf(item, item.document.creator)?.dynamic,
  ...CUSTOM_FIELD_COLUMNS,
  ...PERMISSION_COLUMNS,
  discussion_url: addressOf.discussion,
  favorite: ({ actor, document }) => document.favorites?.some(({ user_id }) => user_id === actor.id),
  favorite_count: ({ document }) => document.favorites?.length,
  favorite_dates: ({ document }) => document.favorites?.map(({ date }) => date),
  favorited_by_users: ({ document }) => document.favorites?.map(({ user_id }) => user_id),
  field_locks: () => ({}),
  full_content_type: ({ type }) => type?.json,
  gallery_preview_revision_id: ({ document }) => document.gallery?.gallery_preview_revision?.id,
  initiatives_details: campaignsOf,
  instance: ({ set }) => set.instance,
  service_url: addressOf.service,
  newsroom_id: ({ set }) => set.instance.id,
  next_task: ({ document }) => nextTask(document),
  next_task_deadline: ({ document }) => nextTask(document)?.deadline,
  next_task_owner: ({ document }) => nextTask(document)?.owner_ids,
  next_task_title: ({ document }) => nextTask(document)?.description,
  pinned_collection_rank: (item) =>
    Object.fromEntries(
      collections(item)
        .filter(({ rank }) => rank !== undefined)
        .map(({ collection_id, rank }) => [collection_id, rank]),
    ),
  preferred_title: preferredTitle,
  preferred_title_sort: (item) => preferredTitle(item)?.toLowerCase(),
  published_url: ({ document }) => firstPublishedUrl(document),
  task_deadlines: ({ document }) =>
    document.tasks?.map(({ description, deadline, deadline_offset }) => ({
      description,
      deadline,
      // A deadline with an offset moves with the task that it depends on.
      smart_deadline: deadline_offset !== null,
    })),
  tasks_begin_at: (item) => deadlines(item)[0],
  tasks_end_at: (item) => deadlines(item).at(-1),
  updated: ({ document }) => toSecond(document.updated_at),
  url: addressOf.canonical,
};

/** Names of the columns that a document does not state, because they follow from it. */
export const COMPUTED_COLUMNS: ReadonlySet<string> = new Set(Object.keys(DYNAMIC));

const COLUMNS = new Map(viewColumns(DYNAMIC, DYNAMIC_COLUMNS).map((column) => [column.name, column]));
