/** Makes rows of tables by their declaration: one per item, per object, or per element of a list. */

import { DYNAMIC_COLUMN_NAMES, DYNAMIC_COLUMNS } from "../api/dynamic.ts";
import { isObject } from "../common/json.ts";
import {
  type DriftSubject,
  ExtraFields,
  type ItemDocument,
  type RawItem,
  type Shape,
  shapeOf,
  valueAt,
} from "../raw/document.ts";
import { pathInRow } from "../raw/extra-keys.ts";
import { finerInstant, keepMisfit, noteDifference, readCell, sameJson } from "../raw/values.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Column, Origin, Table } from "../tables/declare.ts";

type RowSink = (row: readonly Cell[]) => void;

export type RowMaker = (item: RawItem, emit: RowSink) => void;

/** Makes a cell that is not one API value. `ordinal`: position of the row's element in its list. */
type CellSource = (item: RawItem, ordinal: number) => Cell;

/** A path below the object that is read, where a column's value may stand. */
interface ColumnPath {
  readonly path: string;
  readonly steps: readonly string[];
  /** Whether another path of the column begins with this one: then an object here is not the value. */
  readonly container: boolean;
}

/** Where one column is read in the documents of either shape. */
interface ColumnReader {
  readonly column: Column;
  /** Table and column, as drift names them. */
  readonly label: string;
  readonly places: Readonly<Record<Shape, readonly ColumnPath[]>>;
  /** Whether some path has more than one step. */
  readonly nested: boolean;
}

/** Finds the paths of a column below the object that a row of its table is made from. */
function columnReader(table: Table, column: Column): ColumnReader {
  const isBelow = (inner: string, outer: string) =>
    inner !== outer && (outer === "" || inner.startsWith(`${outer}.`));
  const pathsIn = (wanted: Shape): ColumnPath[] => {
    const origins = column.origins.filter((origin) => shapeOf(origin) === wanted);
    const all = new Set(origins.flatMap((origin) => pathInRow(table, column, origin) ?? []));
    const paths = [...all].filter(
      (path) => column.type !== "json" || ![...all].some((outer) => isBelow(path, outer)),
    );
    return paths.map((path) => {
      const container = paths.some((inner) => isBelow(inner, path));
      return { path, steps: path === "" ? [] : path.split("."), container };
    });
  };
  const places = { dynamic: pathsIn("dynamic"), full: pathsIn("full") };
  const nested = [...places.dynamic, ...places.full].some(({ steps }) => steps.length > 1);
  return { column, label: `${table.name}.${column.name}`, places, nested };
}

/** Reads a column from all documents of an item; `undefined` if none has it. */
function readColumn(item: RawItem, reader: ColumnReader, extra: ExtraFields): Cell | undefined {
  let found = false;
  let value: unknown;
  let path = "";
  const { places, nested } = reader;
  for (const view of item.views) {
    for (const place of places[view.shape]) {
      const next = valueAt(view.document, place.steps);
      if (next === undefined || (place.container && isObject(next))) continue;
      if (nested && isOutdated(item, places, view, place.steps))
        noteDifference(item, reader.label, found ? value : null, next);
      else if (!found) {
        found = true;
        value = next;
        path = place.path;
      } else if (next !== value) {
        value = reconcile(item, reader, value, next);
      }
    }
  }
  if (found) return readCell(item, reader.column, path, value, extra);
  return nested && item.views.some((view) => isEmptied(view, places)) ? null : undefined;
}

type PathsByShape = Readonly<Record<Shape, readonly { readonly steps: readonly string[] }[]>>;

/** Whether a later document has the key of the path, but no nested value: then the value in this document is outdated. */
function isOutdated({ views }: RawItem, paths: PathsByShape, view: ItemDocument, [key]: readonly string[]) {
  return views.slice(0, views.indexOf(view)).some((later) => isEmptied(later, paths, key));
}

/** `key`: only of paths that begin with it. */
function isEmptied({ document, shape }: ItemDocument, paths: PathsByShape, key?: string): boolean {
  return paths[shape].some(({ steps }) => {
    const [first = ""] = steps;
    if (steps.length < 2 || first !== (key ?? first)) return false;
    return document[first] !== undefined && valueAt(document, steps) === undefined;
  });
}

/** The value to keep of two that are not identical. */
function reconcile(item: RawItem, reader: ColumnReader, later: unknown, earlier: unknown): unknown {
  const { type, emptyDefault } = reader.column;
  const isBlank = (value: unknown) => value === null || value === "";
  if (emptyDefault !== undefined && isBlank(later) && isBlank(earlier)) return null;
  if (type === "timestamp") {
    const finer = finerInstant(later, earlier);
    if (finer !== undefined) return finer;
  }
  noteDifference(item, reader.label, later, earlier);
  return later;
}

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

/** Makes the rows of a table by its declaration; `undefined` if a program makes them. */
export function declaredRows(table: Table): RowMaker | undefined {
  const { rows } = table;
  if (rows.kind === "program") return undefined;
  return rows.kind === "item" ? itemRows(table, rows.when) : containedRows(table, rows);
}

/** One row per item. `extra` is the last column, because it gets the values that others cannot hold. */
function itemRows(table: Table, when: "always" | "given" | "event"): RowMaker {
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
  for (const view of item.views) {
    for (const { path, steps } of containers[view.shape]) {
      const value = valueAt(view.document, steps);
      if (value === undefined) continue;
      if (found === undefined && !isOutdated(item, containers, view, steps)) found = { view, path, value };
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
function containedRows(
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
