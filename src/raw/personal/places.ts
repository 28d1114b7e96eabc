/** Where the contract has people, and which of their attributes are personal. */
import { dynamicItem } from "../../api/dynamic.ts";
import { fullItem } from "../../api/full.ts";
import { userFields } from "../../api/user.ts";
import { DATA_TABLES } from "../../tables/all.ts";
import type { Origin } from "../../tables/declare.ts";

/** A path without list and map steps, because a service may send a list in place of an object. */
export function placeName(path: readonly string[]): string {
  return path.filter(isName).join(".");
}

function isName(step: string): boolean {
  return step !== "[]" && step !== "{}";
}

/** Where users' IDs or descriptions stand in either shape of an item, by {@link placeName}. */
export const USER_PLACES: ReadonlyMap<string, "id" | "description"> = new Map(
  [dynamicItem, fullItem]
    .flatMap((schema) => userFields(schema))
    .map(({ path, kind }) => [placeName(path), kind]),
);

/** The user place at or above a path. */
export function userPlaceAbove(path: readonly string[]): string | undefined {
  let place = "";
  for (const step of path.filter(isName)) {
    place = place === "" ? step : `${place}.${step}`;
    if (USER_PLACES.has(place)) return place;
  }
  return undefined;
}

/** Whether a path is a user's ID or another attribute that is kept of a user. */
export function isUserId(path: readonly string[]): boolean {
  const place = userPlaceAbove(path);
  return (
    place !== undefined && (place === placeName(path) || KEPT_ATTRIBUTES.has(path.findLast(isName) ?? ""))
  );
}

/** Top-level members of an item that describe people. */
export const PERSON_FIELDS: ReadonlySet<string> = new Set(
  [...USER_PLACES].filter(([, kind]) => kind === "description").map(([name]) => name.split(".", 1)[0] ?? ""),
);

/** The object or list element that has the API field, and the field's name in it. */
function splitPath({ path }: Origin) {
  const dot = Math.max(path.lastIndexOf("."), 0);
  return { container: path.slice(0, dot), name: path.slice(dot + 1) };
}

/** The top-level members with personal attributes that the tables declare. `path`: as drift shows it. */
export const PERSONAL_PLACES = DATA_TABLES.flatMap(({ columns }) => {
  const personal = columns
    .filter((column) => column.personal)
    .flatMap(({ origins }) => origins.map(splitPath));
  // An attribute that is personal in one place is personal in all: a service may send more of a user than is specified.
  const names = [...new Set(personal.map(({ name }) => name))];
  return [...new Set(personal.map(({ container }) => container))].map((path) => ({
    path,
    name: path.replaceAll("[]", ""),
    /** Path in the drift, by the attribute's name. */
    attributes: new Map(names.map((name) => [name, `${path}.${name}`])),
  }));
});

/** Attributes that are kept of a user: those that the contract knows and that are not personal. */
export const KEPT_ATTRIBUTES: ReadonlySet<string> = new Set([
  "user_id",
  ...DATA_TABLES.flatMap(({ columns }) => columns.flatMap(({ origins }) => origins.map(splitPath)))
    .filter(({ container }) => PERSONAL_PLACES.some(({ path }) => path === container))
    .map(({ name }) => name),
]).difference(new Set(PERSONAL_PLACES.flatMap(({ attributes }) => [...attributes.keys()])));

/** Declared personal attributes at a place. */
export function declaredAt(place: string): Pick<ReadonlySet<string>, "has"> {
  return PERSONAL_PLACES.find(({ name }) => name === place)?.attributes ?? new Set();
}
