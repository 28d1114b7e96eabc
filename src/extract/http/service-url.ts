/** The URL of the service. */
import { printable } from "../../common/printable.ts";

/** Begins every path of the read interface; it names the version. */
export const API_PREFIX = "/api/v1";

/** The only origin that requests go to. */
export interface ServiceUrl {
  /** `https://content.example.com`, `http://127.0.0.1:8080` */
  readonly origin: string;
  /** Host with its port, for messages. */
  readonly host: string;
  /** Path in front of {@link API_PREFIX}, without a slash at its end: `` or `/tenants/a`. */
  readonly prefix: string;
}

/** The settings that hold the URL and the token, for messages: an option, a variable, or a setting of a file. */
export interface SettingNames {
  readonly url: string;
  readonly token: string;
}

/** For messages about a value that is no service URL. */
const SERVICE_ADDRESS = "an address such as https://content.example.com";

/**
 * Reads the URL of a service: https, or http on a loopback host, with or without a path. A text that may hold credentials
 * (`user:password@`, a query, a fragment) is refused before it is parsed, so that no message shows it.
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
  // The URL may include the path of the interface.
  const prefix = path.endsWith(API_PREFIX) ? path.slice(0, -API_PREFIX.length) : path;
  return { url: { origin: url.origin, host: url.host, prefix } };
}

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
