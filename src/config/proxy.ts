/** Chooses the proxy for an address: the setting `proxy`, else `HTTPS_PROXY`, except for hosts in `NO_PROXY`. */
import { invalidConfig } from "../common/errors.ts";
import { type HttpProxy, PROXY_ADDRESS, type ProxyFor, readProxy } from "../common/proxy.ts";
import { isLoopback } from "../extract/http/service-url.ts";

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
  const noProxy = readVariable(env, "NO_PROXY")?.text ?? "";
  const variable = readVariable(env, "HTTPS_PROXY");
  return (url) => {
    if (isExcepted(url, noProxy)) return null;
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

/** Reads a variable. As in other programs its lower-case name comes first, and a blank one counts as unset. */
function readVariable(
  env: Readonly<Record<string, string | undefined>>,
  upper: string,
): { readonly text: string; readonly name: string } | undefined {
  for (const name of [upper.toLowerCase(), upper]) {
    const text = env[name]?.trim() ?? "";
    if (text !== "") return { text, name };
  }
  return undefined;
}

/** Whether `NO_PROXY` lists an address: `*`, a host, or a domain with all its hosts; each may have a port. */
function isExcepted({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = bare(hostname);
  const ownPort = port || (protocol === "https:" ? "443" : "80");
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      const [, name = entry, onlyPort = ownPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
      const domain = bare(name).replace(/^\*?\./, "");
      return onlyPort === ownPort && (domain === "*" || host === domain || host.endsWith(`.${domain}`));
    });
}

/** Host name without the brackets of IPv6 and the final dot. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}
