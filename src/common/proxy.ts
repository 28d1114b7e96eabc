import { Secret } from "./secret.ts";

/** A proxy that opens tunnels (CONNECT) to https addresses: what goes through them it cannot read. */
export interface HttpProxy {
  /** `http://proxy.example.com:3128`: without user name and password. */
  readonly origin: string;
  /** Host with its port, for people. */
  readonly host: string;
  /** `user:password`; null: it asks for none. */
  readonly credentials: Secret | null;
  /** Where it is said, for people. */
  readonly namedIn: string;
}

/** What undici's `ProxyAgent` is made with. The credentials go to the proxy alone. */
export function proxyOptions({ origin, credentials }: HttpProxy): {
  readonly uri: string;
  readonly token?: string;
} {
  if (credentials === null) return { uri: origin };
  return { uri: origin, token: `Basic ${Buffer.from(credentials.reveal()).toString("base64")}` };
}

/** A host as it is reached, for people. */
export function reachedBy(host: string, proxy: HttpProxy | null): string {
  return proxy === null ? host : `${host} over the proxy ${proxy.host}`;
}

export const PROXY_ADDRESS = "an address such as http://proxy.example.com:3128";

/** The proxy at an address; null: it is none. What was found is shown nowhere: it may hold a password. */
export function readProxy(text: string, namedIn: string): HttpProxy | null {
  const url = URL.parse(text.trim());
  if (url === null || url.protocol !== "http:" || url.hostname === "") return null;
  const { origin, host, username, password } = url;
  try {
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return { origin, host, credentials: user === ":" ? null : new Secret(user), namedIn };
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
