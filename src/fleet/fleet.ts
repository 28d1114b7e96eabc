/** A fleet: instances that are exported one by one, each into a warehouse of its own. */
import { join, resolve } from "node:path";
import { WarehouseError } from "../common/errors.ts";
import { suggestion } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";
import type { NamedInstance } from "../config/config.ts";
import { nameIn, readConfigFile } from "../config/config-file.ts";
import { ConfigError, invalid, invalidToken } from "../config/faults.ts";
import { nonEmpty } from "../config/service-source.ts";
import { readServiceUrl } from "../extract/http/service-url.ts";
import { readInstancesTable } from "./database.ts";
import { type FleetSettings, INSTANCE_SETTINGS, readFleetSpec, tableOf } from "./fleet-spec.ts";

export interface Fleet
  extends Omit<FleetSettings, "$schema" | "instances" | "warehouses" | "config" | "memoryMb" | "postgres"> {
  /** The file, as it was named. */
  readonly file: string;
  /** Its absolute path. */
  readonly path: string;
  /** Absolute: paths in the file go from here. */
  readonly folder: string;
  /** Address without a password; null: there is no queue. */
  readonly postgres: string | null;
  readonly instances: readonly FleetInstance[];
}

export interface FleetInstance {
  readonly name: string;
  /** For messages: `fleet.json: instances[2]`. */
  readonly place: string;
  readonly url: string;
  /** Of its service, with the port: those with one host share a rate. */
  readonly host: string;
  /** A file by its absolute path, or a variable. */
  readonly token: { readonly file: string } | { readonly variable: string };
  /** Absolute; null: there is none. */
  readonly config: string | null;
  /** A name, or a path from the fleet's folder. */
  readonly pipeline: string;
  /** Five fields of cron, in UTC. */
  readonly schedule: string | null;
  /** Absolute. */
  readonly warehouse: string;
  readonly memoryMb: number;
}

/**
 * Reads a fleet file, and the table that may hold its instances. Throws a ConfigError with all that is wrong with it;
 * `queue.unavailable` where the table cannot be read now.
 */
export async function readFleet(cwd: string, path: string): Promise<Fleet> {
  const file = await readConfigFile(cwd, path);
  if (file === null) throw new TypeError("a file that is named is read, or that fails");
  const result = readFleetSpec(await withInstances(file.value));
  if ("settings" in result) {
    return { ...fleetOf(file.name, file.folder, result.settings), path: resolve(cwd, path) };
  }
  throw new ConfigError(
    result.problems.map((problem) => ({
      code: "config.invalid",
      about: "settings",
      sentence: `${file.name}: ${problem}`,
    })),
  );
}

/** What the file says, with the rows of the table that it names in the place of its instances. */
async function withInstances(value: unknown): Promise<unknown> {
  const named = tableOf(value);
  if (named === undefined) return value;
  const { table, others } = named;
  return { ...others, instances: await readInstancesTable(others.postgres, table, INSTANCE_SETTINGS) };
}

function fleetOf(file: string, folder: string, settings: FleetSettings): Omit<Fleet, "path"> {
  const { $schema: _schema, instances, warehouses, config, memoryMb, postgres, ...others } = settings;
  const from = (path: string) => resolve(folder, path);
  const besideIt = () => {
    const name = nameIn(folder);
    return name === null ? null : from(name);
  };
  return {
    ...others,
    file,
    folder,
    postgres: postgres ?? null,
    instances: instances.map((each, index) => {
      const { name, url, pipeline, schedule = null, tokenFile, tokenEnv = "" } = each;
      const settings = each.config ?? config;
      return {
        name,
        place: `${file}: instances[${index}]`,
        url,
        host: hostOf(url),
        token: tokenFile === undefined ? { variable: tokenEnv } : { file: from(tokenFile) },
        config: settings === undefined ? besideIt() : from(settings),
        pipeline,
        schedule,
        warehouse: from(each.warehouse ?? join(warehouses, name)),
        memoryMb: each.memoryMb ?? memoryMb,
      };
    }),
  };
}

function hostOf(url: string): string {
  const read = readServiceUrl(url);
  if ("problem" in read) throw new TypeError(read.problem);
  return read.url.host;
}

/** Throws `config.not_found`. */
export function findInstance({ file, instances }: Fleet, name: string): FleetInstance {
  const found = instances.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = instances.map((each) => each.name);
  throw new WarehouseError(
    "config.not_found",
    `There is no instance "${printable(name)}" in ${file}.${suggestion(name, names, `It has ${names.length}, the first is ${names[0]}.`)}`,
  );
}

/**
 * How many runs there are at once of the services at one host, at most: as many as it has instances, since no instance
 * has two, and no more than `hostConcurrency`, which the queue keeps, and any other scheduler has to.
 */
export function mostAtOnce({ hostConcurrency, instances }: Fleet, host: string): number {
  const all = instances.filter((each) => each.host === host).length;
  return Math.min(all, hostConcurrency ?? all);
}

/** What a run needs to know of its instance. Throws `config.invalid` where the variable of the token is not set. */
export function namedInstance(
  fleet: Fleet,
  instance: FleetInstance,
  env: Readonly<Record<string, string | undefined>>,
): NamedInstance {
  const { hostRatePerSecond } = fleet;
  return {
    service: {
      address: { place: `${instance.place}.url`, text: instance.url },
      token: tokenOf(instance, env),
    },
    mostPerSecond: hostRatePerSecond === null ? null : hostRatePerSecond / mostAtOnce(fleet, instance.host),
    isOfMany: fleet.instances.filter(({ config }) => config === instance.config).length > 1,
  };
}

function tokenOf({ token, place }: FleetInstance, env: Readonly<Record<string, string | undefined>>) {
  if ("file" in token) return { file: token.file, setting: `${place}.tokenFile` };
  const text = nonEmpty(env[token.variable]);
  const setting = `${place}.tokenEnv`;
  if (text !== undefined) return { variable: token.variable, text, setting };
  // Not even its name: somebody may have written the token in its place.
  throw invalidToken(`${setting}: the variable that it names is not set; set it to the token.`);
}

/** Throws `config.invalid` where the fleet has no queue. */
export function queueAddress({ file, path, postgres }: Fleet): string {
  if (postgres !== null) return postgres;
  throw invalid(
    `${file}: \`postgres\` is missing: the queue needs a PostgreSQL database; without one, let your scheduler call "content-warehouse run --instance NAME --fleet ${path}".`,
  );
}
