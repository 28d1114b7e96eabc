/** Reads the address of an HTTP proxy. */
import { Secret } from "./secret.ts";

/** A proxy that opens tunnels (CONNECT) to https addresses and cannot read their traffic. */
export interface HttpProxy {
  /** `http://proxy.example.com:3128`, with user name and password if given. */
  readonly url: Secret;
  /** Host and port, for messages. */
  readonly host: string;
  /** Credentials of the address, as `user:password`. */
  readonly secrets: readonly Secret[];
  /** The setting or variable that names it, for messages. */
  readonly namedIn: string;
}

/** Returns the proxy for an address; `null` means none. Throws `config.invalid`. */
export type ProxyFor = (url: URL) => HttpProxy | null;

/** Names a host with its proxy, for messages. */
export function reachedBy(host: string, proxy: HttpProxy | null): string {
  return proxy === null ? host : `${host} through the proxy ${proxy.host}`;
}

export const PROXY_ADDRESS = "an address such as http://proxy.example.com:3128";

/** Parses an address; `null` if it is not one of a proxy. Never show the text: it may hold a password. */
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
