/** What the configuration names and nothing matches, and a run without mapped values: told, and no reason not to publish. */
import type { Destination, DestinationName } from "../../api/destination.ts";
import { listed, suggestion } from "../../common/nearest.ts";
import type { CustomFieldLookup, DestinationLookup } from "../../extract/lookups.ts";
import { type Judged, noneNamed } from "./checks.ts";

/** What the configuration asked for, or a listing named, and what the service has of it. */
export interface Lookups {
  readonly destinations: DestinationLookup;
  readonly fields: CustomFieldLookup;
}

export interface Matching extends Lookups {
  /** What the configuration asks for by names of the service. */
  readonly config: {
    readonly customFields: readonly string[];
    readonly columns: readonly string[];
    /** Name of a field at the service to its name in the specification. */
    readonly aliases: Readonly<Record<string, string>>;
  };
  /** Configured destinations; those of the sample where none are. */
  readonly wanted: readonly DestinationName[];
  /** Whether these are all that the service has: then nobody can name a further one. */
  readonly wantsAll: boolean;
  /** Names of all custom fields that items or definitions have. */
  readonly fieldNames: Iterable<string>;
  /** Rows by table; a pipeline may make fewer tables than there are. */
  readonly rows: Readonly<Record<string, number>>;
}

/** Name of the check that warns where the configured destinations have none. */
export const MAPPED_VALUES_CHECK = "mapped values for the configured destinations";

const MAPPED_VALUES = "content_mapped_values";
const CUSTOM_FIELDS = "custom_fields";

/** Warnings with the one that matters most first. */
export interface JudgedMatching extends Judged {
  /** As a sentence; null: there are some, or none is wanted. */
  readonly noMappedValues: string | null;
  /** IDs of destinations that mappings name and that no lookup found. */
  readonly namelessDestinations: readonly string[];
}

export function judgeMatching(matching: Matching): JudgedMatching {
  const { destinations, fields, rows } = matching;
  const cause = causeOf(matching);
  const missing =
    cause === null ? null : `There are no mapped values for the configured destinations: ${cause}.`;
  const nameless = namelessOf(matching);
  const namelessDestinations = matching.wantsAll ? [] : nameless;
  return {
    noMappedValues: missing,
    namelessDestinations,
    warnings: [
      ...(missing === null ? [] : [missing]),
      ...destinations.unmatched.map((wanted) => destinationWarning(wanted, destinations)),
      ...fields.unmatched.map((name) => fieldWarning(name, matching)),
      ...namelessWarning(namelessDestinations),
    ],
    checks: [
      noneNamed(
        "configured destinations that the service does not have",
        destinations.unmatched.map(({ name }) => name),
      ),
      noneNamed("custom fields that the service does not have", fields.unmatched),
      noneNamed("destinations in mappings that have no name", nameless),
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
function namelessOf({ fields, destinations, rows }: Matching): string[] {
  if (rows[MAPPED_VALUES] === undefined) return [];
  const named = new Set(destinations.destinations.map(({ id }) => id));
  const ids = fields.definitions
    .flatMap(({ mappings }) => mappings ?? [])
    .flatMap(({ external_site_id: id }) => (typeof id === "string" && !named.has(id) ? [id] : []));
  return [...new Set(ids)].sort();
}

function namelessWarning(ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  const [what, gone] =
    ids.length === 1
      ? ["1 destination in mappings has", "it"]
      : [`${ids.length} destinations in mappings have`, "one of them"];
  return [
    `${what} no name: where the service no longer has ${gone}, remove its mappings there; otherwise add \`destinations\` to the configuration, or \`--destination\`.`,
  ];
}

function destinationWarning(wanted: DestinationName, { destinations, others }: DestinationLookup): string {
  const { name, platform } = wanted;
  const known = [...destinations, ...others].map((row) => labelOf(row, platform));
  return `There is no destination "${name}" on platform "${platform}": its mapped values are missing.${suggestion(name, known, "")}`;
}

/** The name, with the platform where that is another than the configured one. */
function labelOf({ id, identification = id, platform }: Destination, configured: string): string {
  return platform === undefined || platform === configured
    ? identification
    : `${identification} (${platform})`;
}

/** A name that items carry is spelled as the service spells it: only configured ones may be misspelled. */
function fieldWarning(name: string, { config, fieldNames, fields }: Matching): string {
  const others = [...fieldNames].filter((other) => !fields.unmatched.includes(other));
  const near = config.customFields.includes(name) ? suggestion(name, others, "") : "";
  return `The service knows no custom field "${name}".${near}`;
}

/** Why the configured destinations have no mapped values; null: they have some, or none is wanted. */
function causeOf(matching: Matching): string | null {
  const { destinations, wanted, rows, config } = matching;
  if (wanted.length === 0 || rows[MAPPED_VALUES] === undefined) return null;
  if (destinations.destinations.length === 0) return notFound(wanted);
  const isEmpty = rows[MAPPED_VALUES] === 0;
  const { columns, aliases } = config;
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
  return `the service ${wanted.length === 1 ? "does not have" : "has none of"} ${listed(names, "and")}`;
}

function hasMapping({ destinations, fields }: Matching): boolean {
  const ids = new Set<string | undefined>(destinations.destinations.map(({ id }) => id));
  return fields.definitions.some(({ mappings }) => mappings?.some(({ external_site_id: id }) => ids.has(id)));
}
