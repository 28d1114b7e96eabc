/**
 * Finds the URL of the service and its token: flags come first, then the environment, then the file. Chooses the proxy for
 * an address: the setting `proxy`, else `HTTPS_PROXY`, except for hosts in `NO_PROXY`.
 */
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { codeOf, invalidConfig, WarehouseError } from "../common/errors.ts";
import { printable } from "../common/printable.ts";
import { type HttpProxy, PROXY_ADDRESS, type ProxyFor, readProxy } from "../common/proxy.ts";
import { Secret } from "../common/secret.ts";
import { isLoopback, readServiceUrl, type ServiceUrl, type SettingNames } from "../extract/http/request.ts";
import { type ConfigFile, nonEmpty } from "./config-file.ts";
import type { Settings } from "./config-spec.ts";
import { noProxyRule, readVariable } from "./no-proxy.ts";

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
  const { env, flags, file, settings } = inputs;
  const places: readonly (readonly [place: string, text: string | undefined])[] = [
    ["--url", flags.url],
    ["CONTENT_API_URL", nonEmpty(env.CONTENT_API_URL)],
    [`${file?.name}: \`url\``, settings.url],
  ];
  const [place = "", text] = places.find(([, text]) => text !== undefined) ?? [];
  const missing = (what: string, wayOut: string) => {
    const sentence = `${what} is missing: ${wayOut}. ${inputs.sampleBy} needs no service.`;
    return new WarehouseError("config.missing_service", sentence);
  };
  if (text === undefined)
    throw missing(
      "The address of the service",
      'give --url, set CONTENT_API_URL and CONTENT_API_TOKEN, or write a configuration file with "content-warehouse init"',
    );
  const found = await readToken(inputs);
  if (found === null)
    throw missing("The API token", "set CONTENT_API_TOKEN, or `tokenFile` in a configuration file");
  const { token, tokenFrom, setting } = found;
  // It must be able to be the user name of Basic credentials. The message does not show it.
  if (!/^[^\s:\p{Cc}\p{Cs}]+$/u.test(token.reveal()))
    throw invalidConfig(
      `${setting}: expected an API token, found something empty or with spaces, colons or control characters.`,
    );
  const { url, proxy } = routeTo(place, text, inputs.proxyFor);
  const secrets = [token, ...(proxy?.secrets ?? [])];
  return {
    kind: "service",
    url,
    proxy,
    token,
    tokenFrom,
    settingNames: { url: place, token: setting },
    secrets,
  };
}

function routeTo(place: string, text: string, proxyFor: ProxyFor): Pick<ServiceSource, "url" | "proxy"> {
  const result = readServiceUrl(text);
  if ("problem" in result) throw invalidConfig(`${place}: ${result.problem}.`);
  const { url } = result;
  const proxy = proxyFor(new URL(url.origin));
  if (proxy === null || url.origin.startsWith("https:")) return { url, proxy };
  throw invalidConfig(
    `${place}: a proxy (${proxy.namedIn}) could read the token in requests to an http:// address; add ${url.host} to NO_PROXY, or give an https:// address.`,
  );
}

/** The token, where it is, and the variable or setting that says so; `null` if nothing does. */
async function readToken({ env, flags, file, settings }: ServiceInputs) {
  const variable = "CONTENT_API_TOKEN";
  const text = nonEmpty(env[variable]);
  if (text !== undefined) return { token: new Secret(text.trim()), tokenFrom: variable, setting: variable };
  const isFlag = flags.tokenFile !== undefined;
  const named = flags.tokenFile ?? settings.tokenFile;
  if (named === undefined) return null;
  const tokenFrom = isFlag || file === null ? named : resolve(file.folder, named);
  const setting = isFlag ? "--token-file" : `${file?.name}: \`tokenFile\``;
  return { token: await readTokenFile(tokenFrom, setting), tokenFrom, setting };
}

/**
 * Reads the token from a file that only its owner can read, without white space around it. Checks the mode of the open
 * file, so that nobody can exchange it in between. Throws `config.invalid`.
 */
async function readTokenFile(path: string, setting: string): Promise<Secret> {
  try {
    await using file = await open(path, "r");
    const { mode } = await file.stat();
    if ((mode & 0o077) !== 0) {
      const found = (mode & 0o777).toString(8).padStart(4, "0");
      throw invalidConfig(
        `${setting}: expected a file that only its owner can read, found ${printable(path)} with mode ${found}; run chmod 600 on it.`,
      );
    }
    return new Secret((await file.readFile("utf8")).trim());
  } catch (error) {
    if (error instanceof WarehouseError) throw error;
    const why =
      codeOf(error) === "ENOENT"
        ? `there is no file ${printable(path)}; put the API token into it, with mode 0600`
        : `the file ${printable(path)} cannot be read (${codeOf(error) ?? "unknown reason"})`;
    throw invalidConfig(`${setting}: ${why}.`, error);
  }
}

/**
 * Returns the function that chooses. `settingIn` names the setting in messages. `HTTPS_PROXY` does not apply to plain http
 * or this machine. Throws `config.invalid` for a malformed `HTTPS_PROXY`, once it is needed.
 */
export function proxyResolver({
  env,
  setting,
  settingIn,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly setting: string | undefined;
  readonly settingIn: string;
}): ProxyFor {
  const isExcepted = noProxyRule(env);
  const variable = readVariable(env, "HTTPS_PROXY");
  return (url) => {
    if (isExcepted(url)) return null;
    if (setting !== undefined) return parseProxy(setting, settingIn);
    return variable === undefined || url.protocol === "http:" || isLoopback(url.hostname)
      ? null
      : parseProxy(variable.text, variable.name);
  };
}

function parseProxy(text: string, namedIn: string): HttpProxy {
  const proxy = readProxy(text, namedIn);
  if (proxy === null) throw invalidConfig(`${namedIn}: expected ${PROXY_ADDRESS}, found something else.`);
  return proxy;
}
