import type { Default } from "../../api/columns.ts";
import type { ContentType, Document } from "../content-set.ts";
import type { ContentSet } from "../loaded-set.ts";
import type { Actor } from "../permissions.ts";

/** One item, and what its views are computed from. */
export interface Item {
  readonly document: Document;
  /** undefined where the content set does not describe the document's type. */
  readonly type: ContentType | undefined;
  readonly set: ContentSet;
  readonly actor: Actor;
}

export function itemOf(document: Document, set: ContentSet, actor: Actor): Item {
  return { document, type: set.contentTypes.get(document.content_type), set, actor };
}

/** What an item says in one column; undefined where it has nothing to say, and the default is sent. */
export type Compute = (item: Item) => unknown;

export interface ViewColumn {
  readonly name: string;
  readonly compute: Compute;
  readonly fallback: Default;
}

/** Columns of a view: how each is computed, and what it is by default. */
export function viewColumns<Name extends string>(
  computed: Readonly<Record<Name, Compute>>,
  defaults: Readonly<Record<Name, Default>>,
): ViewColumn[] {
  const columns: ViewColumn[] = [];
  for (const name in computed) columns.push({ name, compute: computed[name], fallback: defaults[name] });
  return columns;
}

/**
 * The item as these columns show it. A document's unknown fields come last and in every view: where one has the name
 * of a column of the view, it stands in its place.
 */
export function renderView(columns: readonly ViewColumn[], item: Item): Record<string, unknown> {
  const view: Record<string, unknown> = {};
  for (const { name, compute, fallback } of columns) view[name] = compute(item) ?? defaultValue(fallback);
  return item.document.unknown === undefined ? view : { ...view, ...item.document.unknown };
}

/** Where the specification gives no default, a document that lacks the field has null. */
function defaultValue(fallback: Default): unknown {
  return "value" in fallback ? fallback.value : null;
}
