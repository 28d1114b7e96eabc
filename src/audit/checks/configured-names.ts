/** Checks the names in the configuration against the service, and whether its destinations have mapped values. */
import type { DestinationName } from "../../api/destination.ts";
import { pluralize } from "../../common/figures.ts";
import { isObject } from "../../common/json.ts";
import { joinFirst, joinWords, nearestSentence } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import type { ExtractRecord, RunAsked } from "../../raw/extract-record.ts";
import type { RawLookups } from "../../raw/raw-file.ts";
import { findNamed } from "../scope.ts";
import {
  type Check,
  type CheckResults,
  checkWithWarning,
  MISSING_NAMES_CHECKS,
  noneNamed,
} from "./checks.ts";

/** What the run asked for by name, and what the service has. */
interface NameMatching extends Pick<ExtractRecord, "unmatched"> {
  readonly asked: RunAsked;
  readonly lookups: RawLookups;
  /** Names of all custom fields of items and definitions. */
  readonly fieldNames: Iterable<string>;
  /** Rows by table; tables that the pipeline does not make are absent. */
  readonly rows: Readonly<Record<string, number>>;
}

export const MAPPED_VALUES_CHECK = "mapped values for the configured destinations";

const MAPPED_VALUES = "content_mapped_values";
const CUSTOM_FIELDS = "custom_fields";

/**
 * The most important warnings come first. `noMappedValues`: sentence on why the configured destinations have no mapped
 * values; null if they have some, or there are none. `ignoredDestinations`: IDs that `ignoreDestinations` names.
 */
export function checkConfiguredNames(matching: NameMatching) {
  const { unmatched, rows, asked, lookups } = matching;
  const reason = whyNoMappedValues(matching);
  const noMappedValues =
    reason === null ? null : `There are no mapped values for the configured destinations: ${reason}.`;
  const mappedValues: Check = {
    name: MAPPED_VALUES_CHECK,
    verdict: noMappedValues === null ? "passed" : "warning",
    figure: rows[MAPPED_VALUES] ?? 0,
    expected: null,
    detail: noMappedValues ?? "",
  };
  const names = unmatched.destinations.map(({ name }) => name);
  const known = knownDestinations(lookups);
  const ignored = resolveIgnored(matching);
  const nameless = checkNameless(matching, ignored.ids);
  return {
    noMappedValues,
    ignoredDestinations: ignored.ids,
    warnings: [
      ...(noMappedValues === null ? [] : [{ text: noMappedValues, check: MAPPED_VALUES_CHECK }]),
      ...unmatched.destinations.map((name) =>
        missingDestination(name, [...known, ...unmatched.otherDestinations]),
      ),
      ...unmatched.customFields.map((name) => missingField(name, matching)),
      ...(asked.allDestinations ? [] : nameless.warnings),
      ...ignored.warnings,
    ],
    checks: [
      noneNamed(MISSING_NAMES_CHECKS.destinations, names),
      noneNamed(MISSING_NAMES_CHECKS.customFields, unmatched.customFields),
      ...nameless.checks,
      ...ignored.checks,
      mappedValues,
    ],
  };
}

/** Mappings name destinations by ID alone, and a name must be configured to find one. */
function checkNameless({ lookups, rows }: NameMatching, ignored: readonly string[]): CheckResults {
  const named = new Set([...lookups.destinations.map(({ id }) => id), ...ignored]);
  const all = rows[MAPPED_VALUES] === undefined ? [] : [...mappedDestinations(lookups)];
  const ids = all.filter((id) => !named.has(id)).sort();
  const [have, them, are] = ids.length === 1 ? ["has", "it", "it is"] : ["have", "them", "one is"];
  const shown = ids.map((id) => printable(id));
  return checkWithWarning(
    noneNamed("destinations in mappings that have no name", ids),
    `${pluralize(ids.length, "destination")} in mappings ${have} no name (${joinFirst(shown, 5)}). Name ${them} in \`destinations\`; if ${are} gone, list it in \`ignoreDestinations\`.`,
  );
}

/** Destinations that were looked up. */
function knownDestinations({ destinations }: RawLookups) {
  return destinations.map(({ id, answer: { identification: name, platform } }) => ({
    id,
    name: typeof name === "string" ? name : null,
    platform: typeof platform === "string" ? platform : null,
  }));
}

/** Resolves `ignoreDestinations` among all destinations of the run. */
export function resolveIgnored({ asked, lookups }: Pick<NameMatching, "asked" | "lookups">) {
  const known = knownDestinations(lookups);
  const others = [...mappedDestinations(lookups)].map((id) => ({ id, name: null }));
  const candidates = [...known, ...others.filter(({ id }) => !known.some((each) => each.id === id))];
  const names = asked.ignoreDestinations.map((name) => ({ name, ...findNamed(candidates, name) }));
  const unknown = names.filter(({ ids }) => ids.length === 0);
  const check = noneNamed(
    "names in ignoreDestinations that no destination of the run has",
    unknown.map(({ name }) => name),
  );
  return {
    checks: names.length === 0 ? [] : [check],
    warnings: unknown.map(({ name, nearest }) => ({
      text: `\`ignoreDestinations\` names "${printable(name)}", but no destination of the run has this name.${nearest}`,
      check: check.name,
    })),
    ids: [...new Set(names.flatMap(({ ids }) => ids))].sort(),
  };
}

/** IDs of the destinations that mappings name. */
function mappedDestinations({ definitions }: RawLookups): Set<string> {
  const mappings = definitions.flatMap(({ answer }) =>
    Array.isArray(answer.mappings) ? answer.mappings.filter(isObject) : [],
  );
  return new Set(mappings.map((mapping) => mapping.external_site_id).filter((id) => typeof id === "string"));
}

/** Known names carry their platform where it is not the configured one. */
function missingDestination(
  { name, platform }: DestinationName,
  known: readonly Readonly<{ id?: string; name: string | null; platform: string | null }>[],
): string {
  const names = known.map((other) => {
    const called = other.name ?? other.id ?? "";
    return other.platform === null || other.platform === platform ? called : `${called} (${other.platform})`;
  });
  return `${removedDestinationText(name, platform)}${nearestSentence(name, names, "")}`;
}

/** For a destination that an earlier run had; a name that no run had ends the run. */
export function removedDestinationText(name: string, platform: string): string {
  return `Destination ${JSON.stringify(name)} on platform ${JSON.stringify(platform)} no longer exists, so its mapped values are missing.`;
}

/** A nearest name is given for configured fields only: names that items carry are not misspelled. */
function missingField(name: string, { asked, fieldNames, unmatched }: NameMatching): string {
  const others = [...fieldNames].filter((other) => !unmatched.customFields.includes(other));
  const near = asked.customFields.includes(name) ? nearestSentence(name, others, "") : "";
  return `The service knows no custom field "${name}".${near}`;
}

/** A clause; null if there are mapped values, or no destination is configured. */
function whyNoMappedValues({ asked, lookups, rows }: NameMatching): string | null {
  const { columns, aliases, destinations } = asked;
  if (destinations.length === 0 || rows[MAPPED_VALUES] === undefined) return null;
  if (lookups.destinations.length === 0) {
    const names = destinations.map(({ name }) => JSON.stringify(name));
    return `the service ${names.length === 1 ? "does not have" : "has none of"} ${joinWords(names, "and")}`;
  }
  const isEmpty = rows[MAPPED_VALUES] === 0;
  if (isEmpty && !columns.some((atService) => (aliases[atService] ?? atService) === CUSTOM_FIELDS))
    return `the setting \`columns\` leaves out "${CUSTOM_FIELDS}", from which they are computed; add it`;
  if ((rows.content_custom_field_values ?? 0) === 0) return null;
  const mapped = mappedDestinations(lookups);
  const isMapped = lookups.destinations.some(({ id }) => mapped.has(id));
  return isMapped && !isEmpty && rows.content_external_payloads !== 0
    ? null
    : "no value of an item has an entry in a mapping for any of them";
}
