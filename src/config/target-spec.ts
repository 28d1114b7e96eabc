/** The setting `targets`: what a JSON file says of a target, and targets that a module makes. */
import { z } from "zod";
import { isObject } from "../common/objects.ts";
import type { Target } from "../pipeline.ts";
import { isLake, lake, type Surroundings } from "../targets/lake/lake.ts";
import { postgres } from "../targets/postgres/postgres.ts";

const text = z.string().min(1);
const typed = <Type extends string>(type: Type) => z.literal(type).meta({ expected: '"lake" or "postgres"' });
const url = text.meta({ expected: "the address of a store or of a database" });
const name = text.meta({ expected: "the name of the target" });
/** The setting of a lake, as an example. */
export const LAKE = '{ type: "lake", url: "s3://bucket/prefix", instance: "main" }';

const lakeSpec = z.strictObject({
  type: typed("lake"),
  url: url.describe("s3://bucket/prefix, or file:///folder."),
  instance: text
    .meta({ expected: "the name of the instance in the lake" })
    .optional()
    .describe("Name of the instance in the lake; CONTENT_WAREHOUSE_INSTANCE else."),
  name: name.optional().describe('Of the target; "lake" unless given.'),
  endpoint: text
    .meta({ expected: "an address such as https://minio.example.com:9000" })
    .optional()
    .describe("Address of a store that speaks S3 and is not Amazon's."),
  pathStyle: z.boolean().optional().describe("Whether the bucket stands in the path of an address."),
  region: text.meta({ expected: "the name of a region" }).optional().describe("Region of the bucket."),
  logRetentionDays: z
    .int()
    .min(1)
    .optional()
    .describe("Days that earlier versions of tables are kept; 30 unless given."),
});

const postgresSpec = z.strictObject({
  type: typed("postgres"),
  url: url.describe("postgres://user@host/database, without a password."),
  schema: text
    .meta({ expected: "the name of a schema" })
    .optional()
    .describe('Schema that is replaced; "content_warehouse" unless given.'),
  name: name.optional().describe('Of the target; "postgres" unless given.'),
});

/** A target as JSON says it. */
export const declaredTarget = z
  .discriminatedUnion("type", [lakeSpec, postgresSpec])
  .meta({ expected: `an object such as ${LAKE}` });
type DeclaredTarget = z.input<typeof declaredTarget>;

/** Either of them, as a target. What is wrong with its options is in its `faults`. */
export const target: z.ZodType<Target, Target | DeclaredTarget> = z.any().transform((value, context) => {
  if (isTarget(value)) return value;
  const declared = declaredTarget.safeParse(value);
  if (declared.success) return made(declared.data);
  for (const issue of declared.error.issues) context.issues.push({ ...issue, input: value });
  return z.NEVER;
});

function isTarget(value: unknown): value is Target {
  if (!isObject(value)) return false;
  const { name, last, stage } = value;
  return typeof name === "string" && typeof last === "function" && typeof stage === "function";
}

function made(declared: z.output<typeof declaredTarget>): Target {
  if (declared.type === "postgres") {
    const { type: _type, ...options } = declared;
    return postgres(options);
  }
  const { type: _type, ...options } = declared;
  return lake(options);
}

/** As they are where the configuration is read. */
export function targetsOf(targets: readonly Target[], around: Surroundings): readonly Target[] {
  return targets.map((each) => (isLake(each) ? each.within(around) : each));
}

/** One sentence for each fault of what targets were made with, and for names that are not theirs alone. */
export function targetProblems(targets: readonly Target[]): string[] {
  const faults = targets.flatMap(({ faults = [] }, at) =>
    faults.map((fault) => `\`targets[${at}]\`: ${fault}.`),
  );
  const names = targets.map(({ name }) => name);
  const twice = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  return [
    ...faults,
    ...[...twice].map((name) => `\`targets\`: two are called "${name}"; give each a \`name\` of its own.`),
  ];
}
