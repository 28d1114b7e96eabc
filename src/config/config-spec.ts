/** All settings of a configuration file: form, default and description. `config.schema.json` and the help come from here. */
import { z } from "zod";
import { DEFAULT_PLATFORM } from "../api/destination.ts";
import { CONTRACTS } from "../audit/checks/contract.ts";
import { isObject } from "../common/json.ts";
import { quoted } from "../common/nearest.ts";
import { unknownKeysMessage } from "../common/parse-form.ts";
import { clauseOf, printable } from "../common/printable.ts";
import { PROXY_ADDRESS, readProxy } from "../common/proxy.ts";
import { expandHome } from "../common/user-path.ts";
import { readServiceUrl } from "../extract/http/request.ts";
import type { OnFinish } from "../observe/outcome.ts";
import type { Target } from "../pipeline.ts";
import type { RejectLimits } from "../raw/extract-record.ts";
import { PERSONAL_POLICIES } from "../raw/personal/policy.ts";
import { lake, lakeOptions } from "../targets/lake/lake.ts";
import { postgresOptions } from "../targets/postgres/connect.ts";
import { postgres } from "../targets/postgres/postgres.ts";
import { SHRINK_LIMITS } from "../warehouse/baseline.ts";
import { RUNS_KEPT } from "../warehouse/retention.ts";
import { DEFAULT_WAREHOUSE } from "./config-file.ts";

const text = z.string().min(1);
/** The type of every setting that is a path. */
const path = text.transform((text, { addIssue }) => {
  try {
    return expandHome(text);
  } catch (thrown) {
    addIssue(clauseOf(thrown));
    return z.NEVER;
  }
});
const texts = z.array(text).readonly().default([]);
const amountOrNull = z.number().positive().nullable();
const personalPolicy = z.enum(PERSONAL_POLICIES);
/** Not `z.custom`, which has no JSON Schema. */
const onFinish: z.ZodType<OnFinish, OnFinish> = z
  .any()
  .refine((value) => typeof value === "function", "expected a function, which a JSON file cannot have");
/** A number of items, or a share of the listed items. */
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

/** A target in JSON: the options of its factory, and a `type`. */
export const declaredTarget = z.discriminatedUnion("type", [
  lakeOptions.safeExtend({ type: z.literal("lake") }),
  postgresOptions.safeExtend({ type: z.literal("postgres") }),
]);

const TARGETS = { lake, postgres } as const;

/** A target, made by a module or declared in JSON. */
const target: z.ZodType<Target, Target | z.input<typeof declaredTarget>> = z
  .any()
  .transform((value, context) => {
    if (isTarget(value)) return value;
    const declared = declaredTarget.safeParse(value, { error: unknownKeysMessage });
    if (declared.success) {
      const { type, ...options } = declared.data;
      return TARGETS[type](options as never);
    }
    for (const issue of declared.error.issues) context.issues.push({ ...issue, input: value });
    return z.NEVER;
  });

function isTarget(value: unknown): value is Target {
  if (!isObject(value)) return false;
  const { name, last, stage } = value;
  return typeof name === "string" && typeof last === "function" && typeof stage === "function";
}

/** Fields by which listings are compared. They are read before aliases apply. */
export const COMPARED = ["id", "updated_at"];

/** Settings that decide the data of a run, so that another value makes it another run. */
const dataSettings = z.registry<object>();

/** Marks a setting as one that decides the data of a run. */
function decidesData<Form extends z.ZodType>(form: Form): Form {
  dataSettings.add(form, {});
  return form;
}

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
    .describe("Address of the service. CONTENT_API_URL and --url override it."),
  tokenFile: path.optional().describe("File with the API token, mode 0600. CONTENT_API_TOKEN overrides it."),
  proxy: text
    .refine((proxy) => readProxy(proxy, "") !== null, `expected ${PROXY_ADDRESS}`)
    .optional()
    .describe("Proxy for https addresses (default: HTTPS_PROXY). NO_PROXY lists hosts to reach directly."),
  destinations: decidesData(
    z
      .array(
        z.strictObject(
          { name: text, platform: text.default(DEFAULT_PLATFORM) },
          {
            error: ({ input }) =>
              typeof input === "string" ? `expected { "name": ${quoted(input)} }, found a text` : undefined,
          },
        ),
      )
      .readonly()
      .default([])
      .describe("Destinations that external values are computed for."),
  ),
  ignoreDestinations: texts.describe(
    "Destinations, by ID, name or name:platform, that receive no values: they are not warned of and not counted.",
  ),
  customFields: decidesData(texts.describe("Custom fields to look up in addition to those that items have.")),
  extraColumns: texts.describe(
    "Fields of items that the specification does not know: each is a column `extra_<name>` of content_wide.",
  ),
  columns: decidesData(
    z
      .array(text)
      .min(1)
      .optional()
      .describe("Columns of the dynamic listing, by their names at the service (default: all)."),
  ),
  details: decidesData(
    z
      .enum(["events", "all", "none"])
      .optional()
      .describe("Items to request singly, for fields that no listing has (default: as the pipeline says)."),
  ),
  rereadDays: z
    .number()
    .min(0)
    .default(7)
    .describe(
      "Days until an unchanged single item is requested again; for so long, changes of fields that only single items have may go unseen. 0: request all each night.",
    ),
  perPage: decidesData(
    z
      .union(
        [z.int().min(1).max(1000), z.literal("auto")],
        'expected a whole number from 1 to 1000, or "auto"',
      )
      .default("auto")
      .describe('Items per page; "auto" uses the largest page that the service answers quickly.'),
  ),
  concurrency: z.int().min(1).max(64).default(4).describe("Requests at the same time."),
  ratePerSecond: amountOrNull
    .default(null)
    .describe("Maximum requests per second; null: as fast as the service allows."),
  deadlineMinutes: amountOrNull
    .default(300)
    .describe("Minutes after which a run makes no more requests and ends; null: never."),
  outageMinutes: z
    .number()
    .min(0)
    .default(30)
    .describe("Minutes to wait for a service that answers no request; 0: do not wait."),
  lookupMethod: z
    .enum(["auto", "get", "post"])
    .default("auto")
    .describe('Method to look up destinations and custom fields; "auto": GET, or else a form POST.'),
  raw: decidesData(z.boolean().default(true).describe("Whether raw documents are published with the run.")),
  personalData: decidesData(
    z
      .union(
        [personalPolicy, z.strictObject({ policy: personalPolicy }).transform(({ policy }) => policy)],
        'expected "drop", "hash" or "keep"',
      )
      .default("drop")
      .describe(
        "What to do with e-mail addresses, names, biographies, phone numbers and pictures of people.",
      ),
  ),
  personalFields: decidesData(
    texts.describe("Custom fields and API fields, by name, that personalData also covers."),
  ),
  aliases: decidesData(
    z
      .record(text, text)
      .superRefine((aliases, { addIssue }) => {
        const names = Object.values(aliases);
        for (const name of COMPARED.filter((each) => names.includes(each) && aliases[each] !== each))
          addIssue(`no other name may stand for "${name}", by which listings are compared; leave it out`);
        for (const name of names.filter((each, index) => names.indexOf(each) !== index))
          addIssue(`expected each name of the specification once, found "${printable(name)}" twice`);
      })
      .default({})
      .describe("Fields that the service names differently: its name to the name in the specification."),
  ),
  contract: z
    .enum(CONTRACTS)
    .default("evolve")
    .describe('"freeze" publishes nothing that departs from the specification. --contract overrides it.'),
  maxRejects: rejectLimits
    .optional()
    .transform((limits): RejectLimits | null => limits ?? null)
    .describe(
      'Unreadable items allowed in a published run: a number, or a share such as "1%" (default: 20, and 0.5 % of the listed items; of single items 5, and 1 %).',
    ),
  maxShrinkPercent: z
    .number()
    .min(0)
    .max(100)
    .default(SHRINK_LIMITS.maxShrinkPercent)
    .describe("How many percent fewer rows than before a run may publish."),
  minShrink: z
    .int()
    .min(0)
    .default(SHRINK_LIMITS.minShrink)
    .describe("Number of missing rows that is always allowed."),
  keepRuns: z
    .int()
    .min(1)
    .default(RUNS_KEPT)
    .describe("Number of newest runs to keep; the current run is always kept."),
  warehouse: path
    .prefault(DEFAULT_WAREHOUSE)
    .describe("Folder of the warehouse. --warehouse and CONTENT_WAREHOUSE_DIR override it."),
  targets: z
    .array(target)
    .readonly()
    .default([])
    .describe("Further places that runs are delivered to: lakes and PostgreSQL."),
  onFinish: onFinish
    .optional()
    .describe("Function that gets the summary of a run, or its failure, at its end. Not in JSON."),
  metricsFile: path.optional().describe("File for metrics of the run in the text format of Prometheus."),
});

export type ConfigSpec = z.input<typeof configSpec>;
/** Settings with all defaults filled in. */
export type Settings = z.output<typeof configSpec>;

type DataSetting = Exclude<
  keyof Settings,
  "$schema" | "url" | "proxy" | "tokenFile" | "onFinish" | "metricsFile"
>;

/** Names of the settings that decide the data of a run. */
export const DATA_SETTINGS: readonly DataSetting[] = Object.entries(configSpec.shape).flatMap(
  ([name, form]) => (dataSettings.has(form) ? [name as DataSetting] : []),
);

/** A typed configuration file: `export default defineConfig({ perPage: 50 });` */
export function defineConfig(spec: ConfigSpec): ConfigSpec {
  return spec;
}

/** All settings with their descriptions, for the help. */
export function settingsText(): string {
  const settings = Object.entries(configSpec.shape).filter(([name]) => name !== "$schema");
  return settings.map(([name, { description = "" }]) => `  ${name.padEnd(18)}  ${description}\n`).join("");
}
