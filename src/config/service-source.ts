import { resolve } from "node:path";
import type { HttpProxy, ProxyFor } from "../common/network/proxy.ts";
import { Secret } from "../common/secret.ts";
import { readServiceUrl, type ServiceUrl, type SettingNames } from "../extract/http/service-url.ts";
import { type ConfigFile, readTokenFile } from "./config-file.ts";
import type { Settings } from "./config-spec.ts";
import { invalid, missing } from "./faults.ts";
import { nonEmpty } from "./locations.ts";

/** Where the service is, and the token for it: flags win over the environment, the environment over the file. */

export interface ServiceSource {
  readonly kind: "service";
  readonly url: ServiceUrl;
  readonly token: Secret;
  /** For people: the variable, or the path of the file. */
  readonly tokenFrom: string;
  readonly settingNames: SettingNames;
  /** Null: the service is reached directly. */
  readonly proxy: HttpProxy | null;
  /** What no log may show. */
  readonly secrets: readonly Secret[];
}

interface ServiceInputs {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: { readonly url?: string | undefined; readonly tokenFile?: string | undefined };
  /** How the caller has the sample instead of a service. */
  readonly sampleBy: string;
  readonly file: ConfigFile | null;
  readonly settings: Settings;
  readonly proxyFor: ProxyFor;
}

/** Throws `config.invalid` or `config.missing_service`. */
export async function serviceSource(inputs: ServiceInputs): Promise<ServiceSource> {
  const address = addressOf(inputs);
  const tokenPlace = tokenPlaceOf(inputs);
  const { sampleBy, proxyFor } = inputs;
  if (address === null) {
    const wayOut =
      tokenPlace === null
        ? 'give --url, set CONTENT_API_URL and CONTENT_API_TOKEN, or write a configuration file with "content-warehouse init"'
        : "give --url, set CONTENT_API_URL, or `url` in a configuration file";
    throw missing(`No content service is named: ${wayOut}; ${sampleBy} needs neither.`);
  }
  if (tokenPlace === null) {
    const wayOut = "set CONTENT_API_TOKEN, or `tokenFile` in a configuration file";
    throw missing(`There is no API token: ${wayOut}; ${sampleBy} needs neither.`);
  }
  const { url, proxy } = reached(address, proxyFor);
  const { token, tokenFrom, setting } = await tokenIn(tokenPlace);
  const secrets = [token, ...(proxy?.secrets ?? [])];
  return {
    kind: "service",
    url,
    proxy,
    token,
    tokenFrom,
    settingNames: { url: address.place, token: setting },
    secrets,
  };
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

function reached({ place, text }: Address, proxyFor: ProxyFor): Pick<ServiceSource, "url" | "proxy"> {
  const result = readServiceUrl(text);
  if ("problem" in result) throw invalid(`${place}: ${result.problem}.`);
  const { url } = result;
  const proxy = proxyFor(new URL(url.origin));
  if (proxy === null || url.origin.startsWith("https:")) return { url, proxy };
  throw invalid(
    `${place}: an http:// address is not asked by a proxy (${proxy.namedIn}), which would read the token; name ${url.host} in NO_PROXY, or give an https:// address.`,
  );
}

/** Where a token is: the value of the variable, or a file, with the setting that names it. */
type TokenPlace = { readonly text: string } | { readonly file: string; readonly setting: string };

const VARIABLE = "CONTENT_API_TOKEN";

function tokenPlaceOf({ env, flags, file, settings }: ServiceInputs): TokenPlace | null {
  const text = nonEmpty(env[VARIABLE]);
  if (text !== undefined) return { text };
  if (flags.tokenFile !== undefined) return { file: flags.tokenFile, setting: "--token-file" };
  if (file === null || settings.tokenFile === undefined) return null;
  return { file: resolve(file.folder, settings.tokenFile), setting: `${file.name}: \`tokenFile\`` };
}

async function tokenIn(place: TokenPlace): Promise<{ token: Secret; tokenFrom: string; setting: string }> {
  if ("text" in place)
    return {
      token: checkedToken(new Secret(place.text.trim()), VARIABLE),
      tokenFrom: VARIABLE,
      setting: VARIABLE,
    };
  const { file, setting } = place;
  return { token: checkedToken(await readTokenFile(file, setting), setting), tokenFrom: file, setting };
}

/** What Basic credentials can carry as a user name. The sentence says nothing of the token itself. */
function checkedToken(token: Secret, place: string): Secret {
  if (/^[^\s:\p{Cc}\p{Cs}]+$/u.test(token.reveal())) return token;
  throw invalid(
    `${place}: expected an API token, found something empty or with spaces, colons or control characters.`,
  );
}
