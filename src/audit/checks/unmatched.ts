/** What the configuration names and nothing matches, and a run without mapped values: told, and no reason not to publish. */
import type { DestinationName } from "../../api/destination.ts";
import { pluralize } from "../../common/figures.ts";
import { isObject } from "../../common/json.ts";
import { joinFirst, joinWords, nearestSentence } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import type { ExtractRecord } from "../../raw/extract-record.ts";
import type { RawLookups } from "../../raw/raw-file.ts";
import { findIds, type NameCandidate, nearestNames } from "../scope.ts";
import { type Judged, noneNamed, type Warning } from "./checks.ts";

/** What was asked for by names of the service, and what the service has of it. */
export interface Matching extends Pick<ExtractRecord, "asked" | "unmatched"> {
  readonly lookups: RawLookups;
  /** Names of all custom fields that items or definitions have. */
  readonly fieldNames: Iterable<string>;
  /** Rows by table; a pipeline may make fewer tables than there are. */
  readonly rows: Readonly<Record<string, number>>;
}

/** Name of the check that warns where the configured destinations have none. */
export const MAPPED_VALUES_CHECK = "mapped values for the configured destinations";

const DESTINATIONS_CHECK = "configured destinations that the service does not have";
const FIELDS_CHECK = "custom fields that the service does not have";
/** Checks whose warnings are sentences about a name each. */
export const TOLD_BY_NAME: ReadonlySet<string> = new Set([DESTINATIONS_CHECK, FIELDS_CHECK]);

const NAMELESS_CHECK = "destinations in mappings that have no name";
const IGNORED_CHECK = "names in ignoreDestinations that no destination of the run has";

const MAPPED_VALUES = "content_mapped_values";
const CUSTOM_FIELDS = "custom_fields";

/** Warnings with the one that matters most first. */
export interface JudgedMatching extends Judged {
  /** As a sentence; null: there are some, or none is wanted. */
  readonly noMappedValues: string | null;
  /** IDs of those that `ignoreDestinations` names. */
  readonly ignoredDestinations: readonly string[];
}

export function judgeMatching(matching: Matching): JudgedMatching {
  const { unmatched, rows } = matching;
  const cause = causeOf(matching);
  const missing =
    cause === null ? null : `There are no mapped values for the configured destinations: ${cause}.`;
  const ignored = ignoredOf(matching);
  const nameless = namelessOf(matching).filter((id) => !ignored.ids.includes(id));
  const namelessDestinations = matching.asked.allDestinations ? [] : nameless;
  return {
    noMappedValues: missing,
    ignoredDestinations: ignored.ids,
    warnings: [
      ...(missing === null ? [] : [{ text: missing, check: MAPPED_VALUES_CHECK }]),
      ...unmatched.destinations.map((wanted) => destinationWarning(wanted, matching)),
      ...unmatched.customFields.map((name) => fieldWarning(name, matching)),
      ...namelessWarning(namelessDestinations),
      ...ignored.warnings,
    ],
    checks: [
      noneNamed(
        DESTINATIONS_CHECK,
        unmatched.destinations.map(({ name }) => name),
      ),
      noneNamed(FIELDS_CHECK, unmatched.customFields),
      noneNamed(NAMELESS_CHECK, nameless),
      ...(matching.asked.ignoreDestinations.length === 0 ? [] : [noneNamed(IGNORED_CHECK, ignored.unknown)]),
      {
        name: MAPPED_VALUES_CHECK,
        verdict: missing === null ? "passed" : "warning",
        figure: rows[MAPPED_VALUES] ?? 0,
        expected: null,
        detail: missing ?? "",
      },
    ],
  };
}

/** Only a configured name leads to a destination: a mapping has its ID alone. */
function namelessOf({ lookups, rows }: Matching): string[] {
  if (rows[MAPPED_VALUES] === undefined) return [];
  const named = new Set(lookups.destinations.map(({ id }) => id));
  return [...mappedDestinations(lookups)].filter((id) => !named.has(id)).sort();
}

/** What `ignoreDestinations` names, of all destinations of the run. */
function ignoredOf({ asked, lookups }: Matching) {
  const found = lookups.destinations.map(({ id, answer }): NameCandidate => ({ id, ...namesIn(answer) }));
  const others = [...mappedDestinations(lookups)].filter((id) => !found.some((each) => each.id === id));
  const candidates = [...found, ...others.map((id): NameCandidate => ({ id, name: null, platform: null }))];
  const ids = asked.ignoreDestinations.flatMap((wanted) => findIds(candidates, wanted));
  const unknown = asked.ignoreDestinations.filter((wanted) => findIds(candidates, wanted).length === 0);
  return {
    ids: [...new Set(ids)].sort(),
    unknown,
    warnings: unknown.map((wanted) => ({
      text: `\`ignoreDestinations\` names "${printable(wanted)}", which no destination of the run is called.${nearestNames(candidates, wanted)}`,
      check: IGNORED_CHECK,
    })),
  };
}

function namesIn({ identification, platform }: Readonly<Record<string, unknown>>) {
  return {
    name: typeof identification === "string" ? identification : null,
    platform: typeof platform === "string" ? platform : null,
  };
}

/** IDs of the destinations that mappings name. */
function mappedDestinations({ definitions }: RawLookups): Set<string> {
  const mappings = definitions.flatMap(({ answer }) =>
    Array.isArray(answer.mappings) ? answer.mappings.filter(isObject) : [],
  );
  return new Set(mappings.map((mapping) => mapping.external_site_id).filter((id) => typeof id === "string"));
}

const IDS_NAMED = 5;

function namelessWarning(ids: readonly string[]): Warning[] {
  if (ids.length === 0) return [];
  const named = ids.map((id) => printable(id));
  const [have, it] = ids.length === 1 ? ["has", "it"] : ["have", "one of them"];
  const text = `${pluralize(ids.length, "destination")} in mappings ${have} no name (${joinFirst(named, IDS_NAMED)}). If the service no longer has ${it}, remove its mappings there, or name it in \`ignoreDestinations\`; otherwise name it in \`destinations\` or with \`--destination\`.`;
  return [{ text, check: NAMELESS_CHECK }];
}

function destinationWarning(
  { name, platform }: DestinationName,
  { lookups, unmatched }: Pick<Matching, "lookups" | "unmatched">,
): string {
  const found = lookups.destinations.map(({ id, answer }) => {
    const { name, platform } = namesIn(answer);
    return { name: name ?? id, platform };
  });
  const known = [...found, ...unmatched.otherDestinations].map((each) => labelOf(each, platform));
  return `${goneDestination(name, platform)}${nearestSentence(name, known, "")}`;
}

/** A name that no run had before ends the run: this one was there. */
export function goneDestination(name: string, platform: string): string {
  return `There is no destination ${JSON.stringify(name)} on platform ${JSON.stringify(platform)} any more: its mapped values are missing.`;
}

/** The name, with the platform where that is another than the configured one. */
function labelOf(
  { name, platform }: ExtractRecord["unmatched"]["otherDestinations"][number],
  configured: string,
): string {
  return platform === null || platform === configured ? name : `${name} (${platform})`;
}

/** A name that items carry is spelled as the service spells it: only configured ones may be misspelled. */
function fieldWarning(name: string, { asked, fieldNames, unmatched }: Matching): string {
  const others = [...fieldNames].filter((other) => !unmatched.customFields.includes(other));
  const near = asked.customFields.includes(name) ? nearestSentence(name, others, "") : "";
  return `The service knows no custom field "${name}".${near}`;
}

/** Why the configured destinations have no mapped values; null: they have some, or none is wanted. */
function causeOf(matching: Matching): string | null {
  const { asked, lookups, rows } = matching;
  if (asked.destinations.length === 0 || rows[MAPPED_VALUES] === undefined) return null;
  if (lookups.destinations.length === 0) return notFound(asked.destinations);
  const isEmpty = rows[MAPPED_VALUES] === 0;
  const { columns, aliases } = asked;
  if (isEmpty && !columns.some((atService) => (aliases[atService] ?? atService) === CUSTOM_FIELDS)) {
    return `the setting \`columns\` leaves out "${CUSTOM_FIELDS}", which they are made from; add it`;
  }
  if ((rows.content_custom_field_values ?? 0) === 0) return null;
  if (!hasMapping(matching)) return "no custom field of the items has a mapping for any of them";
  if (isEmpty) return "no item has a value of a custom field that is mapped for them";
  return rows.content_external_payloads === 0 ? "no value of an item has an entry in a mapping" : null;
}

function notFound(wanted: readonly DestinationName[]): string {
  const names = wanted.map(({ name }) => JSON.stringify(name));
  return `the service ${wanted.length === 1 ? "does not have" : "has none of"} ${joinWords(names, "and")}`;
}

function hasMapping({ lookups }: Matching): boolean {
  const mapped = mappedDestinations(lookups);
  return lookups.destinations.some(({ id }) => mapped.has(id));
}
