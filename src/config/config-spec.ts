import { z } from "zod";
import { CONTRACTS } from "../audit/checks/contract.ts";
import { DEFAULT_PLATFORM } from "../extract/content-client.ts";
import { LOOKUP_METHODS } from "../extract/lookups.ts";
import type { RejectLimits } from "../extract/reject-limits.ts";
import { onFinish, openLineage } from "../observe/settings.ts";
import { PERSONAL_POLICIES } from "../raw/personal.ts";
import { SHRINK_LIMITS } from "../warehouse/baseline.ts";
import { RUNS_KEPT } from "../warehouse/retention.ts";
import { target } from "./target-spec.ts";

/** What a configuration file may say, and what holds where it says nothing. `config.schema.json` is made from it. */

/** Items that are asked for singly, for the fields that only such answers give. */
export const DETAILS = ["events", "all", "none"] as const;

/** What the setting `targets` means. */
export const TARGETS = "Where published runs are delivered to besides: lakes and PostgreSQL.";

const name = z.string().min(1);
const namedOrNot = name.optional();
const amountOrNull = z.number().positive().nullable();
const listOf = <Element extends z.ZodType>(element: Element) => z.array(element).readonly().default([]);

export const destination = z.strictObject({ name, platform: name.default(DEFAULT_PLATFORM) });
const personalPolicy = z.enum(PERSONAL_POLICIES);
export const personalData = z.strictObject({ policy: personalPolicy });
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
  $schema: z
    .string()
    .optional()
    .describe("JSON Schema of this file, for editors. The program does not read it."),
  url: z.string().optional().describe("Address of the service. CONTENT_API_URL and --url win over it."),
  tokenFile: namedOrNot.describe(
    "File with the API token, mode 0600; relative to the folder of this file. CONTENT_API_TOKEN wins over it.",
  ),
  destinations: listOf(destination).describe("Destinations whose external values are wanted."),
  customFields: listOf(name).describe("Custom fields to look up besides those that items carry."),
  columns: z
    .array(name)
    .min(1)
    .optional()
    .describe("Columns of the dynamic listing, by their names at the service; all of them unless given."),
  details: z
    .enum(DETAILS)
    .optional()
    .describe("Items that are requested singly, for the fields that only such answers have."),
  perPage: z
    .union([z.int().min(1).max(1000), z.literal("auto")])
    .default("auto")
    .describe('Items a page; "auto" takes the largest page that the service grants and answers quickly.'),
  concurrency: z.int().min(1).max(64).default(4).describe("Requests at the same time."),
  ratePerSecond: amountOrNull
    .default(null)
    .describe("Upper bound of requests a second; null: as fast as the service answers and allows."),
  deadlineMinutes: amountOrNull
    .default(300)
    .describe("Minutes after which a run makes no more requests and ends; null: never."),
  outageMinutes: z
    .number()
    .min(0)
    .default(30)
    .describe("Minutes for which a run waits for a service that answers nobody; 0: it does not wait."),
  lookupMethod: z
    .enum(LOOKUP_METHODS)
    .default("auto")
    .describe('How destinations and custom fields are looked up; "auto": by GET, else by a form POST.'),
  raw: z.boolean().default(true).describe("Whether raw documents are published with the run."),
  personalData: z
    .union([personalPolicy, personalData.transform(({ policy }) => policy)])
    .default("drop")
    .describe("What becomes of e-mail addresses, names, biographies, telephone numbers and pictures."),
  personalFields: listOf(name).describe(
    "Custom fields and API fields that the personal-data policy covers too, by their names.",
  ),
  aliases: z
    .record(name, name)
    .default({})
    .describe("Fields that the service spells otherwise: its name to the name in the specification."),
  contract: z
    .enum(CONTRACTS)
    .default("evolve")
    .describe('"freeze": publish nothing that departs from the specification. --contract wins over it.'),
  maxRejects: rejectLimits
    .optional()
    .transform((limits): RejectLimits | null => limits ?? null)
    .describe('Listed items that may be unreadable in a published run: a number, or a share such as "1%".'),
  maxShrinkPercent: z
    .number()
    .min(0)
    .max(100)
    .default(SHRINK_LIMITS.maxShrinkPercent)
    .describe("How many percent fewer rows than the run before a published run may have."),
  minShrink: z
    .int()
    .min(0)
    .default(SHRINK_LIMITS.minShrink)
    .describe("As many rows fewer are never too many."),
  keepRuns: z
    .int()
    .min(1)
    .default(RUNS_KEPT)
    .describe("Published runs to keep, the newest; the current one is kept besides."),
  warehouse: name
    .default("warehouse")
    .describe(
      "Folder of the warehouse, relative to the folder of this file. --warehouse and CONTENT_WAREHOUSE_DIR win over it.",
    ),
  targets: listOf(target).describe(TARGETS),
  onFinish: onFinish
    .optional()
    .describe("A function that gets the summary of a run, or its failure, when it has ended. Not in JSON."),
  metricsFile: namedOrNot.describe(
    "File for the run's metrics in the text format of Prometheus; relative to the folder of this file.",
  ),
  openLineage: openLineage
    .optional()
    .describe("Where OpenLineage events go: { url }, or { file } relative to the folder of this file."),
});
export type ConfigSpec = z.input<typeof configSpec>;
/** The same, complete. */
export type Settings = z.output<typeof configSpec>;

/** A typed configuration file: `export default defineConfig({ perPage: 50 });` */
export function defineConfig(spec: ConfigSpec): ConfigSpec {
  return spec;
}

/** The settings with what each means, for the help. */
export function settingsText(): string {
  const settings = Object.entries(configSpec.shape).filter(([name]) => name !== "$schema");
  return settings.map(([name, { description = "" }]) => `  ${name.padEnd(16)}  ${description}\n`).join("");
}
