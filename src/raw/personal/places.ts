/** Where the contract has people, and what of them is personal: the policy has it from here. */
import { dynamicItem } from "../../api/dynamic.ts";
import { fullItem } from "../../api/full.ts";
import { userFields } from "../../api/user.ts";
import { DATA_TABLES } from "../../tables/all.ts";

/** A path without what stands for elements and keys: a service may send a list where a single object is specified. */
export function placeName(path: readonly string[]): string {
  return path.filter(isName).join(".");
}

function isName(step: string): boolean {
  return step !== "[]" && step !== "{}";
}

/**
 * Where a user's ID or description stands, by {@link placeName}; those of both shapes of an item: one may stand where
 * the specification does not have it.
 */
export const USER_PLACES: ReadonlyMap<string, "id" | "description"> = new Map(
  [dynamicItem, fullItem]
    .flatMap((schema) => userFields(schema))
    .map(({ path, kind }) => [placeName(path), kind]),
);

/** The place of a user at or above a path. */
export function userPlaceAbove(path: readonly string[]): string | undefined {
  let place = "";
  for (const step of path.filter(isName)) {
    place = place === "" ? step : `${place}.${step}`;
    if (USER_PLACES.has(place)) return place;
  }
  return undefined;
}

/** Whether a user's ID stands at a path, or what else the description of a user keeps. */
export function isUserId(path: readonly string[]): boolean {
  return (
    USER_PLACES.has(placeName(path)) ||
    (userPlaceAbove(path) !== undefined && KEPT_ATTRIBUTES.has(path.findLast(isName) ?? ""))
  );
}

/** Fields of an item that describe people. */
export const PERSON_FIELDS: ReadonlySet<string> = new Set(
  [...USER_PLACES].filter(([, kind]) => kind === "description").map(([name]) => name.split(".", 1)[0] ?? ""),
);

/** Objects at `steps` of a document, and the attributes of each that are personal. */
export interface PersonalPlace {
  readonly steps: readonly string[];
  readonly path: string;
  /** By name, with the path that the drift names. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** Those that the tables declare. */
export const PERSONAL_PLACES: readonly PersonalPlace[] = DATA_TABLES.flatMap((table) => {
  const paths = table.columns.filter((column) => column.personal).flatMap((column) => column.origins);
  const dots = paths.map(({ path }) => ({ path, dot: path.lastIndexOf(".") }));
  // What is personal in one place of a kind is so in all: a service may send more of a user than is specified.
  const names = [...new Set(dots.map(({ path, dot }) => path.slice(dot + 1)))];
  const containers = new Set(dots.map(({ path, dot }) => path.slice(0, dot)));
  return [...containers].map((path) => ({
    path,
    steps: path.replaceAll("[]", "").split("."),
    attributes: new Map(names.map((name) => [name, `${path}.${name}`])),
  }));
});

/** Names of what is personal in some description of a user. */
const PERSONAL_ATTRIBUTES: ReadonlySet<string> = new Set(
  PERSONAL_PLACES.flatMap(({ attributes }) => [...attributes.keys()]),
);

const CONTAINERS = new Set(PERSONAL_PLACES.map(({ path }) => path));

/** What a description of a user keeps: what the contract knows of one and is not personal. */
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

/** What is personal by declaration in the descriptions at a place. */
export function declaredAt(place: string): ReadonlySet<string> {
  return DECLARED.get(place) ?? NONE;
}

const DECLARED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  PERSONAL_PLACES.map(({ steps, attributes }) => [steps.join("."), new Set(attributes.keys())]),
);
