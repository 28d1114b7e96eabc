/** Finds the URL of the service and its token: flags come first, then the environment, then the file. */
import { resolve } from "node:path";
import { invalidConfig, WarehouseError } from "../common/errors.ts";
import type { HttpProxy, ProxyFor } from "../common/proxy.ts";
import { Secret } from "../common/secret.ts";
import { readServiceUrl, type ServiceUrl, type SettingNames } from "../extract/http/service-url.ts";
import { type ConfigFile, nonEmpty, readTokenFile } from "./config-file.ts";
import type { Settings } from "./config-spec.ts";

export interface ServiceSource {
  readonly kind: "service";
  readonly url: ServiceUrl;
  readonly token: Secret;
  /** For messages: the variable or the path of the file. */
  readonly tokenFrom: string;
  readonly settingNames: SettingNames;
  /** `null` if the service is reached directly. */
  readonly proxy: HttpProxy | null;
  /** Texts that no log may contain. */
  readonly secrets: readonly Secret[];
}

interface ServiceInputs {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: { readonly url?: string | undefined; readonly tokenFile?: string | undefined };
  /** How to use the sample instead, for messages. */
  readonly sampleBy: string;
  readonly file: ConfigFile | null;
  readonly settings: Settings;
  readonly proxyFor: ProxyFor;
}

/** Throws `config.invalid` or `config.missing_service`. */
export async function serviceSource(inputs: ServiceInputs): Promise<ServiceSource> {
  const address = addressOf(inputs);
  const tokenOrigin = tokenOriginOf(inputs);
  const { sampleBy, proxyFor } = inputs;
  if (address === null) {
    const wayOut =
      tokenOrigin === null
        ? 'give --url, set CONTENT_API_URL and CONTENT_API_TOKEN, or write a configuration file with "content-warehouse init"'
        : "give --url, set CONTENT_API_URL, or `url` in a configuration file";
    throw new WarehouseError(
      "config.missing_service",
      `The address of the service is missing: ${wayOut}. ${sampleBy} needs no service.`,
    );
  }
  if (tokenOrigin === null) {
    const wayOut = "set CONTENT_API_TOKEN, or `tokenFile` in a configuration file";
    throw new WarehouseError(
      "config.missing_service",
      `The API token is missing: ${wayOut}. ${sampleBy} needs none.`,
    );
  }
  const { url, proxy } = routeTo(address, proxyFor);
  const { token, tokenFrom, setting } = await readToken(tokenOrigin);
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

function addressOf({
  flags,
  env,
  file,
  settings,
}: ServiceInputs): { readonly place: string; readonly text: string } | null {
  const given: readonly (readonly [string, string | undefined])[] = [
    ["--url", flags.url],
    ["CONTENT_API_URL", nonEmpty(env.CONTENT_API_URL)],
    [`${file?.name}: \`url\``, settings.url],
  ];
  const found = given.flatMap(([place, text]) => (text === undefined ? [] : [{ place, text }]));
  return found[0] ?? null;
}

function routeTo(
  { place, text }: { readonly place: string; readonly text: string },
  proxyFor: ProxyFor,
): Pick<ServiceSource, "url" | "proxy"> {
  const result = readServiceUrl(text);
  if ("problem" in result) throw invalidConfig(`${place}: ${result.problem}.`);
  const { url } = result;
  const proxy = proxyFor(new URL(url.origin));
  if (proxy === null || url.origin.startsWith("https:")) return { url, proxy };
  throw invalidConfig(
    `${place}: a proxy (${proxy.namedIn}) could read the token in requests to an http:// address; add ${url.host} to NO_PROXY, or give an https:// address.`,
  );
}

/** Where the token comes from: the text of the variable, or a file and the setting that names it. */
type TokenOrigin = { readonly text: string } | { readonly file: string; readonly setting: string };

const TOKEN_VARIABLE = "CONTENT_API_TOKEN";

function tokenOriginOf({ env, flags, file, settings }: ServiceInputs): TokenOrigin | null {
  const text = nonEmpty(env[TOKEN_VARIABLE]);
  if (text !== undefined) return { text };
  if (flags.tokenFile !== undefined) return { file: flags.tokenFile, setting: "--token-file" };
  if (file === null || settings.tokenFile === undefined) return null;
  return { file: resolve(file.folder, settings.tokenFile), setting: `${file.name}: \`tokenFile\`` };
}

async function readToken(place: TokenOrigin): Promise<{ token: Secret; tokenFrom: string; setting: string }> {
  if ("text" in place)
    return {
      token: validToken(new Secret(place.text.trim()), TOKEN_VARIABLE),
      tokenFrom: TOKEN_VARIABLE,
      setting: TOKEN_VARIABLE,
    };
  const { file, setting } = place;
  return { token: validToken(await readTokenFile(file, setting), setting), tokenFrom: file, setting };
}

/** Throws `config.invalid` unless the token can be the user name of Basic credentials. The message does not show it. */
function validToken(token: Secret, place: string): Secret {
  if (/^[^\s:\p{Cc}\p{Cs}]+$/u.test(token.reveal())) return token;
  throw invalidConfig(
    `${place}: expected an API token, found something empty or with spaces, colons or control characters.`,
  );
}
