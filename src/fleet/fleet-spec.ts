/** What a fleet file may say, and what holds where it says nothing. */
import { z } from "zod";
import { postgresAddressFault } from "../common/network/postgres-address.ts";
import { NAME } from "../common/options.ts";
import { printable } from "../common/printable.ts";
import { formFaults, valueAt } from "../config/form-faults.ts";
import { readServiceUrl, SERVICE_ADDRESS } from "../extract/http/service-url.ts";

const text = z.string().min(1);
const path = text.meta({ expected: "the path of a file" });
const folder = text.meta({ expected: "the path of a folder" });
const DATABASE_ADDRESS = "an address such as postgres://fleet@db.example.com/fleet";
/** A run of the 500 items of the sample takes 370 to 390 MB. */
const memoryMb = z.int().min(448).meta({ expected: "megabytes, a whole number from 448" });

const instanceName = z.string().regex(NAME).meta({
  expected:
    "a name of lower-case letters, digits and hyphens, 63 at most, that begins with a letter or digit",
});

const instance = z
  .strictObject({
    name: instanceName,
    url: text.meta({ expected: SERVICE_ADDRESS }),
    tokenFile: path.optional(),
    tokenEnv: z
      .string()
      .regex(/^[A-Za-z_]\w*$/)
      .meta({ expected: "the name of a variable, such as NORTH_TOKEN", isSecret: true })
      .optional(),
    config: path.optional(),
    pipeline: text.meta({ expected: "the name of a pipeline or the path of a module" }).default("nightly"),
    schedule: z
      .string()
      .regex(/^\s*\S+(\s+\S+){4}\s*$/)
      .meta({ expected: 'five fields of cron, such as "0 2 * * *"' })
      .optional(),
    warehouse: folder.optional(),
    memoryMb: memoryMb.optional(),
  })
  .meta({
    expected:
      'an object such as { "name": "north", "url": "https://north.example.com", "tokenEnv": "NORTH_TOKEN" }',
  });
export type InstanceSettings = z.output<typeof instance>;

export const fleetSpec = z
  .strictObject({
    instances: z
      .array(instance)
      .min(1)
      .meta({
        expected: 'a list of at least one instance, or { "table": "fleet_instances" } beside `postgres`',
      })
      .readonly(),
    /** Folder of the warehouses that instances do not name themselves. */
    warehouses: folder.default("warehouses"),
    /** Configuration of the instances that do not name one. */
    config: path.optional(),
    memoryMb: memoryMb.default(1024),
    hostRatePerSecond: z.number().positive().nullable().default(null),
    hostConcurrency: z.int().min(1).nullable().default(null),
    postgres: text.meta({ expected: DATABASE_ADDRESS }).optional(),
    retries: z.int().min(0).max(100).default(5),
    retryDelaySeconds: z.int().min(1).max(86_400).default(60),
    heartbeatSeconds: z.int().min(10).max(3600).default(60),
  })
  .meta({ expected: "an object with instances" });
export type FleetSettings = z.output<typeof fleetSpec>;

/** Settings of an instance, by name. */
export const INSTANCE_SETTINGS = Object.keys(instance.shape);

const inTable = z.looseObject({
  instances: z.strictObject({ table: z.string().regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$/) }),
  postgres: z.string().refine((address) => postgresProblems(address).length === 0),
});

/** Where the instances are rows of a table: which, and in which database; undefined: they are in the file, or wrong. */
export function tableOf(value: unknown) {
  const { data } = inTable.safeParse(value);
  if (data === undefined) return undefined;
  const { instances, ...others } = data;
  return { table: instances.table, others };
}

/** The settings of a fleet, or one sentence for each that is wrong: its name, what was expected, what was found. */
export function readFleetSpec(
  value: unknown,
): { readonly settings: FleetSettings } | { readonly problems: readonly string[] } {
  const result = fleetSpec.safeParse(value);
  const members = instancesIn(value);
  const problems = [
    ...formFaults({ declared: fleetSpec, value, issues: result.error?.issues ?? [] }),
    ...members.flatMap(addressProblems),
    ...members.flatMap(tokenProblems),
    ...repeated(members, "name"),
    ...repeated(members, "warehouse"),
    ...postgresProblems(valueAt(value, ["postgres"])),
  ];
  return result.success && problems.length === 0 ? { settings: result.data } : { problems };
}

/** What the list holds, whatever is wrong with it: settings that are texts, by name. */
type Member = Readonly<Partial<Record<keyof InstanceSettings, string>>>;

function instancesIn(value: unknown): readonly Member[] {
  const list = valueAt(value, ["instances"]);
  if (!Array.isArray(list)) return [];
  return list.map((each: unknown) => {
    const texts = INSTANCE_SETTINGS.map((key) => [key, valueAt(each, [key])] as const);
    return Object.fromEntries(texts.filter(([, found]) => typeof found === "string"));
  });
}

function addressProblems({ url }: Member, index: number): string[] {
  const read = url === undefined || url === "" ? undefined : readServiceUrl(url);
  return read !== undefined && "problem" in read ? [`\`instances[${index}].url\`: ${read.problem}.`] : [];
}

function tokenProblems({ tokenFile, tokenEnv }: Member, index: number): string[] {
  if ((tokenFile === undefined) !== (tokenEnv === undefined)) return [];
  const found = tokenFile === undefined ? "neither" : "both";
  return [
    `\`instances[${index}]\`: expected \`tokenFile\` or \`tokenEnv\`, which say where its token is, found ${found}.`,
  ];
}

function repeated(members: readonly Member[], key: "name" | "warehouse"): string[] {
  const texts = members.map((member) => member[key]);
  return texts.flatMap((value, index) => {
    const first = texts.indexOf(value);
    if (value === undefined || first === index) return [];
    return [
      `\`instances[${index}].${key}\`: expected one of its own, found "${printable(value, 60)}", which \`instances[${first}]\` has.`,
    ];
  });
}

function postgresProblems(postgres: unknown): string[] {
  if (typeof postgres !== "string" || postgres === "") return [];
  const fault = postgresAddressFault(postgres);
  if (fault === null) return [];
  return fault === "form"
    ? [`\`postgres\`: expected ${DATABASE_ADDRESS}.`]
    : ["`postgres`: a password does not belong in a file; set PGPASSWORD, or name a PGPASSFILE."];
}
