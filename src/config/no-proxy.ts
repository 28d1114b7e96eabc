/** Reads `NO_PROXY`, the hosts to reach without a proxy. */
import { printable } from "../common/printable.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a variable. As in other programs its lower-case name comes first, and a blank one counts as unset. */
export function readVariable(
  env: Environment,
  upper: string,
): { readonly text: string; readonly name: string } | undefined {
  for (const name of [upper.toLowerCase(), upper]) {
    const text = env[name]?.trim() ?? "";
    if (text !== "") return { text, name };
  }
  return undefined;
}

/** Entries are `*`, a host, or a domain with all its hosts; each may have a port. `host`: `null` matches nothing. */
function noProxyEntries(env: Environment) {
  const texts = (readVariable(env, "NO_PROXY")?.text ?? "").split(/[\s,]+/).filter((text) => text !== "");
  return texts.map((text) => {
    const [, name = text, port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(text) ?? [];
    const domain = name.replace(/^\*?\./, "");
    return { text, host: domain === "*" ? domain : canonicalHost(domain), port };
  });
}

/** Host as a parsed URL has it: lower case, an IDN in ASCII, IPv6 in its short form; `null` for what is no host. */
function canonicalHost(name: string): string | null {
  const url = URL.parse(`http://${/^[^[]*:/.test(name) ? `[${name}]` : name}`);
  if (url?.href !== `http://${url?.hostname}/`) return null;
  const host = bare(url.hostname);
  // A parsed URL makes an IPv4 address of any number.
  const isMade = /^[\d.]+$/.test(host) && host !== bare(name);
  return !isMade && /^[\w.-]+$|^\[/.test(host) ? host : null;
}

/** Host name without a final dot. */
function bare(hostname: string): string {
  return hostname.replace(/\.$/, "");
}

/** Returns the function that says whether an address is to be reached without a proxy. */
export function noProxyRule(env: Environment): (url: URL) => boolean {
  const entries = noProxyEntries(env);
  return ({ hostname, port, protocol }) => {
    const host = bare(hostname);
    const ownPort = port || (protocol === "https:" ? "443" : "80");
    return entries.some(
      (entry) =>
        (entry.port ?? ownPort) === ownPort &&
        (entry.host === "*" || entry.host === host || (entry.host && host.endsWith(`.${entry.host}`))),
    );
  };
}

/** Warnings about entries that match nothing, such as ranges of addresses, which other programs take. */
export function noProxyWarnings(env: Environment): string[] {
  const useless = noProxyEntries(env).filter(({ host }) => host === null);
  const form = "list hosts and domains such as .example.com, separated by commas";
  return useless.map(({ text }) => `NO_PROXY: "${printable(text)}" matches no host; ${form}.`);
}
