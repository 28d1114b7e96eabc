import { badRequest } from "./http-error.ts";

/**
 * Query strings and form bodies, parsed into requests. Parameters that the service does not know are ignored; where a
 * parameter that takes one value is given several times, the first counts.
 */

export type Detail = "basic" | "full" | "dynamic";

/** Which view of an item is asked for. */
export interface ViewRequest {
  readonly detail: Detail;
  /** Names of columns, as asked for; only the dynamic set has them. */
  readonly columns: readonly string[];
  readonly gallery: boolean;
}

export const SORT_FIELDS = ["created_at", "updated_at"] as const;
export type SortField = (typeof SORT_FIELDS)[number];

export interface PageRequest {
  /** Counted from 1. */
  readonly page: number;
  /** At most the service's maximum. */
  readonly perPage: number;
  readonly sortField: SortField;
  readonly descending: boolean;
}

export interface PageBounds {
  readonly defaultPerPage: number;
  readonly maxPerPage: number;
}

export function parseView(query: URLSearchParams): ViewRequest {
  return {
    detail: parseDetail(query.get("detail")),
    columns: query.getAll("columns[]"),
    gallery: query.get("gallery") === "true",
  };
}

export function parsePage(query: URLSearchParams, { defaultPerPage, maxPerPage }: PageBounds): PageRequest {
  return {
    page: positiveInteger(query, "page") ?? 1,
    perPage: Math.min(positiveInteger(query, "per_page") ?? defaultPerPage, maxPerPage),
    sortField: parseSortField(query.get("sort_field")),
    descending: parseDescending(query.get("sort_dir")),
  };
}

/** Names to look up: `name`, or `name[]` repeated. */
export function parseNames(parameters: URLSearchParams): string[] {
  const names = [...parameters.getAll("name"), ...parameters.getAll("name[]")].filter((name) => name !== "");
  if (names.length === 0)
    throw badRequest("Say what to look up: the parameter name (or name[], repeated) is missing.");
  return names;
}

function parseDetail(given: string | null): Detail {
  if (given === null) return "dynamic";
  if (given === "basic" || given === "full") return given;
  throw badRequest(
    `The parameter detail must be basic or full, or be left out for the dynamic set, not ${quote(given)}.`,
  );
}

/** A whole number of any length; the largest that is exact stands for those above it. */
function positiveInteger(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given === null) return undefined;
  const number = /^\d+$/.test(given) ? Number(given) : 0;
  if (number < 1)
    throw badRequest(`The parameter ${name} must be a whole number from 1 up, not ${quote(given)}.`);
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}

function parseSortField(given: string | null): SortField {
  if (given === null) return "created_at";
  const known = SORT_FIELDS.find((field) => field === given);
  if (known === undefined) {
    throw badRequest(
      `The parameter sort_field must be one of ${SORT_FIELDS.join(", ")}, not ${quote(given)}.`,
    );
  }
  return known;
}

function parseDescending(given: string | null): boolean {
  if (given === null || given === "1") return false;
  if (given === "-1") return true;
  throw badRequest(`The parameter sort_dir must be 1 or -1, not ${quote(given)}.`);
}

function quote(given: string): string {
  return JSON.stringify(given.length > 40 ? `${given.slice(0, 40)}...` : given);
}
