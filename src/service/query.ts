/**
 * Parses query strings and forms. Unknown parameters are ignored. If a parameter for one value is given several times, the
 * first counts.
 */
import { badRequest } from "./http-error.ts";

export const SORT_FIELDS = ["created_at", "updated_at"] as const;

/** Items of a page, unless a request says how many. */
const DEFAULT_PER_PAGE = 25;

/** The view of an item that a request asks for. */
export function parseView(query: URLSearchParams) {
  return {
    detail:
      oneOf(query, "detail", ["basic", "full"], "basic or full, or be left out for the dynamic set") ??
      "dynamic",
    /** For the dynamic set; unknown names are ignored. */
    columns: query.getAll("columns[]"),
    gallery: query.get("gallery") === "true",
  };
}

export function parsePage(query: URLSearchParams, maxPerPage: number) {
  return {
    page: positiveInteger(query, "page") ?? 1, // counted from 1
    perPage: Math.min(positiveInteger(query, "per_page") ?? DEFAULT_PER_PAGE, maxPerPage),
    sortField: oneOf(query, "sort_field", SORT_FIELDS, `one of ${SORT_FIELDS.join(", ")}`) ?? "created_at",
    descending: oneOf(query, "sort_dir", ["1", "-1"], "1 or -1") === "-1",
  };
}

/** Names to look up: `name`, or `name[]` repeated. */
export function parseNames(parameters: URLSearchParams): string[] {
  const names = [...parameters.getAll("name"), ...parameters.getAll("name[]")].filter((name) => name !== "");
  if (names.length === 0)
    throw badRequest("Say what to look up: the parameter name (or name[], repeated) is missing.");
  return names;
}

/** The value of a parameter, which must be one of these; `undefined` if it is missing. */
function oneOf<Value extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly Value[],
  expected: string,
): Value | undefined {
  const given = query.get(name);
  if (given === null) return undefined;
  const known = values.find((value) => value === given);
  if (known === undefined)
    throw badRequest(`The parameter ${name} must be ${expected}, not ${quote(given)}.`);
  return known;
}

/** A whole number of any length; numbers above the largest exact one become that one. */
function positiveInteger(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given === null) return undefined;
  const number = /^\d+$/.test(given) ? Number(given) : 0;
  if (number < 1)
    throw badRequest(`The parameter ${name} must be a whole number from 1 up, not ${quote(given)}.`);
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}

function quote(given: string): string {
  return JSON.stringify(given.length > 40 ? `${given.slice(0, 40)}...` : given);
}
