import {
  type HttpProxy,
  isExcepted,
  PROXY_ADDRESS,
  type ProxyFor,
  readProxy,
} from "../common/network/proxy.ts";
import { isLoopback } from "../extract/http/service-url.ts";
import { invalid } from "./faults.ts";

/** By which proxy an address is reached: the setting `proxy`, else `HTTPS_PROXY`, unless `NO_PROXY` names the host. */

export interface ProxyInputs {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The setting. */
  readonly setting: string | undefined;
  /** Where the setting stands, for people. */
  readonly settingIn: string;
}

/** What is on this machine, and what speaks plain http, is reached by a proxy only where the setting names one. */
export function proxyResolver({ env, setting, settingIn }: ProxyInputs): ProxyFor {
  const noProxy = oneOf(env, "NO_PROXY")?.text ?? "";
  const named = oneOf(env, "HTTPS_PROXY");
  return (url) => {
    if (isExcepted(url, noProxy)) return null;
    if (setting !== undefined) return proxyAt({ text: setting, place: settingIn });
    return named === undefined || url.protocol === "http:" || isLoopback(url.hostname)
      ? null
      : proxyAt(named);
  };
}

function proxyAt({ text, place }: { readonly text: string; readonly place: string }): HttpProxy {
  const proxy = readProxy(text, place);
  if (proxy === null) throw invalid(`${place}: expected ${PROXY_ADDRESS}, found something else.`);
  return proxy;
}

/** As other programs read them, the variable in lower-case letters wins. One that is set to nothing is not set. */
function oneOf(env: ProxyInputs["env"], name: string): { text: string; place: string } | undefined {
  const names = [name.toLowerCase(), name];
  return names.flatMap((place) => {
    const text = env[place]?.trim() ?? "";
    return text === "" ? [] : [{ text, place }];
  })[0];
}
