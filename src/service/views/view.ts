import type { Default } from "../../api/defaults.ts";
import type { Document } from "../content-set.ts";
import { JsonText, writeJson } from "../json-text.ts";
import type { ContentSet, IndexedType } from "../loaded-set.ts";
import type { Actor } from "../permissions.ts";

/** One item, and what its views are computed from. */
export interface Item {
  readonly document: Document;
  /** undefined where the content set does not describe the document's type. */
  readonly type: IndexedType | undefined;
  readonly set: ContentSet;
  readonly actor: Actor;
}

export function itemOf(document: Document, set: ContentSet, actor: Actor): Item {
  return { document, type: set.contentTypes.get(document.content_type), set, actor };
}

/** What an item says in one column; undefined or null where it has nothing to say, and the default is sent. */
export type Compute = (item: Item) => unknown;

export interface ViewColumn {
  readonly name: string;
  /** The name as JSON writes it, with its colon. */
  readonly key: string;
  readonly compute: Compute;
  readonly fallback: JsonText;
}

/** Columns of a view: how each is computed, and what it is by default. */
export function viewColumns<Name extends string>(
  computed: Readonly<Record<Name, Compute>>,
  defaults: Readonly<Record<Name, Default>>,
): ViewColumn[] {
  const columns: ViewColumn[] = [];
  for (const name in computed) columns.push(viewColumn(name, computed[name], defaults[name]));
  return columns;
}

/**
 * The item as these columns show it, as JSON. A document's unknown fields come last and in every view: where one has
 * the name of a column of the view, it stands in its place.
 */
export function renderView(columns: readonly ViewColumn[], item: Item): string {
  const { unknown } = item.document;
  const shown = unknown ? columns.filter(({ name }) => !Object.hasOwn(unknown, name)) : columns;
  const members = shown.map(({ key, compute, fallback }) => key + writeJson(compute(item) ?? fallback));
  for (const [name, value] of Object.entries(unknown ?? {})) members.push(memberKey(name) + writeJson(value));
  return `{${members.join(",")}}`;
}

export function viewColumn(name: string, compute: Compute, fallback: Default): ViewColumn {
  // Where the specification gives no default, a document that lacks the field has null.
  const value = "value" in fallback ? fallback.value : null;
  return { name, key: memberKey(name), compute, fallback: new JsonText(JSON.stringify(value)) };
}

function memberKey(name: string): string {
  return `${JSON.stringify(name)}:`;
}
