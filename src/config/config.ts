import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { DYNAMIC_COLUMN_NAMES } from "../api/dynamic.ts";
import type { Contract } from "../audit/checks/contract.ts";
import type { ProxyFor } from "../common/network/proxy.ts";
import { Secret } from "../common/secret.ts";
import { VERSION } from "../common/version.ts";
import { type ObserveSettings, observeSettings } from "../observe/settings.ts";
import type { PersonalPolicy } from "../raw/personal/policy.ts";
import type { PersonalTreatment } from "../warehouse/baseline.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import { configSpec, type Settings } from "./config-spec.ts";
import { invalid } from "./faults.ts";
import { configFileName, namedWarehouse, nonEmpty } from "./locations.ts";
import { proxyResolver } from "./proxy.ts";
import { readSettings } from "./read-spec.ts";
import { type ServiceSource, serviceSource } from "./service-source.ts";

export { type ConfigSpec, defineConfig } from "./config-spec.ts";

/** What a run works by: complete, checked, and never looked up again. */
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
  readonly source: ContentSource;
  /** Columns of the dynamic set to ask for, by their names at the service. */
  readonly columns: readonly string[];
  /** Undefined: as the pipeline has it. */
  readonly details: Settings["details"];
  readonly personalData: PersonalSettings;
  /** Absolute path of the warehouse's folder. */
  readonly warehouse: string;
  /** Whether a person said that this run asks for all single items: then `rereadDays` is 0. */
  readonly reread: boolean;
  readonly observe: ObserveSettings;
  /** Whether a person said that this run may hold far less than the one before. */
  readonly acceptShrink: boolean;
  /** Whether a person said that the service of the warehouse has another address now. */
  readonly acceptNewAddress: boolean;
  /** Whether a person said that the warehouse loses the tables that the pipeline does not make. */
  readonly acceptPipeline: boolean;
  /** Items to read, the first that are listed, into a warehouse of limited runs; null: all. */
  readonly limit: number | null;
}

/** The embedded service with the sample content, or one that answers at an address. */
export type ContentSource = { readonly kind: "sample" } | ServiceSource;

/** The key of the keyed hash is there exactly where the policy is `hash`; 32 bytes or more. */
export type PersonalSettings =
  | { readonly policy: Exclude<PersonalPolicy, "hash">; readonly key: null }
  | { readonly policy: "hash"; readonly key: Secret };

/** From the command line. A token is never one of them: arguments can be read by everybody on the machine. */
export interface ConfigFlags {
  /** Null: none is read, whatever lies in the working directory. */
  readonly config?: string | null | undefined;
  readonly url?: string | undefined;
  /** Absolute path of a file with the token, where the environment has none. */
  readonly tokenFile?: string | undefined;
  readonly warehouse?: string | undefined;
  readonly sample?: boolean | undefined;
  readonly contract?: Contract | undefined;
  /** In the place of those of the file. */
  readonly destinations?: Settings["destinations"] | undefined;
  /** Never a setting of a file: it is said of one run. */
  readonly acceptShrink?: boolean | undefined;
  /** Likewise. */
  readonly acceptNewAddress?: boolean | undefined;
  /** Likewise. */
  readonly acceptPipeline?: boolean | undefined;
  /** Asks for all single items: `rereadDays: 0` for one run. */
  readonly reread?: boolean | undefined;
  /** Items: the first that are listed. Then `warehouse` is the flag alone, or the folder of limited runs. */
  readonly limit?: number | undefined;
}

export interface ConfigInputs {
  /** Absolute path of the working directory. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: ConfigFlags;
  /** How the caller has the sample instead of a service: said where no service or no token is named. */
  readonly sampleBy: string;
}

const MIN_KEY_BYTES = 32;

/**
 * Reads the configuration completely, before any request: flags win over the environment, the environment over the
 * file. With `--sample` only a file that `--config` names is read, and no address and no token.
 * Throws `config.invalid` with all that is wrong with the file, or else with the first that is wrong around it, and
 * `config.missing_service`.
 */
export async function loadConfig({ cwd, env, flags, sampleBy }: ConfigInputs): Promise<Config> {
  const file = await configFileOf({ cwd, flags });
  const settings = settingsIn(file, env);
  const {
    $schema: _schema,
    url: _url,
    proxy: _proxy,
    tokenFile: _tokenFile,
    onFinish,
    metricsFile,
    ...others
  } = settings;
  refuseUncheckedTls(env);
  const { limit = null } = flags;
  if (limit !== null && (!Number.isSafeInteger(limit) || limit < 1))
    throw invalid(`\`limit\` is ${limit}; give a whole number from 1.`);
  const proxyFor = proxiesIn(file, settings.proxy, env);
  return {
    ...others,
    source:
      flags.sample === true
        ? sampleSource(flags)
        : await serviceSource({ env, flags, sampleBy, file, settings, proxyFor }),
    details: settings.details,
    columns: settings.columns ?? columnsAtService(settings.aliases),
    personalData: personalDataOf(settings.personalData, env),
    warehouse: warehouseOf({ cwd, env, flags }, file, settings),
    observe: observeSettings({
      onFinish,
      metricsFile,
      instance: instanceIn(env),
      folder: file?.folder ?? cwd,
    }),
    contract: flags.contract ?? settings.contract,
    destinations: flags.destinations ?? settings.destinations,
    rereadDays: flags.reread === true ? 0 : settings.rereadDays,
    reread: flags.reread === true,
    acceptShrink: flags.acceptShrink === true,
    acceptNewAddress: flags.acceptNewAddress === true,
    acceptPipeline: flags.acceptPipeline === true,
    limit,
  };
}

function proxiesIn(file: ConfigFile | null, setting: string | undefined, env: ConfigInputs["env"]): ProxyFor {
  return proxyResolver({ env, setting, settingIn: `${file?.name}: \`proxy\`` });
}

/**
 * What the configuration file says, or the defaults where there is none: for commands that need neither the service nor a
 * token. Errors: `config.invalid`.
 */
export async function loadSettings(inputs: Pick<ConfigInputs, "cwd" | "env" | "flags">): Promise<Settings> {
  return settingsIn(await configFileOf(inputs), inputs.env);
}

/** What a replay needs of the configuration: what decides what a run asks for, and what becomes of a run. */
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

/** The same of the configuration file, for a replay. Errors: `config.invalid`. */
export async function loadReplaySettings(
  inputs: Pick<ConfigInputs, "cwd" | "env" | "flags">,
): Promise<ReplaySettings> {
  const settings = await loadSettings(inputs);
  const { details, personalData: policy } = settings;
  return { ...settings, details, columns: settings.columns ?? columnsAtService(settings.aliases), policy };
}

function instanceIn({ CONTENT_WAREHOUSE_INSTANCE: name }: ConfigInputs["env"]): string | undefined {
  return nonEmpty(name);
}

/** What a file says. Throws `config.invalid`. */
function settingsIn(file: ConfigFile | null, env: ConfigInputs["env"]): Settings {
  if (file === null) return configSpec.parse({});
  return readSettings(file.name, file.value, instanceIn(env), (proxy) => proxiesIn(file, proxy, env));
}

function sampleSource(flags: ConfigFlags): ContentSource {
  if (flags.url === undefined) return { kind: "sample" };
  throw invalid("--sample and --url name two services; leave one of them out.");
}

/** Of the file that is named or found. Throws `config.invalid`. */
export async function loadWarehouseFolder(inputs: Omit<ConfigInputs, "sampleBy">): Promise<string> {
  const file = await configFileOf(inputs);
  return resolve(file?.folder ?? inputs.cwd, settingsIn(file, inputs.env).warehouse);
}

function warehouseOf(
  inputs: Omit<ConfigInputs, "sampleBy">,
  file: ConfigFile | null,
  { warehouse }: Settings,
): string {
  return namedWarehouse(inputs) ?? resolve(file?.folder ?? inputs.cwd, warehouse);
}

/** The file that is named or found; the sample has none that is not named. */
async function configFileOf({ cwd, flags }: Pick<ConfigInputs, "cwd" | "flags">): Promise<ConfigFile | null> {
  const name = configFileName({ cwd, flags });
  return name === null ? null : readConfigFile(cwd, name);
}

function personalDataOf(policy: PersonalPolicy, env: ConfigInputs["env"]): PersonalSettings {
  if (policy !== "hash") return { policy, key: null };
  const text = env.CONTENT_WAREHOUSE_HASH_KEY ?? "";
  if (Buffer.byteLength(text) >= MIN_KEY_BYTES) return { policy, key: new Secret(text) };
  const found = text === "" ? "nothing" : "a shorter one";
  throw invalid(
    `CONTENT_WAREHOUSE_HASH_KEY: expected a key of at least ${MIN_KEY_BYTES} bytes, because \`personalData\` is "hash", found ${found}.`,
  );
}

/** All columns of the specification, by the names that the service has for them. */
function columnsAtService(aliases: Readonly<Record<string, string>>): string[] {
  const atService = new Map(Object.entries(aliases).map(([there, here]) => [here, there]));
  return DYNAMIC_COLUMN_NAMES.map((name) => atService.get(name) ?? name);
}

/** The client checks certificates whatever this says; a person who set it should know. */
function refuseUncheckedTls(env: ConfigInputs["env"]): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== "0") return;
  throw invalid(
    "NODE_TLS_REJECT_UNAUTHORIZED is 0, which would show the token to anybody in between; unset it, and name your own authority in NODE_EXTRA_CA_CERTS.",
  );
}

/** Which key a hash was made with, as 16 hexadecimal digits that say nothing of the key. */
export function keyId(key: Secret): string {
  return createHash("sha256").update(`content-warehouse key id\0${key.reveal()}`).digest("hex").slice(0, 16);
}

/** What a run says of its treatment of personal data. */
export function treatmentOf({ policy, key }: PersonalSettings): Omit<PersonalTreatment, "customFieldIds"> {
  return { policy, keyId: key === null ? null : keyId(key) };
}

/**
 * SHA-256, hexadecimal, of what decides the data of a run, this program's version included; the manifest
 * names it. Where and how fast the service is asked, and with which token, is no part of it.
 */
export function configFingerprint(config: Config): string {
  const { source, personalData, personalFields, aliases, destinations, customFields } = config;
  const { columns, details, perPage, raw, limit } = config;
  const decides = {
    version: VERSION,
    service: source.kind === "sample" ? "sample" : source.url.origin + source.url.prefix,
    personalData: Object.values(treatmentOf(personalData)),
    personalFields,
    aliases: Object.entries(aliases).sort(),
    destinations: destinations.map(({ name, platform }) => [name, platform]),
    customFields,
    columns,
    details,
    perPage,
    raw,
    ...(limit !== null && { limit }),
  };
  return createHash("sha256").update(JSON.stringify(decides)).digest("hex");
}
