/** Where the contract has people, and which of their attributes are personal. */
import { dynamicItem } from "../../api/dynamic.ts";
import { fullItem } from "../../api/full.ts";
import { userFields } from "../../api/user.ts";
import { DATA_TABLES } from "../../tables/all.ts";

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
  return (
    USER_PLACES.has(placeName(path)) ||
    (userPlaceAbove(path) !== undefined && KEPT_ATTRIBUTES.has(path.findLast(isName) ?? ""))
  );
}

/** Top-level members of an item that describe people. */
export const PERSON_FIELDS: ReadonlySet<string> = new Set(
  [...USER_PLACES].filter(([, kind]) => kind === "description").map(([name]) => name.split(".", 1)[0] ?? ""),
);

/** Objects of a document that have personal attributes. */
export interface PersonalPlace {
  readonly steps: readonly string[];
  readonly path: string;
  /** Path in the drift, by the attribute's name. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** The places that the tables declare. */
export const PERSONAL_PLACES: readonly PersonalPlace[] = DATA_TABLES.flatMap((table) => {
  const paths = table.columns.filter((column) => column.personal).flatMap((column) => column.origins);
  const dots = paths.map(({ path }) => ({ path, dot: path.lastIndexOf(".") }));
  // An attribute that is personal in one place is personal in all: a service may send more of a user than is specified.
  const names = [...new Set(dots.map(({ path, dot }) => path.slice(dot + 1)))];
  const containers = new Set(dots.map(({ path, dot }) => path.slice(0, dot)));
  return [...containers].map((path) => ({
    path,
    steps: path.replaceAll("[]", "").split("."),
    attributes: new Map(names.map((name) => [name, `${path}.${name}`])),
  }));
});

const PERSONAL_ATTRIBUTES: ReadonlySet<string> = new Set(
  PERSONAL_PLACES.flatMap(({ attributes }) => [...attributes.keys()]),
);

const CONTAINERS = new Set(PERSONAL_PLACES.map(({ path }) => path));

/** Attributes that are kept of a user: those that the contract knows and that are not personal. */
export const KEPT_ATTRIBUTES: ReadonlySet<string> = new Set([
  "user_id",
  ...DATA_TABLES.flatMap(({ columns }) => columns)
    .flatMap(({ origins }) => origins)
    .map(({ path }) => ({ path, dot: path.lastIndexOf(".") }))
    .filter(({ path, dot }) => CONTAINERS.has(path.slice(0, Math.max(dot, 0))))
    .map(({ path, dot }) => path.slice(dot + 1))
    .filter((name) => !PERSONAL_ATTRIBUTES.has(name)),
]);

const NONE: ReadonlySet<string> = new Set();

/** Declared personal attributes at a place. */
export function declaredAt(place: string): ReadonlySet<string> {
  return DECLARED.get(place) ?? NONE;
}

const DECLARED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  PERSONAL_PLACES.map(({ steps, attributes }) => [steps.join("."), new Set(attributes.keys())]),
);
