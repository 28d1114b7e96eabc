/** Makes rows of tables by their declaration: one per item, per object, or per element of a list. */

import { DYNAMIC_COLUMN_NAMES, DYNAMIC_COLUMNS } from "../api/dynamic.ts";
import {
  type ColumnReader,
  columnReader,
  type DriftSubject,
  EmptiedKeys,
  ExtraFields,
  type ItemDocument,
  isObject,
  keepMisfit,
  noteDifference,
  type RawItem,
  readCell,
  readColumn,
  type Shape,
  sameJson,
  shapeOf,
  valueAt,
} from "../raw/document.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Origin, Table } from "../tables/declare.ts";

export type RowSink = (row: readonly Cell[]) => void;

export type RowMaker = (item: RawItem, emit: RowSink) => void;

/** Makes a cell that is not one API value. `ordinal`: position of the row's element in its list. */
type CellSource = (item: RawItem, ordinal: number) => Cell;

/** Fields that only responses to single-item requests have, perhaps as null. */
const SINGLE_ITEM_FIELDS = DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name].singleItemOnly);

/** Columns without an API field. */
const OF_ITEM: Readonly<Record<string, CellSource>> = {
  content_id: (item) => item.contentId,
  ordinal: (_item, ordinal) => ordinal,
  single_item_read: ({ views }) =>
    views.some(
      ({ shape, document }) =>
        shape === "dynamic" && SINGLE_ITEM_FIELDS.some((name) => document[name] !== undefined),
    ),
  // Set at the end of the row.
  extra: () => null,
};

function sourcesOf(table: Table): (ColumnReader | CellSource)[] {
  return table.columns.map((column) => {
    const ofItem = Object.hasOwn(OF_ITEM, column.name) ? OF_ITEM[column.name] : undefined;
    const isOfItem = column.origins.length === 0 || column.name === "content_id";
    if (ofItem !== undefined && isOfItem) return ofItem;
    if (column.origins.length > 0) return columnReader(table, column);
    throw new TypeError(`${table.name}.${column.name} has no API fields`);
  });
}

/** One row per item. `extra` is the last column, because it gets the values that others cannot hold. */
export function itemRows(table: Table, when: "always" | "given" | "event"): RowMaker {
  const sources = sourcesOf(table);
  const ownsTheRest = when === "always";
  return (item, emit) => {
    const extra = new ExtraFields();
    let given = ownsTheRest;
    let valued = false;
    const row = sources.map((source): Cell => {
      if (typeof source === "function") return source(item, 0);
      const cell = readColumn(item, source, extra);
      given ||= cell !== undefined;
      valued ||= cell !== undefined && cell !== null;
      return cell ?? null;
    });
    if (!given) return;
    const isEvent = () => item.views.some((view) => view.document.body_type === "event");
    if (when === "event" && !valued && extra.cell() === null && !isEvent()) return;
    if (ownsTheRest) claimRest(item, extra);
    row[row.length - 1] = extra.cell();
    emit(row);
  };
}

/** Adds unknown fields that no row claimed, by their path. The latest document wins. */
function claimRest(item: RawItem, extra: ExtraFields): void {
  const taken = new Map<string, unknown>();
  for (const [later, view] of item.views.entries()) {
    const places = new Map<string, number>();
    for (const field of view.unknown) {
      if (field.claimed) continue;
      const path = field.path.join(".");
      const place = (places.get(path) ?? 0) + 1;
      places.set(path, place);
      // Elements of a list share a path; from the second on, it has a number.
      const name = place === 1 ? path : `${path} (${place})`;
      const { value } = field;
      if (!taken.has(name)) {
        // A later document of the same shape may have the key that the field is below.
        const has = ({ shape, document }: ItemDocument) =>
          shape === view.shape && document[field.path[0] ?? ""] !== undefined;
        if (item.views.slice(0, later).some(has)) continue;
        extra.set(name, value);
        taken.set(name, value);
      } else if (!sameJson(taken.get(name), value)) {
        item.drift.note(path, "views_differ", item.order, item.contentId, [taken.get(name), value]);
      }
    }
  }
}

/** Paths of lists or objects by shape, in the order of the declaration. */
function containersOf(at: readonly Origin[]) {
  const of = (shape: Shape) =>
    at.filter((origin) => shapeOf(origin) === shape).map(({ path }) => ({ path, steps: path.split(".") }));
  return { full: of("full"), dynamic: of("dynamic") };
}

interface RowContainer {
  readonly view: ItemDocument;
  readonly path: string;
  readonly value: unknown;
}

/** The list or object in the latest document that has it. Differences in others are counted as drift. */
function find(
  item: RawItem,
  table: Table,
  containers: ReturnType<typeof containersOf>,
): RowContainer | undefined {
  let found: RowContainer | undefined;
  const emptied = new EmptiedKeys();
  for (const view of item.views) {
    for (const { path, steps } of containers[view.shape]) {
      const value = valueAt(view.document, steps);
      if (value === undefined) emptied.note(view.document, steps);
      else if (found === undefined && !emptied.has(view.document, steps)) found = { view, path, value };
      else if (!sameJson(found?.value ?? [], value ?? []))
        noteDifference(item, table.name, found?.value ?? null, value);
      // The rows of the equal list or object in the other document have the unknown fields.
      else
        for (const field of view.unknown)
          if (field.path.length > 1 && field.path[0] === path) field.claimed = true;
    }
  }
  return found;
}

/** Returns a function that makes a row of an object or list element. */
function rowMaker(table: Table) {
  const sources = sourcesOf(table);
  const readers = sources.filter((source) => typeof source !== "function");
  const places = readers.flatMap((reader) => [...reader.places.dynamic, ...reader.places.full]);
  const deep = places.filter(({ steps }) => steps.length > 1);
  // Nested objects that have no row of their own.
  const nested = [...new Set(deep.map(({ steps: [name = ""] }) => name))];
  const takesObject = places.some(({ path }) => path !== "");
  const first = readers[0]?.column;
  return (item: RawItem, found: RowContainer, value: unknown, ordinal: number): Cell[] => {
    const extra = new ExtraFields();
    const misplaced = takesObject && value !== null && !isObject(value);
    if (misplaced && first !== undefined) keepMisfit(item, first, found.path, value, extra);
    const row = sources.map((source): Cell => {
      if (typeof source === "function") return source(item, ordinal);
      for (const { path, steps } of misplaced ? [] : source.places[found.view.shape]) {
        const next = valueAt(value, steps);
        if (next !== undefined)
          return readCell(item, source.column, path === "" ? found.path : path, next, extra);
      }
      return null;
    });
    if (isObject(value)) {
      for (const name of nested) {
        // Another value instead of a nested object is kept in `extra`.
        const inner = value[name];
        if (inner === null || inner === undefined || isObject(inner)) continue;
        item.drift.note(`${found.path}[].${name}`, "type", item.order, item.contentId, inner);
        extra.set(name, inner);
      }
    }
    extra.claim(found.view.unknown, value, nested);
    row[row.length - 1] = extra.cell();
    return row;
  };
}

/** One row per element of a list, in source order; a null element keeps its position. One row for an object. */
export function containedRows(
  table: Table,
  { kind, at }: Extract<Table["rows"], { readonly at: readonly Origin[] }>,
): RowMaker {
  const containers = containersOf(at);
  const make = rowMaker(table);
  return (item, emit) => {
    const found = find(item, table, containers);
    if (found === undefined) return;
    const object = found.value === null ? [] : [found.value];
    const elements = kind === "list" ? toList(item, found.path, found.value) : object;
    elements.forEach((element, ordinal) => {
      emit(make(item, found, element, ordinal));
    });
  };
}

/** An API value as a list: null is an empty list, a single value a list of one, which is counted as drift. */
export function toList(item: DriftSubject, path: string, value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value;
  item.drift.note(path, "single_for_list", item.order, item.contentId, value);
  return [value];
}
