import { resolve } from "node:path";
import type { HttpProxy, ProxyFor } from "../common/network/proxy.ts";
import { Secret } from "../common/secret.ts";
import { type NamedIn, readServiceUrl, type ServiceUrl } from "../extract/http/service-url.ts";
import { type ConfigFile, readTokenFile } from "./config-file.ts";
import type { Settings } from "./config-spec.ts";
import { type ConfigError, invalid, invalidToken, missing, throwFaults } from "./faults.ts";
import { nonEmpty } from "./places.ts";

/** Where the service is, and the token for it: flags win over the environment, the environment over the file. */

export interface ServiceSource {
  readonly kind: "service";
  readonly url: ServiceUrl;
  readonly token: Secret;
  /** For people: the variable, or the path of the file. */
  readonly tokenFrom: string;
  readonly namedIn: NamedIn;
  /** Null: the service is reached directly. */
  readonly proxy: HttpProxy | null;
  /** What no log may show. */
  readonly secrets: readonly Secret[];
}

export interface ServiceInputs {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: { readonly url?: string | undefined };
  /** How the caller has the sample instead of a service. */
  readonly sampleBy: string;
  readonly file: ConfigFile | null;
  readonly settings: Settings;
  readonly proxyFor: ProxyFor;
}

/** Throws a ConfigError with what is wrong with both. */
export async function serviceSource(inputs: ServiceInputs): Promise<ServiceSource> {
  const address = addressOf(inputs);
  const tokenPlace = tokenPlaceOf(inputs);
  if (address === null && tokenPlace === null) throw nothingNamed(inputs.sampleBy);
  const url = urlOf(address, inputs);
  const token = tokenOf(tokenPlace, inputs.sampleBy);
  await throwFaults([], [url, token]);
  const { place, ...named } = await url;
  const { setting, ...secret } = await token;
  const secrets = [secret.token, ...(named.proxy?.secrets ?? [])];
  return { kind: "service", ...named, ...secret, namedIn: { url: place, token: setting }, secrets };
}

/** An address, and where it is said. */
interface Address {
  readonly place: string;
  readonly text: string;
}

function addressOf({ flags, env, file, settings }: ServiceInputs): Address | null {
  const given: readonly (readonly [string, string | undefined])[] = [
    ["--url", flags.url],
    ["CONTENT_API_URL", nonEmpty(env.CONTENT_API_URL)],
    [`${file?.name}: \`url\``, settings.url],
  ];
  const found = given.flatMap(([place, text]) => (text === undefined ? [] : [{ place, text }]));
  return found[0] ?? null;
}

interface Reached extends Pick<ServiceSource, "url" | "proxy"> {
  readonly place: string;
}

async function urlOf(address: Address | null, inputs: ServiceInputs): Promise<Reached> {
  const { sampleBy, proxyFor } = inputs;
  if (address === null) {
    const wayOut = "give --url, set CONTENT_API_URL, or `url` in a configuration file";
    throw missing("settings", `No content service is named: ${wayOut}; ${sampleBy} needs neither.`);
  }
  const result = readServiceUrl(address.text);
  const { place } = address;
  if ("problem" in result) throw invalid(`${place}: ${result.problem}.`);
  const { url } = result;
  const proxy = proxyFor(new URL(url.origin));
  if (proxy === null || url.origin.startsWith("https:")) return { url, place, proxy };
  throw invalid(
    `${place}: an http:// address is not asked by a proxy (${proxy.namedIn}), which would read the token; name ${url.host} in NO_PROXY, or give an https:// address.`,
  );
}

/** Where a token is: the value of the variable, or a file, with the setting that names it. */
type TokenPlace = { readonly text: string } | { readonly file: string; readonly setting: string };

const VARIABLE = "CONTENT_API_TOKEN";

function tokenPlaceOf({ env, file, settings }: ServiceInputs): TokenPlace | null {
  const text = nonEmpty(env[VARIABLE]);
  if (text !== undefined) return { text };
  if (file === null || settings.tokenFile === undefined) return null;
  return { file: resolve(file.folder, settings.tokenFile), setting: `${file.name}: \`tokenFile\`` };
}

async function tokenOf(
  place: TokenPlace | null,
  sampleBy: string,
): Promise<{ token: Secret; tokenFrom: string; setting: string }> {
  if (place === null) {
    const wayOut = "set CONTENT_API_TOKEN, or `tokenFile` in a configuration file";
    throw missing("token", `There is no API token: ${wayOut}; ${sampleBy} needs neither.`);
  }
  if ("text" in place) {
    const token = checkedToken(new Secret(place.text.trim()), VARIABLE);
    return { token, tokenFrom: VARIABLE, setting: VARIABLE };
  }
  const token = checkedToken(await readTokenFile(place.file, place.setting), place.setting);
  return { token, tokenFrom: place.file, setting: place.setting };
}

function nothingNamed(sampleBy: string): ConfigError {
  const wayOut =
    'give --url, set CONTENT_API_URL and CONTENT_API_TOKEN, or write a configuration file with "content-warehouse init"';
  return missing("settings", `No content service is named: ${wayOut}; ${sampleBy} needs neither.`);
}

/** What Basic credentials can carry as a user name. The sentence says nothing of the token itself. */
export function checkedToken(token: Secret, place: string): Secret {
  if (/^[^\s:\p{Cc}\p{Cs}]+$/u.test(token.reveal())) return token;
  throw invalidToken(
    `${place}: expected an API token, found something empty or with spaces, colons or control characters.`,
  );
}
