/** Loads the configuration of a run from flags, the environment and a file. */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { DYNAMIC_COLUMN_NAMES } from "../api/dynamic.ts";
import type { Contract } from "../audit/checks/contract.ts";
import { invalidConfig } from "../common/errors.ts";
import type { ProxyFor } from "../common/proxy.ts";
import { Secret } from "../common/secret.ts";
import { VERSION } from "../common/version.ts";
import type { ObserveSettings } from "../observe/outcome.ts";
import type { RunAsked } from "../raw/extract-record.ts";
import type { PersonalPolicy } from "../raw/personal/policy.ts";
import { type ConfigFile, configFileOf, namedWarehouse, nonEmpty } from "./config-file.ts";
import { configSpec, DATA_SETTINGS, type Settings } from "./config-spec.ts";
import { readSettings } from "./read-spec.ts";
import { proxyResolver, type ServiceSource, serviceSource } from "./service-source.ts";

export { type ConfigSpec, defineConfig } from "./config-spec.ts";

/** The configuration of a run: complete and checked. */
export interface Config
  extends Readonly<
    Omit<
      Settings,
      | "$schema"
      | "url"
      | "proxy"
      | "tokenFile"
      | "columns"
      | "details"
      | "personalData"
      | "warehouse"
      | keyof ObserveSettings
    >
  > {
  /** The sample content from the embedded service, or a service at an address. */
  readonly source: { readonly kind: "sample" } | ServiceSource;
  /** Columns of the dynamic listing to request, by their names at the service. */
  readonly columns: readonly string[];
  /** `undefined`: as the pipeline says. */
  readonly details: Settings["details"];
  readonly personalData: PersonalSettings;
  /** Absolute path of the folder. */
  readonly warehouse: string;
  /** Whether `--reread` was given; then `rereadDays` is 0. */
  readonly reread: boolean;
  readonly observe: ObserveSettings;
  /** Whether this run may have far less than the one before. */
  readonly acceptShrink: boolean;
  /** Publish although `lostValues` fails. */
  readonly acceptLost: boolean;
  /** Whether the service may have another address than in the run before. */
  readonly acceptNewAddress: boolean;
  /** Whether this run may lack tables that the current run has. */
  readonly acceptPipeline: boolean;
  /** Number of items to read, into a warehouse of limited runs; `null` means all. */
  readonly limit: number | null;
}

/** Policy for personal data. `hash` has a key of at least 32 bytes. */
export type PersonalSettings =
  | { readonly policy: Exclude<PersonalPolicy, "hash">; readonly key: null }
  | { readonly policy: "hash"; readonly key: Secret };

/** Flags of the command line. The token is none: everybody on the machine can read arguments. */
export interface ConfigFlags {
  /**
   * Configuration file; `null`: none. Default: `content-warehouse.config.ts` in the working directory, or with `.mts`,
   * `.js`, `.mjs` or `.json`.
   */
  readonly config?: string | null | undefined;
  /** Address of the service. Default: `CONTENT_API_URL`. */
  readonly url?: string | undefined;
  /** Absolute path of a file with the token, for when the environment has none. */
  readonly tokenFile?: string | undefined;
  /** Folder of the warehouse. Default: the setting, or `./warehouse`. */
  readonly warehouse?: string | undefined;
  /** Reads the sample content from the embedded service. */
  readonly sample?: boolean | undefined;
  /** `freeze` publishes nothing that departs from the specification. */
  readonly contract?: Contract | undefined;
  /** Replaces the setting of the file. */
  readonly destinations?: Settings["destinations"] | undefined;
  // The next three are no settings of the file, because they are approvals for one run.
  /** Publishes even if there is far less than in the run before. */
  readonly acceptShrink?: boolean | undefined;
  readonly acceptLost?: boolean | undefined;
  /** Accepts another address of the service, if the instance's ID is the same. */
  readonly acceptNewAddress?: boolean | undefined;
  /** Publishes even if the pipeline lacks tables of the current run. */
  readonly acceptPipeline?: boolean | undefined;
  /** Requests all single items, even unchanged ones: `rereadDays: 0` for one run. */
  readonly reread?: boolean | undefined;
  /** Reads only the first items, into a warehouse of limited runs. Default folder: `./first-look`. */
  readonly limit?: number | undefined;
}

export interface ConfigInputs {
  /** Absolute path of the working directory. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: ConfigFlags;
  /** How to use the sample instead of a service, for messages about a missing service or token. */
  readonly sampleBy: string;
}

const MIN_KEY_BYTES = 32;

/**
 * Loads the whole configuration before any request. Flags come first, then the environment, then the file. With
 * `--sample` it reads only a file that `--config` names, and neither address nor token. Throws `config.missing_service`,
 * and `config.invalid` with all faults of the file, or else the first fault outside it.
 */
export async function loadConfig({ cwd, env, flags, sampleBy }: ConfigInputs): Promise<Config> {
  if (flags.sample === true && flags.url !== undefined)
    throw invalidConfig("--sample and --url name two services; leave one of them out.");
  const file = await configFileOf({ cwd, flags });
  const settings = settingsIn(file, env);
  const { $schema: _schema, url: _url, proxy, tokenFile: _file, ...more } = settings;
  const { onFinish = null, metricsFile, ...others } = more;
  refuseUncheckedTls(env);
  const { limit = null } = flags;
  if (limit !== null && (!Number.isSafeInteger(limit) || limit < 1))
    throw invalidConfig(`\`limit\` is ${limit}; give a whole number from 1.`);
  const proxyFor = proxiesIn(file, proxy, env);
  return {
    ...others,
    source:
      flags.sample === true
        ? { kind: "sample" }
        : await serviceSource({ env, flags, sampleBy, file, settings, proxyFor }),
    details: settings.details,
    columns: settings.columns ?? columnsAtService(settings.aliases),
    personalData: personalDataOf(settings.personalData, env),
    warehouse: namedWarehouse({ cwd, env, flags }) ?? resolve(file?.folder ?? cwd, settings.warehouse),
    observe: {
      onFinish,
      metricsFile: metricsFile === undefined ? null : resolve(file?.folder ?? cwd, metricsFile),
    },
    contract: flags.contract ?? settings.contract,
    destinations: flags.destinations ?? settings.destinations,
    rereadDays: flags.reread === true ? 0 : settings.rereadDays,
    reread: flags.reread === true,
    acceptShrink: flags.acceptShrink === true,
    acceptLost: flags.acceptLost === true,
    acceptNewAddress: flags.acceptNewAddress === true,
    acceptPipeline: flags.acceptPipeline === true,
    limit,
  };
}

function proxiesIn(file: ConfigFile | null, setting: string | undefined, env: ConfigInputs["env"]): ProxyFor {
  return proxyResolver({ env, setting, settingIn: `${file?.name}: \`proxy\`` });
}

/** Settings of the file, or the defaults, for commands that need neither service nor token. Throws `config.invalid`. */
export async function loadSettings(inputs: Pick<ConfigInputs, "cwd" | "env" | "flags">): Promise<Settings> {
  return settingsIn(await configFileOf(inputs), inputs.env);
}

/** Settings for a replay: those that decide what a run requests, and what happens to a published run. */
export type ReplaySettings = Pick<
  Config,
  | "columns"
  | "details"
  | "aliases"
  | "destinations"
  | "customFields"
  | "personalFields"
  | "targets"
  | "keepRuns"
> & { readonly policy: PersonalPolicy };

/** Loads these from the file. Throws `config.invalid`. */
export async function loadReplaySettings(
  inputs: Pick<ConfigInputs, "cwd" | "env" | "flags">,
): Promise<ReplaySettings> {
  const settings = await loadSettings(inputs);
  const { columns = columnsAtService(settings.aliases), details, personalData: policy } = settings;
  return { ...settings, details, columns, policy };
}

function settingsIn(file: ConfigFile | null, env: ConfigInputs["env"]): Settings {
  if (file === null) return configSpec.parse({});
  const instance = nonEmpty(env.CONTENT_WAREHOUSE_INSTANCE);
  return readSettings(file.name, file.value, instance, (proxy) => proxiesIn(file, proxy, env));
}

/** Absolute path of the warehouse by the file or the default. Throws `config.invalid`. */
export async function loadWarehouseFolder(inputs: Omit<ConfigInputs, "sampleBy">): Promise<string> {
  const file = await configFileOf(inputs);
  return resolve(file?.folder ?? inputs.cwd, settingsIn(file, inputs.env).warehouse);
}

function personalDataOf(policy: PersonalPolicy, env: ConfigInputs["env"]): PersonalSettings {
  if (policy !== "hash") return { policy, key: null };
  const text = env.CONTENT_WAREHOUSE_HASH_KEY ?? "";
  if (Buffer.byteLength(text) >= MIN_KEY_BYTES) return { policy, key: new Secret(text) };
  const found = text === "" ? "nothing" : "a shorter one";
  throw invalidConfig(
    `CONTENT_WAREHOUSE_HASH_KEY: expected a key of at least ${MIN_KEY_BYTES} bytes, because \`personalData\` is "hash", found ${found}.`,
  );
}

/** All columns of the specification, by their names at the service. */
function columnsAtService(aliases: Readonly<Record<string, string>>): string[] {
  const atService = new Map(Object.entries(aliases).map(([there, here]) => [here, there]));
  return DYNAMIC_COLUMN_NAMES.map((name) => atService.get(name) ?? name);
}

/** The client always checks certificates, but whoever set this variable expects otherwise. */
function refuseUncheckedTls(env: ConfigInputs["env"]): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== "0") return;
  throw invalidConfig(
    "NODE_TLS_REJECT_UNAUTHORIZED is 0, which would let others on the network read the token; unset it, and name your own authority in NODE_EXTRA_CA_CERTS.",
  );
}

/** Identifies a key in 16 hexadecimal digits that do not reveal it. */
export function keyId(key: Secret): string {
  return createHash("sha256").update(`content-warehouse key id\0${key.reveal()}`).digest("hex").slice(0, 16);
}

/** Policy and key ID as a manifest has them. */
export function treatmentOf({
  policy,
  key,
}: PersonalSettings): Omit<RunAsked["personalData"], "customFieldIds"> {
  return { policy, keyId: key === null ? null : keyId(key) };
}

/**
 * SHA-256 in hexadecimal of all that decides the data of a run: version, service, limit and the settings that are marked
 * so in the specification of the configuration. The manifest has it.
 */
export function configFingerprint(config: Config): string {
  const { source, personalData, aliases, limit } = config;
  const parts = {
    ...Object.fromEntries(DATA_SETTINGS.map((name) => [name, config[name]])),
    version: VERSION,
    service: source.kind === "sample" ? "sample" : source.url.origin + source.url.prefix,
    personalData: treatmentOf(personalData),
    aliases: Object.entries(aliases).sort(),
    limit,
  };
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
