import type { z } from "zod";
import { DYNAMIC_COLUMN_NAMES, isDynamicColumn } from "../api/dynamic.ts";
import { CONTRACTS } from "../audit/checks/contract.ts";
import { editDistance, suggestion } from "../common/nearest.ts";
import { isObject } from "../common/objects.ts";
import { printable } from "../common/printable.ts";
import { readServiceUrl } from "../extract/http/service-url.ts";
import { LOOKUP_METHODS } from "../extract/lookups.ts";
import { openLineage, openLineageProblems } from "../observe/settings.ts";
import { PERSONAL_POLICIES } from "../raw/personal.ts";
import {
  type ConfigSpec,
  configSpec,
  DETAILS,
  destination,
  personalData,
  type Settings,
} from "./config-spec.ts";
import { lakeSpec, postgresSpec, targetProblems } from "./target-spec.ts";

/** Reads settings, and says what is wrong with them. */

type Place =
  | keyof ConfigSpec
  | ""
  | "destinations[]"
  | "destinations[].name"
  | "destinations[].platform"
  | "targets[]"
  | `targets[].${keyof typeof lakeSpec.shape | keyof typeof postgresSpec.shape}`
  | "openLineage.url"
  | "openLineage.file"
  | "openLineage.namespace"
  | Entry;
type Entry = "customFields[]" | "personalFields[]" | "columns[]" | "aliases{}";

const EXPECTED: Readonly<Record<Place, string>> = {
  "": "an object with settings",
  $schema: "the address of a JSON Schema",
  url: "an address such as https://content.example.com",
  tokenFile: "the path of a file",
  destinations: 'a list such as [{ name: "Website" }]',
  "destinations[]": 'an object such as { name: "Website", platform: "External" }',
  "destinations[].name": "the name of a destination",
  "destinations[].platform": 'a platform such as "External"',
  customFields: "a list of names",
  "customFields[]": "the name of a custom field",
  columns: "a list of at least one column name",
  "columns[]": "the name of a column",
  details: oneOf(DETAILS),
  perPage: 'a whole number from 1 to 1000, or "auto"',
  concurrency: "a whole number from 1 to 64",
  ratePerSecond: "a number above 0, or null",
  deadlineMinutes: "a number above 0, or null",
  outageMinutes: "a number from 0",
  lookupMethod: oneOf(LOOKUP_METHODS),
  raw: "true or false",
  personalData: `${oneOf(PERSONAL_POLICIES)}, or { policy: ... } with one of them`,
  personalFields: "a list of names",
  "personalFields[]": "the name of a custom field or of an API field",
  aliases: 'an object such as { "name_at_the_service": "name_in_the_specification" }',
  "aliases{}": "the name of a field in the specification",
  contract: oneOf(CONTRACTS),
  maxRejects: 'a whole number from 0, or a share such as "1%"',
  maxShrinkPercent: "a number from 0 to 100",
  minShrink: "a whole number from 0",
  keepRuns: "a whole number from 1",
  warehouse: "the path of a folder",
  targets: 'a list such as [{ type: "lake", url: "s3://bucket/prefix", instance: "main" }]',
  "targets[]": 'an object such as { type: "lake", url: "s3://bucket/prefix", instance: "main" }',
  "targets[].type": '"lake" or "postgres"',
  "targets[].url": "the address of a store or of a database",
  "targets[].instance": "the name of the instance in the lake",
  "targets[].name": "the name of the target",
  "targets[].endpoint": "an address such as https://minio.example.com:9000",
  "targets[].pathStyle": "true or false",
  "targets[].region": "the name of a region",
  "targets[].logRetentionDays": "a whole number of days, at least 1",
  "targets[].schema": "the name of a schema",
  onFinish: "a function, which a JSON file cannot have",
  metricsFile: "the path of a file",
  openLineage: 'an object such as { url: "http://marquez.example.com:5000" } or { file: "lineage.ndjson" }',
  "openLineage.url": "an address such as http://marquez.example.com:5000",
  "openLineage.file": "the path of a file",
  "openLineage.namespace": "the namespace of the job",
};

function oneOf(values: readonly string[]): string {
  return values.map((value) => `"${value}"`).join(", ");
}

/** The settings, or one sentence for each that is wrong: its name, what was expected, what was found. */
export type ConfigSpecResult = { readonly settings: Settings } | { readonly problems: readonly string[] };

export function readConfigSpec(value: unknown): ConfigSpecResult {
  const result = configSpec.safeParse(value);
  const { issues = [] } = result.error ?? {};
  const unknown = (key: string, path: Path) => unknownSetting(key, path, value);
  const { url, columns, aliases, personalFields, targets, openLineage: lineage } = wellFormed(value);
  const problems = [
    ...sentences(issues, value, EXPECTED, unknown),
    ...urlProblems(url),
    ...aliasProblems(aliases ?? {}),
    // Without the aliases nobody can tell which columns there are.
    ...(aliases === undefined ? [] : columnProblems(columns ?? [], aliases)),
    ...personalFieldProblems(personalFields ?? [], aliases ?? {}),
    ...targetProblems(targets ?? []),
    ...openLineageProblems(lineage),
  ];
  return result.success && problems.length === 0 ? { settings: result.data } : { problems };
}

/** Those of the settings that have their form, whatever the others are. */
function wellFormed(value: unknown): Partial<Settings> {
  const settings = Object.entries(configSpec.shape).map(([name, setting]) => [
    name,
    setting.safeParse(valueAt(value, [name])).data,
  ]);
  return Object.fromEntries(settings);
}

function urlProblems(url: string | undefined): string[] {
  if (url === undefined) return [];
  const result = readServiceUrl(url);
  return "problem" in result ? [`\`url\`: ${result.problem}.`] : [];
}

/** What the listings are compared by has no other name: passes read it where aliases are not looked at. */
const COMPARED = ["id", "updated_at"];

function aliasProblems(aliases: Readonly<Record<string, string>>): string[] {
  const names = Object.values(aliases);
  const compared = COMPARED.filter((name) => names.includes(name) && aliases[name] !== name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...compared.map(
      (name) =>
        `\`aliases\`: no other name may stand for "${name}", which the listings are compared by; leave it out.`,
    ),
    ...twice.map(
      (name) =>
        `\`aliases\`: expected each name of the specification once, found "${printable(name)}" twice.`,
    ),
  ];
}

/** A run cannot be without them. Whether there are the others is known when the service was asked. */
function personalFieldProblems(
  names: readonly string[],
  aliases: Readonly<Record<string, string>>,
): string[] {
  return names.flatMap((name, place) =>
    COMPARED.includes(aliases[name] ?? name)
      ? [
          `\`personalFields[${place}]\`: the listings are compared by "${printable(name)}", which says nothing of a person; leave it out.`,
        ]
      : [],
  );
}

/**
 * Services ignore a column that they do not know, so a misspelled one would be missing from every item without a word.
 * A column that only this service has is named in `aliases`, if need be by its own name.
 */
function columnProblems(columns: readonly string[], aliases: Readonly<Record<string, string>>): string[] {
  const isKnown = (name: string) => isDynamicColumn(name) || Object.hasOwn(aliases, name);
  const known = [...DYNAMIC_COLUMN_NAMES, ...Object.keys(aliases)];
  return columns.flatMap((name, place) => {
    if (isKnown(name)) return [];
    const shown = printable(name, 60);
    const near = suggestion(name, known, "");
    return [
      `\`columns[${place}]\`: there is no column "${shown}".${near} If the service has one, add it to \`aliases\`: { "${shown}": "${shown}" }.`,
    ];
  });
}

/** A sentence for each issue: what was expected of the setting, what was found. `expected`: by `a.b[].c`. */
export function sentences(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  expected: Readonly<Record<string, string>>,
  unknown: (key: string, path: Path) => string,
): string[] {
  return issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknown(key, issue.path));
    const place = placeOf(issue.path);
    const what = Object.hasOwn(expected, place) ? expected[place] : issue.message;
    const setting = place === "" ? "" : `\`${nameOf(issue.path)}\`: `;
    return [`${setting}expected ${what}, found ${described(valueAt(value, issue.path))}.`];
  });
}

export type Path = readonly PropertyKey[];

/** `destinations[0].name` */
export function nameOf(path: Path): string {
  return printable(
    path.map((key, index) => (typeof key === "number" ? `[${key}]` : step(key, index))).join(""),
  );
}

/** `destinations[].name`, `aliases{}` */
function placeOf(path: Path): string {
  if (path[0] === "aliases" && path.length > 1) return "aliases{}";
  return path.map((key, index) => (typeof key === "number" ? "[]" : step(key, index))).join("");
}

function step(key: PropertyKey, index: number): string {
  return index === 0 ? String(key) : `.${String(key)}`;
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isObject(inner) || Array.isArray(inner) ? Reflect.get(inner, key) : undefined),
    value,
  );
}

function described(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? `"${printable(value, 60)}"` : String(value);
}

/** A name that looks like a credential's is no slip of the pen. */
const SECRET_NAME = /token|password|secret|credential|authorization|api_?key/i;

function unknownSetting(key: string, path: Path, value: unknown): string {
  const shown = printable(nameOf([...path, key]));
  const known = knownNames(path, value);
  const nearest = nearestOf(key, known);
  if (nearest !== undefined) return `\`${shown}\` is not a setting; did you mean \`${nearest}\`?`;
  if (SECRET_NAME.test(key) && path[0] === "targets") {
    return `\`${shown}\` is not a setting: credentials do not belong in a configuration file; they come from the environment, or from files of their own.`;
  }
  if (SECRET_NAME.test(key)) {
    return `\`${shown}\` is not a setting: a token does not belong in a configuration file; set CONTENT_API_TOKEN, or \`tokenFile\` to a file that only you can read.`;
  }
  return `\`${shown}\` is not a setting; there are ${known.join(", ")}.`;
}

function knownNames(path: Path, value: unknown): readonly string[] {
  if (path[0] === "targets") {
    const isPostgres = valueAt(value, [...path, "type"]) === "postgres";
    return Object.keys((isPostgres ? postgresSpec : lakeSpec).shape);
  }
  if (path[0] === "destinations") return Object.keys(destination.shape);
  if (path[0] === "openLineage") return Object.keys(openLineage.shape);
  if (path[0] === "personalData") return Object.keys(personalData.shape);
  return Object.keys(configSpec.shape).filter((key) => key !== "$schema");
}

/** The known name that takes the fewest changes, if they are few enough to be a slip. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  const changesTo = (other: string) => editDistance(name.toLowerCase(), other.toLowerCase());
  const [nearest] = known.toSorted((a, b) => changesTo(a) - changesTo(b));
  return nearest !== undefined && changesTo(nearest) <= Math.max(1, name.length / 3) ? nearest : undefined;
}
