import { DYNAMIC_COLUMNS, type DynamicColumnName, isDynamicColumn } from "../../api/dynamic.ts";
import { type ItemField, NO_DEFAULT } from "../../api/field.ts";
import type { ContentSet } from "../assemble-set.ts";
import type { COMPUTED_COLUMNS, Document } from "../content-set.ts";
import { JsonText, writeJson } from "../json-text.ts";
import type { Actor } from "../permissions.ts";

/** One item, and what its views are computed from; without a type where the content set does not describe it. */
export type ViewItem = ReturnType<typeof viewItem>;

export function viewItem(document: Document, set: ContentSet, actor: Actor) {
  return { document, type: set.contentTypes.get(document.content_type), set, actor };
}

/** What an item says in one column; undefined or null where it has nothing to say, and the default is sent. */
export type ColumnFunction = (item: ViewItem) => unknown;

/** How the columns are computed; one that is not named shows the document's fact of the same name. */
export type ColumnFunctions<Name extends string> = Readonly<
  Record<Exclude<Name, Fact>, ColumnFunction> & Partial<Record<Name, ColumnFunction>>
>;
type Fact = keyof Document | Exclude<DynamicColumnName, (typeof COMPUTED_COLUMNS)[number]>;

export type ViewColumn = ReturnType<typeof viewColumns>[number];

/** Columns of a view, in the order of the fields; `key` is the name as JSON writes it, with its colon. */
export function viewColumns<Name extends string>(
  computed: ColumnFunctions<Name>,
  fields: Readonly<Record<Name, ItemField>>,
) {
  const known: Readonly<Partial<Record<string, ColumnFunction>>> = computed;
  return Object.entries<ItemField>(fields).map(([name, field]) => {
    // Where the specification gives no default, a document that lacks the field has null.
    const fallback = new JsonText(JSON.stringify(field.default === NO_DEFAULT ? null : field.default));
    return { name, key: memberKey(name), compute: known[name] ?? factOf(name), fallback };
  });
}

/** A fact under its own name: of the document, of its gallery, or of its event, which only events have. */
function factOf(name: string): ColumnFunction {
  const { galleryOnly = false, eventOnly = false } = isDynamicColumn(name) ? DYNAMIC_COLUMNS[name] : {};
  if (galleryOnly) return ({ document }) => Reflect.get(document.gallery ?? {}, name);
  if (eventOnly) {
    return ({ document, type }) =>
      type?.bodyType === "event" ? Reflect.get(document.event ?? {}, name) : null;
  }
  return ({ document }) => Reflect.get(document, name);
}

/**
 * The item as these columns show it, as JSON. A document's unknown fields come last and in every view: where one has
 * the name of a column of the view, it stands in its place.
 */
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
