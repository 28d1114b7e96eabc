/** Makes rows from several API fields: files, favorites, collections and permissions. */

import { isObject, type JsonObject } from "../common/json.ts";
import { ExtraFields, latestObject, latestView, type RawItem } from "../raw/document.ts";
import { finerInstant, keepMisfit, readCell } from "../raw/values.ts";
import { type Cell, rowOf } from "../storage/table-builder.ts";
import type { Column, Table } from "../tables/declare.ts";
import { type RowMaker, toList } from "./rows.ts";

const ROLES = { content_file: "content_file", gallery_preview: "gallery_preview_revision" };

/** Rows of `content_files`, from two API objects. */
function fileRows(table: Table): RowMaker {
  const role = columnOf(table, "role");
  return (item, emit) => {
    for (const [name, key] of Object.entries(ROLES)) {
      const view = latestView(item, key);
      const file = view?.document[key];
      if (view === undefined || file === null || file === undefined) continue;
      const extra = new ExtraFields();
      if (!isObject(file)) keepMisfit(item, role, key, file, extra);
      const fixed = { content_id: item.contentId, role: name };
      emit(fileRow(table, item, isObject(file) ? file : {}, { extra, fixed }));
    }
  };
}

/** A row of a file: each column from the attribute of the same name. `fixed`: cells that are not attributes, by column. */
export function fileRow(
  table: Table,
  item: RawItem,
  file: JsonObject,
  { extra, fixed }: { readonly extra: ExtraFields; readonly fixed: Readonly<Record<string, Cell>> },
): Cell[] {
  const row = table.columns.slice(0, -1).map((column): Cell => {
    const attribute = column.name === "file_id" ? "id" : column.name;
    return fixed[column.name] ?? readCell(item, column, attribute, file[attribute], extra);
  });
  for (const { unknown } of item.views) extra.claim(unknown, file);
  return [...row, extra.cell()];
}

export function columnOf(table: Table, name: string): Column {
  const column = table.columns.find((each) => each.name === name);
  if (column === undefined) throw new TypeError(`${table.name} has no column ${name}`);
  return column;
}

/** Pairs `favorited_by_users` with `favorite_dates`; the shorter list is filled with NULL. */
function favoriteRows(table: Table): RowMaker {
  const userId = columnOf(table, "user_id");
  const date = columnOf(table, "favorite_date");
  return (item, emit) => {
    const users = latestList(item, "favorited_by_users");
    const dates = latestList(item, "favorite_dates");
    for (let ordinal = 0; ordinal < Math.max(users.length, dates.length); ordinal++) {
      const extra = new ExtraFields();
      const user = readCell(item, userId, "favorited_by_users", users[ordinal], extra);
      const since = readCell(item, date, "favorite_dates", dates[ordinal], extra);
      const placed = { content_id: item.contentId, ordinal };
      emit(rowOf<Cell>(table, { ...placed, user_id: user, favorite_date: since, extra: extra.cell() }));
    }
  };
}

function latestList(item: RawItem, key: string): readonly unknown[] {
  return toList(item, key, latestView(item, key)?.document[key]);
}

/** All collections in four API fields, in order of first mention. */
function collectionRows(table: Table): RowMaker {
  const id = columnOf(table, "collection_id");
  const added = columnOf(table, "added_date");
  const rank = columnOf(table, "pinned_rank");
  return (item, emit) => {
    /** `addedText`: text that `added` was read from. */
    type Entry = { readonly extra: ExtraFields; added: Cell; addedText: unknown; rank: Cell };
    const members = new Map<string, Entry>();
    const member = (key: unknown, path: string): Entry => {
      const name = typeof key === "string" ? key : JSON.stringify(key ?? null);
      const known = members.get(name);
      if (known !== undefined) return known;
      const made: Entry = { extra: new ExtraFields(), added: null, addedText: null, rank: null };
      if (typeof key !== "string") keepMisfit(item, id, path, key ?? null, made.extra);
      members.set(name, made);
      return made;
    };
    for (const uid of latestList(item, "collection_uids")) if (uid !== null) member(uid, "collection_uids");
    for (const { key, path, date, entry } of addedDates(item)) {
      const one = member(key, path);
      const cell = readCell(item, added, path, date, one.extra);
      const kept = one.added === null ? date : finerInstant(one.addedText, date);
      if (cell !== null && kept === date) Object.assign(one, { added: cell, addedText: date });
      else if (cell !== null && kept === undefined) {
        const both = [one.addedText, date];
        item.drift.note(`${table.name}.added_date`, "views_differ", item.order, item.contentId, both);
      }
      for (const { unknown } of item.views) one.extra.claim(unknown, entry);
    }
    const ranks = "pinned_collection_rank";
    for (const [key, value] of Object.entries(latestObject(item, ranks) ?? {})) {
      const one = member(key, ranks);
      one.rank = readCell(item, rank, ranks, value, one.extra);
    }
    [...members].forEach(([collection_id, { added: added_date, rank: pinned_rank, extra }], ordinal) => {
      const placed = { content_id: item.contentId, collection_id, ordinal };
      emit(rowOf<Cell>(table, { ...placed, added_date, pinned_rank, extra: extra.cell() }));
    });
  };
}

/** Times of adding in both API fields. `entry`: element of the list, which may have unknown fields. */
function addedDates(item: RawItem) {
  const list = "added_to_collection_dates";
  const map = "added_to_collection_date";
  const listed = latestList(item, list).filter((entry) => entry !== null);
  return [
    ...listed.map((entry) =>
      isObject(entry)
        ? { key: entry.collection_id, path: `${list}.added_date`, date: entry.added_date, entry }
        : { key: entry, path: list, date: null, entry },
    ),
    ...Object.entries(latestObject(item, map) ?? {}).map(([key, date]) => {
      return { key, path: map, date, entry: undefined };
    }),
  ];
}

/** `acl.group_ids`, then `acl.user_ids`. A repeated principal has one row, at its first position. */
function aclRows(table: Table): RowMaker {
  const id = columnOf(table, "principal_id");
  return (item, emit) => {
    const acl = latestObject(item, "acl");
    if (acl === undefined) return;
    for (const [kind, key] of [
      ["group", "group_ids"],
      ["user", "user_ids"],
    ] as const) {
      const seen = new Set<string>();
      toList(item, `acl.${key}`, acl[key]).forEach((principal, ordinal) => {
        if (principal === null || principal === undefined) return;
        const extra = new ExtraFields();
        const cell = readCell(item, id, `acl.${key}`, principal, extra);
        const name = typeof cell === "string" ? cell : JSON.stringify(principal);
        if (seen.has(name)) return;
        seen.add(name);
        const named = { principal_kind: kind, principal_id: name, ordinal };
        emit(rowOf<Cell>(table, { content_id: item.contentId, ...named, extra: extra.cell() }));
      });
    }
  };
}

/** The tables whose rows are made here. */
export const JOINED_ROWS: Readonly<Record<string, (table: Table) => RowMaker>> = {
  content_files: fileRows,
  content_favorites: favoriteRows,
  content_collections: collectionRows,
  content_acl_principals: aclRows,
};
