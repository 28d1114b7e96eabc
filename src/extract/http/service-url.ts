import { printable } from "../../common/printable.ts";

/** The version of the read interface is part of every path. */
export const API_PREFIX = "/api/v1";

/** Where the service is: the only host that is ever spoken to. */
export interface ServiceUrl {
  /** `https://content.example.com`, `http://127.0.0.1:8080` */
  readonly origin: string;
  /** Host with its port, for people. */
  readonly host: string;
  /** Path in front of the interface's own, without a slash at its end: `` or `/tenants/a`. */
  readonly prefix: string;
}

/** Where address and token are said, for people: an option, a variable, or a setting of a file. */
export interface NamedIn {
  readonly url: string;
  readonly token: string;
}

/** What is expected where an address is asked for. */
export const SERVICE_ADDRESS = "an address such as https://content.example.com";

/**
 * Reads the address of a service: https, or http on a loopback host; a path in front is allowed. What may carry a
 * credential (`user:password@`, a query, a fragment) is refused before anything parses, and so could print, the text.
 */
export function readServiceUrl(text: string): { readonly url: ServiceUrl } | { readonly problem: string } {
  if (text.includes("@")) {
    return {
      problem: `expected ${SERVICE_ADDRESS}, found one with "@" in it: credentials go into CONTENT_API_TOKEN`,
    };
  }
  if (/[?#]/.test(text))
    return { problem: `expected ${SERVICE_ADDRESS}, found one with a query or fragment` };
  const trimmed = text.trim();
  const url = /^https?:\/\//i.test(trimmed) ? URL.parse(trimmed) : null;
  if (url === null) return { problem: `expected ${SERVICE_ADDRESS}, found "${printable(text)}"` };
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return { problem: `expected https (http is for this machine only), found "${printable(text)}"` };
  }
  const path = url.pathname.replace(/\/+$/, "");
  // A person may paste the whole path of the interface.
  const prefix = path.endsWith(API_PREFIX) ? path.slice(0, -API_PREFIX.length) : path;
  return { url: { origin: url.origin, host: url.host, prefix } };
}

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
