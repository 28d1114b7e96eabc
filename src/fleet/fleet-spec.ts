/** What a fleet file may say, and what holds where it says nothing. */
import { z } from "zod";
import { postgresAddressFault } from "../common/network/postgres-address.ts";
import { NAME } from "../common/options.ts";
import { printable } from "../common/printable.ts";
import { formFaults, schemaAddress, valueAt } from "../config/form-faults.ts";
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
    name: instanceName.describe(
      "Lower-case letters, digits and hyphens, 63 at most; also its name in a lake.",
    ),
    url: text.meta({ expected: SERVICE_ADDRESS }).describe("Address of its service."),
    tokenFile: path.optional().describe("File with its token, mode 0600; either this or tokenEnv."),
    tokenEnv: z
      .string()
      .regex(/^[A-Za-z_]\w*$/)
      .meta({ expected: "the name of a variable, such as NORTH_TOKEN", isSecret: true })
      .optional()
      .describe("Variable of the environment that holds its token; either this or tokenFile."),
    config: path
      .optional()
      .describe(
        "Its configuration, of which url, tokenFile and warehouse are not used; the fleet's unless given.",
      ),
    pipeline: text
      .meta({ expected: "the name of a pipeline or the path of a module" })
      .default("nightly")
      .describe("Name of a pipeline, or path of a module."),
    schedule: z
      .string()
      .regex(/^\s*\S+(\s+\S+){4}\s*$/)
      .meta({ expected: 'five fields of cron, such as "0 2 * * *"' })
      .optional()
      .describe("When the queue gives it a job: five fields of cron, in UTC; never unless given."),
    warehouse: folder
      .optional()
      .describe("Folder of its warehouse; the one of its name in the fleet's warehouses unless given."),
    memoryMb: memoryMb
      .optional()
      .describe(
        "Memory of its run, in megabytes: at least 448, which 500 items need; the fleet's unless given.",
      ),
  })
  .meta({
    expected:
      'an object such as { "name": "north", "url": "https://north.example.com", "tokenEnv": "NORTH_TOKEN" }',
  });
export type InstanceSettings = z.output<typeof instance>;

const instances = z.array(instance).min(1).meta({ expected: "a list of at least one instance" }).readonly();
const instancesTable = z
  .strictObject({
    table: z
      .string()
      .regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$/)
      .meta({ expected: "the name of a table" })
      .describe("Table of the database with a row for each instance: its settings, in snake case."),
  })
  .meta({ expected: '{ "table": "fleet_instances" } beside `postgres`' });

const fleetSpec = z.strictObject({
  $schema: schemaAddress,
  instances,
  config: path
    .optional()
    .describe("Configuration of instances that name none; the one beside this file unless given."),
  warehouses: folder
    .default("warehouses")
    .describe("Folder with the warehouses of instances that name none."),
  memoryMb: memoryMb
    .default(1024)
    .describe("Memory of a run, in megabytes, of instances that do not say it."),
  hostRatePerSecond: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe("Requests a second to one host by all its instances, at most; null: no limit."),
  hostConcurrency: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe("Runs of one host's instances at the same time, at most; null: all."),
  postgres: text
    .meta({ expected: DATABASE_ADDRESS })
    .optional()
    .describe(
      "Database of the queue; what its address leaves out comes from PGHOST, PGPORT and PGUSER, the password from PGPASSWORD or PGPASSFILE. No queue unless given.",
    ),
  retries: z.int().min(0).max(100).default(5).describe("How often the queue repeats a run."),
  retryDelaySeconds: z
    .int()
    .min(1)
    .max(86_400)
    .default(60)
    .describe("Seconds before the first repetition, about doubled before each next."),
  heartbeatSeconds: z
    .int()
    .min(10)
    .max(3600)
    .default(60)
    .describe("Seconds for which a worker may be silent before another takes its job."),
});
export type FleetSettings = z.output<typeof fleetSpec>;

/** Settings of an instance, by name. */
export const INSTANCE_SETTINGS = Object.keys(instance.shape);

/** As a file may say it; `fleet.schema.json` is made from it. */
export const fleetFileSpec = fleetSpec
  .extend({
    instances: z
      .union([instances, instancesTable])
      .describe("The instances, or the table that has a row for each."),
  })
  .meta({ expected: "an object with instances" });

const inTable = z.looseObject({
  instances: instancesTable,
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
    ...formFaults({ declared: fleetFileSpec, value, issues: result.error?.issues ?? [] }),
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
