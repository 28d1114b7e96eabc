/** Views of an item: its columns, and the values that several views show. */
import { DYNAMIC_COLUMNS, isDynamicColumn } from "../../api/dynamic.ts";
import { type ItemField, NO_DEFAULT } from "../../api/field.ts";
import type { ContentSet, UserViews } from "../assemble-set.ts";
import type { Document, DocumentTask } from "../content-set.ts";
import { JsonText, writeJson } from "../json-text.ts";
import type { Actor } from "../permissions.ts";

/** An item and what its views are computed from. `type` is missing if the content set does not describe it. */
export type ViewItem = ReturnType<typeof viewItem>;

export function viewItem(document: Document, set: ContentSet, actor: Actor) {
  return { document, type: set.contentTypes.get(document.content_type), set, actor };
}

/** The value of an item in one column; for `undefined` and `null` the default is sent. */
export type ColumnFunction = (item: ViewItem) => unknown;

export type ViewColumn = ReturnType<typeof viewColumns>[number];

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
export function viewColumns<Name extends string>(
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

export function preferredTitle({ document: { title } }: ViewItem): string | undefined {
  return title || undefined;
}

export function nextTask({ tasks }: Document): DocumentTask | undefined {
  return tasks?.find(({ completed }) => !completed);
}

export function userOf({ set }: ViewItem, id: string | null | undefined): UserViews | undefined {
  return typeof id === "string" ? set.users.get(id) : undefined;
}

/** Campaigns of the item, as far as the content set describes them. */
export function campaignsOf({ document, set }: ViewItem): JsonText | undefined {
  if (document.campaigns === undefined) return undefined;
  return JsonText.list(document.campaigns.flatMap((id) => set.campaigns.get(id) ?? []));
}

/** First URL that the item was published at. */
export function firstPublishedUrl({ published_urls }: Document): string | undefined {
  const first = published_urls?.find(({ published_url }) => published_url !== null);
  return first?.published_url ?? undefined;
}

/** URLs of an item in the instance's own pages. */
export const addressOf = {
  canonical: (item: ViewItem) => `${origin(item)}/content/${item.document.slug}`,
  factory: (item: ViewItem) => `${origin(item)}/factory/content/${item.document.slug}`,
  service: (item: ViewItem) => `${origin(item)}/c/${item.document.id}`,
  discussion: (item: ViewItem) => `${origin(item)}/content/${item.document.slug}/discussion`,
};

function origin({ set }: ViewItem): string {
  return `https://${set.instance.subdomain}.example`;
}
