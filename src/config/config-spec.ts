import { z } from "zod";
import { DYNAMIC_COLUMN_NAMES, isDynamicColumn } from "../api/dynamic.ts";
import { CONTRACTS } from "../audit/checks/contract.ts";
import { editDistance, suggestion } from "../common/nearest.ts";
import { isObject } from "../common/objects.ts";
import { printable } from "../common/printable.ts";
import { DEFAULT_PLATFORM } from "../extract/content-client.ts";
import { readServiceUrl } from "../extract/http/service-url.ts";
import { LOOKUP_METHODS } from "../extract/lookups.ts";
import type { RejectLimits } from "../extract/reject-limits.ts";
import { PERSONAL_POLICIES } from "../raw/personal.ts";
import { SHRINK_LIMITS } from "../warehouse/baseline.ts";
import { RUNS_KEPT } from "../warehouse/retention.ts";

/** What a configuration file may say, what holds where it says nothing, and what is told where it is wrong. */

/** Items that are asked for singly, for the fields that only such answers give. */
export const DETAILS = ["events", "all", "none"] as const;

const name = z.string().min(1);
const destination = z.strictObject({ name, platform: name.default(DEFAULT_PLATFORM) });
const personalPolicy = z.enum(PERSONAL_POLICIES);
const personalData = z.strictObject({ policy: personalPolicy });
/** A number of items, or a share of those that are listed. */
const rejectLimits = z.union([
  z
    .int()
    .min(0)
    .transform((items) => ({ items, share: 0 })),
  z
    .string()
    .regex(/^(?:100|\d{1,2}(?:\.\d+)?)%$/)
    .transform((text) => ({ items: 0, share: Number(text.slice(0, -1)) / 100 })),
]);

export const configSpec = z.strictObject({
  /** Address of the service. `CONTENT_API_URL` and `--url` win over it. */
  url: z.string().optional(),
  /** File with the API token, from the folder of the configuration file on. `CONTENT_API_TOKEN` wins over it. */
  tokenFile: name.optional(),
  /** Destinations whose external values are wanted. */
  destinations: z.array(destination).readonly().default([]),
  /** Names of custom fields that no item may carry, besides those that items do. */
  customFields: z.array(name).readonly().default([]),
  /** Columns of the dynamic set, by their names at the service; all of the specification unless given. */
  columns: z.array(name).min(1).optional(),
  /** As the pipeline has it unless given. */
  details: z.enum(DETAILS).optional(),
  /** Items a page; `auto`: as many as the service grants and are quickly read. */
  perPage: z.union([z.int().min(1).max(1000), z.literal("auto")]).default("auto"),
  /** Requests at the same time. */
  concurrency: z.int().min(1).max(64).default(4),
  /** Requests a second at most; `null`: as many as are answered. */
  ratePerSecond: z.number().positive().nullable().default(null),
  /** Minutes after which a run asks nothing more and ends; `null`: never. */
  deadlineMinutes: z.number().positive().nullable().default(300),
  lookupMethod: z.enum(LOOKUP_METHODS).default("auto"),
  /** Whether the documents themselves are kept. */
  raw: z.boolean().default(true),
  personalData: z.union([personalPolicy, personalData.transform(({ policy }) => policy)]).default("drop"),
  /** Name of a field at the service to its name in the specification. */
  aliases: z.record(name, name).default({}),
  /** What becomes of a run whose answers depart from the specification. `--contract` wins over it. */
  contract: z.enum(CONTRACTS).default("evolve"),
  /** Listed items that may be unreadable in a run that is published: a number, or a share such as "1%". */
  maxRejects: rejectLimits.optional().transform((limits): RejectLimits | null => limits ?? null),
  /** Rows fewer than in the run before, in percent of them, that a run may have and be published. */
  maxShrinkPercent: z.number().min(0).max(100).default(SHRINK_LIMITS.maxShrinkPercent),
  /** So many rows fewer are never too many. */
  minShrink: z.int().min(0).default(SHRINK_LIMITS.minShrink),
  /** Published runs to keep, the newest; the current one is kept besides. */
  keepRuns: z.int().min(1).default(RUNS_KEPT),
  /** Folder of the warehouse, from the folder of the configuration file on. `--warehouse` and `CONTENT_WAREHOUSE_DIR` win over it. */
  warehouse: name.default("warehouse"),
});
export type ConfigSpec = z.input<typeof configSpec>;
/** The same, complete. */
export type Settings = z.output<typeof configSpec>;

/** A typed configuration file: `export default defineConfig({ perPage: 50 });` */
export function defineConfig(spec: ConfigSpec): ConfigSpec {
  return spec;
}

type Place =
  | keyof ConfigSpec
  | ""
  | "destinations[]"
  | "destinations[].name"
  | "destinations[].platform"
  | Entry;
type Entry = "customFields[]" | "columns[]" | "aliases{}";

const EXPECTED: Readonly<Record<Place, string>> = {
  "": "an object with settings",
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
  lookupMethod: oneOf(LOOKUP_METHODS),
  raw: "true or false",
  personalData: `${oneOf(PERSONAL_POLICIES)}, or { policy: ... } with one of them`,
  aliases: 'an object such as { "name_at_the_service": "name_in_the_specification" }',
  "aliases{}": "the name of a field in the specification",
  contract: oneOf(CONTRACTS),
  maxRejects: 'a whole number from 0, or a share such as "1%"',
  maxShrinkPercent: "a number from 0 to 100",
  minShrink: "a whole number from 0",
  keepRuns: "a whole number from 1",
  warehouse: "the path of a folder",
};

/** The settings with what each takes, a line each. */
export function settingsText(): string {
  const names = Object.keys(configSpec.shape).filter(isPlace);
  return names.map((name) => `  ${name.padEnd(16)}  ${EXPECTED[name]}\n`).join("");
}

function oneOf(values: readonly string[]): string {
  return values.map((value) => `"${value}"`).join(", ");
}

/** The settings, or one sentence for each that is wrong: its name, what was expected, what was found. */
export type ConfigSpecResult = { readonly settings: Settings } | { readonly problems: readonly string[] };

export function readConfigSpec(value: unknown): ConfigSpecResult {
  const result = configSpec.safeParse(value);
  if (!result.success) return { problems: result.error.issues.flatMap((issue) => sentences(issue, value)) };
  const { url, columns = [], aliases } = result.data;
  const problems = [...urlProblems(url), ...aliasProblems(aliases), ...columnProblems(columns, aliases)];
  return problems.length === 0 ? { settings: result.data } : { problems };
}

function urlProblems(url: string | undefined): string[] {
  if (url === undefined) return [];
  const result = readServiceUrl(url);
  return "problem" in result ? [`\`url\`: ${result.problem}.`] : [];
}

function aliasProblems(aliases: Readonly<Record<string, string>>): string[] {
  const names = Object.values(aliases);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return twice.map(
    (name) => `\`aliases\`: expected each name of the specification once, found "${printable(name)}" twice.`,
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

function sentences(issue: z.core.$ZodIssue, value: unknown): string[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownSetting(key, issue.path));
  const place = placeOf(issue.path);
  const expected = isPlace(place) ? EXPECTED[place] : issue.message;
  const setting = place === "" ? "" : `\`${nameOf(issue.path)}\`: `;
  return [`${setting}expected ${expected}, found ${described(valueAt(value, issue.path))}.`];
}

type Path = readonly PropertyKey[];

/** `destinations[0].name` */
function nameOf(path: Path): string {
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

function isPlace(place: string): place is Place {
  return Object.hasOwn(EXPECTED, place);
}

function valueAt(value: unknown, path: Path): unknown {
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

function unknownSetting(key: string, path: Path): string {
  const shown = printable(nameOf([...path, key]));
  const nearest = nearestOf(key, knownNames(path));
  if (nearest !== undefined) return `\`${shown}\` is not a setting; did you mean \`${nearest}\`?`;
  if (SECRET_NAME.test(key)) {
    return `\`${shown}\` is not a setting: a token does not belong in a configuration file; set CONTENT_API_TOKEN, or \`tokenFile\` to a file that only you can read.`;
  }
  return `\`${shown}\` is not a setting; there are ${knownNames(path).join(", ")}.`;
}

function knownNames(path: Path): readonly string[] {
  if (path[0] === "destinations") return Object.keys(destination.shape);
  return Object.keys(path[0] === "personalData" ? personalData.shape : configSpec.shape);
}

/** The known name that takes the fewest changes, if they are few enough to be a slip. */
function nearestOf(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((other) => ({
    other,
    changes: editDistance(name.toLowerCase(), other.toLowerCase()),
  }));
  const [nearest] = distances.sort((a, b) => a.changes - b.changes);
  return nearest !== undefined && nearest.changes <= Math.max(1, name.length / 3) ? nearest.other : undefined;
}
