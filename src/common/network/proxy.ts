import { Secret } from "../secret.ts";

/** A proxy that opens tunnels (CONNECT) to https addresses: what goes through them it cannot read. */
export interface HttpProxy {
  /** `http://proxy.example.com:3128`, with the user name and password where there are some. */
  readonly url: Secret;
  /** Host with its port, for people. */
  readonly host: string;
  /** Those of the address, as `user:password`. */
  readonly secrets: readonly Secret[];
  /** Where it is said, for people. */
  readonly namedIn: string;
}

/** By which proxy an address is reached; null: directly. Throws `config.invalid`. */
export type ProxyFor = (url: URL) => HttpProxy | null;

/** A host as it is reached, for people. */
export function reachedBy(host: string, proxy: HttpProxy | null): string {
  return proxy === null ? host : `${host} over the proxy ${proxy.host}`;
}

export const PROXY_ADDRESS = "an address such as http://proxy.example.com:3128";

/** The proxy at an address; null: it is none. What was found is shown nowhere: it may hold a password. */
export function readProxy(text: string, namedIn: string): HttpProxy | null {
  const url = URL.parse(text.trim());
  if (url === null || url.protocol !== "http:" || url.hostname === "") return null;
  const { href, host, username, password } = url;
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") return null;
  try {
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return { url: new Secret(href), host, secrets: user === ":" ? [] : [new Secret(user)], namedIn };
  } catch {
    return null;
  }
}

/** Whether `NO_PROXY` names the address: `*`, a host or a domain with all that is in it, either with a port. */
export function isExcepted({ hostname, port, protocol }: URL, noProxy: string): boolean {
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

/** Without the brackets of an IPv6 address, and without the dot that may end a name. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}
