import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { DestinationName } from "../api/destination.ts";
import { DYNAMIC_COLUMN_NAMES } from "../api/dynamic.ts";
import type { Contract } from "../audit/checks/contract.ts";
import { WarehouseError } from "../common/errors.ts";
import { Secret } from "../common/secret.ts";
import { VERSION } from "../common/version.ts";
import { DEFAULT_PLATFORM } from "../extract/content-client.ts";
import { readServiceUrl, type ServiceUrl } from "../extract/http/service-url.ts";
import type { LookupMethodSetting } from "../extract/lookups.ts";
import type { PerPage } from "../extract/pages/page-size.ts";
import type { RejectLimits } from "../extract/reject-limits.ts";
import type { PersonalPolicy } from "../raw/personal.ts";
import { RUNS_KEPT } from "../warehouse/retention.ts";
import { type ConfigFile, readConfigFile, readTokenFile } from "./config-file.ts";
import { type DETAILS, readConfigSpec } from "./config-spec.ts";

export { type ConfigSpec, defineConfig } from "./config-spec.ts";

/** What a run works by: complete, checked, and never looked up again. */
export interface Config {
  readonly source: Source;
  readonly destinations: readonly DestinationName[];
  readonly customFields: readonly string[];
  /** Columns of the dynamic set to ask for, by their names at the service. */
  readonly columns: readonly string[];
  /** Undefined: as the pipeline has it. */
  readonly details: (typeof DETAILS)[number] | undefined;
  /** Items a page to ask for; `auto`: as many as the service grants and are quickly read. */
  readonly perPage: PerPage;
  /** Requests at the same time. */
  readonly concurrency: number;
  /** Requests a second at most; `null`: as many as are answered. */
  readonly ratePerSecond: number | null;
  /** After so long nothing more is asked; null: there is no end. */
  readonly deadlineMinutes: number | null;
  readonly lookupMethod: LookupMethodSetting;
  readonly raw: boolean;
  readonly personalData: PersonalData;
  /** Name of a field at the service to its name in the specification. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Absolute path of the warehouse's folder. */
  readonly out: string;
  readonly contract: Contract;
  /** Listed items that may be unreadable in a run that is published; null: as each check has it. */
  readonly maxRejects: RejectLimits | null;
  /** Published runs to keep, the newest; the current one is kept besides. */
  readonly keepRuns: number;
  /** Whether a person said that this run may hold far less than the one before. */
  readonly acceptShrink: boolean;
}

/** The embedded service with the sample content, or one that answers at an address. */
export type Source =
  | { readonly kind: "sample" }
  | { readonly kind: "service"; readonly url: ServiceUrl; readonly token: Secret };

/** The key of the keyed hash is there exactly where the policy is `hash`; 32 bytes or more. */
export type PersonalData =
  | { readonly policy: Exclude<PersonalPolicy, "hash">; readonly key: null }
  | { readonly policy: "hash"; readonly key: Secret };

/** From the command line. A token is never one of them: arguments can be read by everybody on the machine. */
export interface ConfigFlags {
  readonly config?: string | undefined;
  readonly url?: string | undefined;
  readonly out?: string | undefined;
  readonly sample?: boolean | undefined;
  readonly contract?: Contract | undefined;
  /** Never a setting of a file: it is said of one run. */
  readonly acceptShrink?: boolean | undefined;
}

export interface ConfigInputs {
  /** Absolute path of the working directory. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: ConfigFlags;
  /** How the caller has the sample instead of a service: said where no service or no token is named. */
  readonly sampleBy: string;
}

/** Minutes that a run has, unless told otherwise: what it staged is of use for an hour longer. */
const DEADLINE_MINUTES = 300;

const MIN_KEY_BYTES = 32;

/**
 * Reads the configuration completely, before any request: flags win over the environment, the environment over the
 * file. With `--sample` only a file that `--config` names is read, and no address and no token.
 *
 * @throws {WarehouseError} `config.invalid`, with one sentence for each setting that is wrong;
 * `config.missing_service` where no service or no token is named
 */
export async function loadConfig({ cwd, env, flags, sampleBy }: ConfigInputs): Promise<Config> {
  refuseUncheckedTls(env);
  const sample = flags.sample === true;
  const file = sample && flags.config === undefined ? null : await readConfigFile(cwd, flags.config);
  const spec = file === null ? {} : specOf(file);
  const aliases = spec.aliases ?? {};
  return {
    source: sample ? sampleSource(flags) : await serviceSource({ env, flags, sampleBy, file, spec }),
    destinations: (spec.destinations ?? []).map(({ name, platform = DEFAULT_PLATFORM }) => ({
      name,
      platform,
    })),
    customFields: spec.customFields ?? [],
    columns: spec.columns ?? columnsAtService(aliases),
    details: spec.details,
    perPage: spec.perPage ?? "auto",
    concurrency: spec.concurrency ?? 4,
    ratePerSecond: spec.ratePerSecond ?? null,
    deadlineMinutes: spec.deadlineMinutes === undefined ? DEADLINE_MINUTES : spec.deadlineMinutes,
    lookupMethod: spec.lookupMethod ?? "auto",
    raw: spec.raw ?? true,
    personalData: personalDataOf(spec.personalData ?? "drop", env),
    aliases,
    out: outOf(cwd, flags, file, spec),
    contract: flags.contract ?? spec.contract ?? "evolve",
    maxRejects: spec.maxRejects === undefined ? null : rejectLimitsOf(spec.maxRejects),
    keepRuns: spec.keepRuns ?? RUNS_KEPT,
    acceptShrink: flags.acceptShrink === true,
  };
}

function rejectLimitsOf(given: number | string): RejectLimits {
  if (typeof given === "number") return { items: given, share: 0 };
  return { items: 0, share: Number(given.slice(0, -1)) / 100 };
}

/** Published runs to keep, as the configuration file in `cwd` says, where there is one. Errors: `config.invalid`. */
export async function configuredKeepRuns(cwd: string): Promise<number> {
  const file = await readConfigFile(cwd, undefined);
  return (file === null ? undefined : specOf(file).keepRuns) ?? RUNS_KEPT;
}

type Spec = ReturnType<typeof specOf>;

function specOf(file: ConfigFile) {
  const result = readConfigSpec(file.value);
  if ("spec" in result) return result.spec;
  throw invalid(`${file.name}: ${result.problems.join(" ")}`);
}

function sampleSource(flags: ConfigFlags): Source {
  if (flags.url === undefined) return { kind: "sample" };
  throw invalid("--sample and --url name two services; leave one of them out.");
}

/** An empty path would be the working directory. */
function outOf(cwd: string, { out }: ConfigFlags, file: ConfigFile | null, spec: Spec): string {
  if (out === undefined) return resolve(file?.folder ?? cwd, spec.out ?? "warehouse");
  if (out.trim() !== "") return resolve(cwd, out);
  throw invalid("`out` is empty; give it the path of a folder, or leave it out.");
}

interface ServiceInputs extends Omit<ConfigInputs, "cwd"> {
  readonly file: ConfigFile | null;
  readonly spec: Spec;
}

async function serviceSource(inputs: ServiceInputs): Promise<Source> {
  return { kind: "service", url: urlOf(inputs), token: await tokenOf(inputs) };
}

function urlOf({ flags, env, sampleBy, file, spec }: ServiceInputs): ServiceUrl {
  const given: readonly (readonly [string, string | undefined])[] = [
    ["--url", flags.url],
    ["CONTENT_API_URL", nonEmpty(env.CONTENT_API_URL)],
    [`${file?.name}: \`url\``, spec.url],
  ];
  const [place, text] = given.find(([, value]) => value !== undefined) ?? [];
  if (place === undefined || text === undefined)
    throw missing(
      "No content service is named: give --url, set CONTENT_API_URL, or `url` in a configuration file",
      sampleBy,
    );
  const result = readServiceUrl(text);
  if ("url" in result) return result.url;
  throw invalid(`${place}: ${result.problem}.`);
}

async function tokenOf({ env, sampleBy, file, spec }: ServiceInputs): Promise<Secret> {
  const text = nonEmpty(env.CONTENT_API_TOKEN);
  if (text !== undefined) return checkedToken(new Secret(text.trim()), "CONTENT_API_TOKEN");
  if (file === null || spec.tokenFile === undefined) {
    throw missing(
      "There is no API token: set CONTENT_API_TOKEN, or `tokenFile` in a configuration file",
      sampleBy,
    );
  }
  const setting = `${file.name}: \`tokenFile\``;
  return checkedToken(await readTokenFile(resolve(file.folder, spec.tokenFile), setting), setting);
}

/** What Basic credentials can carry as a user name. The sentence says nothing of the token itself. */
function checkedToken(token: Secret, place: string): Secret {
  if (/^[^\s:\p{Cc}\p{Cs}]+$/u.test(token.reveal())) return token;
  throw invalid(
    `${place}: expected an API token, found something empty or with spaces, colons or control characters.`,
  );
}

function personalDataOf(given: NonNullable<Spec["personalData"]>, env: ConfigInputs["env"]): PersonalData {
  const policy = typeof given === "string" ? given : given.policy;
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

/** A variable that is set to nothing is not set: so are those that a scheduler lost. */
function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text;
}

/** Which key a hash was made with, as 16 hexadecimal digits that say nothing of the key. */
export function keyId(key: Secret): string {
  return createHash("sha256").update(`content-warehouse key id\0${key.reveal()}`).digest("hex").slice(0, 16);
}

/** What a run says of its treatment of personal data. */
export function treatmentOf({ policy, key }: PersonalData): {
  readonly policy: PersonalData["policy"];
  readonly keyId: string | null;
} {
  return { policy, keyId: key === null ? null : keyId(key) };
}

/**
 * SHA-256, hexadecimal, of what decides the data of a run, this program's version included; the manifest
 * names it. Where and how fast the service is asked, and with which token, is no part of it.
 */
export function configFingerprint(config: Config): string {
  const { source, personalData, aliases, destinations, customFields, columns, details, perPage, raw } =
    config;
  const decides = {
    version: VERSION,
    service: source.kind === "sample" ? "sample" : source.url.origin + source.url.prefix,
    personalData: Object.values(treatmentOf(personalData)),
    aliases: Object.entries(aliases).sort(),
    destinations: destinations.map(({ name, platform }) => [name, platform]),
    customFields,
    columns,
    details,
    perPage,
    raw,
  };
  return createHash("sha256").update(JSON.stringify(decides)).digest("hex");
}

function missing(sentence: string, sampleBy: string): WarehouseError {
  return new WarehouseError("config.missing_service", `${sentence}; ${sampleBy} needs neither.`);
}

function invalid(sentence: string): WarehouseError {
  return new WarehouseError("config.invalid", sentence);
}
