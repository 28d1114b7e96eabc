import { z } from "zod";
import { DEFAULT_PLATFORM } from "../api/destination.ts";
import { CONTRACTS } from "../audit/checks/contract.ts";
import { PROXY_ADDRESS, readProxy } from "../common/network/proxy.ts";
import { printable } from "../common/printable.ts";
import { readServiceUrl } from "../extract/http/service-url.ts";
import { LOOKUP_METHODS } from "../extract/lookups.ts";
import type { RejectLimits } from "../extract/passes/failure-budget.ts";
import { onFinish } from "../observe/settings.ts";
import { PERSONAL_POLICIES } from "../raw/personal/policy.ts";
import { SHRINK_LIMITS } from "../warehouse/baseline.ts";
import { RUNS_KEPT } from "../warehouse/retention.ts";
import { DEFAULT_WAREHOUSE } from "./locations.ts";
import { target } from "./target-spec.ts";

/** What a configuration file may say, and what holds where it says nothing. `config.schema.json` is made from it. */

/** Items that are asked for singly, for the fields that only such answers give. */
export const DETAILS = ["events", "all", "none"] as const;

const text = z.string().min(1);
const texts = z.array(text).readonly().default([]);
const amountOrNull = z.number().positive().nullable();
const personalPolicy = z.enum(PERSONAL_POLICIES);
/** A number of items, or a share of those that are listed. */
const rejectLimits = z.union(
  [
    z
      .int()
      .min(0)
      .transform((items) => ({ items, share: 0 })),
    z
      .string()
      .regex(/^(?:100|\d{1,2}(?:\.\d+)?)%$/)
      .transform((text) => ({ items: 0, share: Number(text.slice(0, -1)) / 100 })),
  ],
  'expected a whole number, or a share such as "1%"',
);

/** Fields that the listings are compared by: passes read them where aliases are not looked at. */
export const COMPARED = ["id", "updated_at"];

export const configSpec = z.strictObject({
  $schema: z
    .string()
    .optional()
    .describe("JSON Schema of this file, for editors. The program does not read it."),
  url: z
    .string()
    .superRefine((url, { addIssue }) => {
      const result = readServiceUrl(url);
      if ("problem" in result) addIssue(result.problem);
    })
    .optional()
    .describe("Address of the service. CONTENT_API_URL and --url win over it."),
  tokenFile: text
    .optional()
    .describe(
      "File with the API token, mode 0600; relative to the folder of this file. CONTENT_API_TOKEN wins over it.",
    ),
  proxy: text
    .refine((proxy) => readProxy(proxy, "") !== null, `expected ${PROXY_ADDRESS}`)
    .optional()
    .describe(
      "Proxy by which https addresses are reached: service and buckets; HTTPS_PROXY else. NO_PROXY names the hosts that are reached directly.",
    ),
  destinations: z
    .array(z.strictObject({ name: text, platform: text.default(DEFAULT_PLATFORM) }))
    .readonly()
    .default([])
    .describe("Destinations whose external values are wanted."),
  ignoreDestinations: texts.describe(
    "Destinations, by ID, name or name:platform, that nobody needs to be warned of: their values without an external value count apart, and the report names them.",
  ),
  customFields: texts.describe("Custom fields to look up besides those that items carry."),
  columns: z
    .array(text)
    .min(1)
    .optional()
    .describe("Columns of the dynamic listing, by their names at the service; all of them unless given."),
  details: z
    .enum(DETAILS)
    .optional()
    .describe("Items that are requested singly, for the fields that only such answers have."),
  rereadDays: z
    .number()
    .min(0)
    .default(7)
    .describe(
      "Days at the latest after which a single item is requested again though nothing in the listing says that it changed, each at a time of its own within them: for up to so long a change of its single-item fields alone may go unseen; 0: each night.",
    ),
  perPage: z
    .union([z.int().min(1).max(1000), z.literal("auto")], 'expected a whole number from 1 to 1000, or "auto"')
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
    .union(
      [personalPolicy, z.strictObject({ policy: personalPolicy }).transform(({ policy }) => policy)],
      'expected "drop", "hash" or "keep"',
    )
    .default("drop")
    .describe("What becomes of e-mail addresses, names, biographies, telephone numbers and pictures."),
  personalFields: texts.describe(
    "Custom fields and API fields that the personal-data policy covers too, by their names.",
  ),
  aliases: z
    .record(text, text)
    .superRefine((aliases, { addIssue }) => {
      const names = Object.values(aliases);
      for (const name of COMPARED.filter((each) => names.includes(each) && aliases[each] !== each))
        addIssue(`no other name may stand for "${name}", which the listings are compared by; leave it out`);
      for (const name of names.filter((each, index) => names.indexOf(each) !== index))
        addIssue(`expected each name of the specification once, found "${printable(name)}" twice`);
    })
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
  warehouse: text
    .default(DEFAULT_WAREHOUSE)
    .describe(
      "Folder of the warehouse, relative to the folder of this file. --warehouse and CONTENT_WAREHOUSE_DIR win over it.",
    ),
  targets: z
    .array(target)
    .readonly()
    .default([])
    .describe("Where published runs are delivered to besides: lakes and PostgreSQL."),
  onFinish: onFinish
    .optional()
    .describe("A function that gets the summary of a run, or its failure, when it has ended. Not in JSON."),
  metricsFile: text
    .optional()
    .describe(
      "File for the run's metrics in the text format of Prometheus; relative to the folder of this file.",
    ),
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
  return settings.map(([name, { description = "" }]) => `  ${name.padEnd(18)}  ${description}\n`).join("");
}
