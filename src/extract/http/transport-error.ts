import { asWarehouseError, codeOf, type ErrorCode, WarehouseError } from "../../common/errors.ts";
import { type HttpProxy, reachedBy } from "../../common/proxy.ts";
import type { NamedIn } from "./service-url.ts";
import { MAX_ATTEMPTS, SourceError } from "./source-error.ts";

/** What did not answer: the service, or the proxy before it. */
interface Peer {
  readonly what: "service" | "proxy";
  /** Where its address is said. */
  readonly url: string;
}

interface Failure {
  readonly code: ErrorCode;
  /** The sentence, with the host in it, and where that is said. */
  readonly say: (host: string, at: Peer) => string;
  readonly attemptsAtMost?: number;
  /** Of the first connection: where there is a proxy, that to the proxy. */
  readonly isFirst?: true;
}

const GARBLED: Failure = {
  code: "source.protocol",
  say: (host) => `${host} does not answer in proper HTTP; check that the URL names the content service.`,
};

/** By the codes of Node and undici. */
const FAILURES: readonly (Failure & { readonly of: readonly string[] })[] = [
  {
    of: ["ENOTFOUND"],
    code: "source.unreachable",
    say: (host, { what, url }) =>
      `No host is known by the name ${host}; check the URL of the ${what} (${url}).`,
    attemptsAtMost: 2,
    isFirst: true,
  },
  {
    of: ["EAI_AGAIN"],
    code: "source.unreachable",
    say: (host) => `The name ${host} cannot be looked up just now; check the network of this machine.`,
    isFirst: true,
  },
  {
    of: ["ECONNREFUSED"],
    code: "source.unreachable",
    say: (host, { what, url }) =>
      `Nothing answers at ${host}; check the URL (${url}), and whether the ${what} is up.`,
    isFirst: true,
  },
  {
    of: ["EHOSTUNREACH", "ENETUNREACH"],
    code: "source.unreachable",
    say: (host) => `There is no way to ${host} from here; check the network of this machine.`,
    isFirst: true,
  },
  {
    of: ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_PRX_CONN"],
    code: "source.unreachable",
    say: (host) => `${host} closed the connection before its answer was complete; run again later.`,
  },
  {
    of: ["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT"],
    code: "source.timeout",
    say: (host) => `${host} took no connection in time; check the URL and the network, or run again later.`,
  },
  {
    of: ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"],
    code: "source.timeout",
    say: (host) => `${host} took too long to answer; run again later, or set a smaller \`perPage\`.`,
  },
  {
    of: ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "HPE_INVALID_EOF_STATE"],
    code: "source.damaged",
    say: (host) => `${host} sent an answer that is shorter or longer than announced; run again later.`,
    attemptsAtMost: MAX_ATTEMPTS,
  },
  {
    of: ["UND_ERR_HEADERS_OVERFLOW", "HPE_HEADER_OVERFLOW"],
    code: "source.protocol",
    say: (host) => `${host} sent more than 16 KB of headers; look for a proxy or cookies in between.`,
  },
];

/** Certificates that do not fit, and peers that speak no TLS or none that is still safe. */
const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH|EPROTO)/;

/** How the service is reached. */
interface Way {
  readonly host: string;
  readonly namedIn: NamedIn;
  readonly proxy: HttpProxy | null;
}

/**
 * What went wrong between here and the service, as an error that says what to do. What is not known to be the
 * network's or the service's doing is `internal`: an unknown failure is never repeated.
 *
 * @param redact applied to the message of the cause, which may quote what the service sent
 */
export function transportError(thrown: unknown, way: Way, redact: (text: string) => string): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const name = nameOf(thrown);
  const cause = redactedCause(thrown, name, redact);
  const { host, namedIn, proxy } = way;
  const failure = tunnelFailure(cause, way) ?? failureOf(name);
  if (failure === undefined) return asWarehouseError(cause);
  const { code, say, attemptsAtMost, isFirst } = failure;
  const sentence =
    proxy !== null && isFirst
      ? say(`the proxy ${proxy.host}`, { what: "proxy", url: proxy.namedIn })
      : say(reachedBy(host, proxy), { what: "service", url: namedIn.url });
  return new SourceError(code, sentence, { cause, attemptsAtMost });
}

/** undici says it in words alone. */
const NO_TUNNEL = /^Proxy response \((\d{3})\)/;

/** A proxy that answered, and opened no tunnel. */
function tunnelFailure({ message }: Error, { host, namedIn, proxy }: Way): Failure | undefined {
  const status = Number(NO_TUNNEL.exec(message)?.[1]);
  if (proxy === null || Number.isNaN(status)) return undefined;
  const it = `The proxy ${proxy.host}`;
  // Some answer so to credentials that are wrong.
  if (status === 407 || status === 401) {
    const wayOut = `write both into ${proxy.namedIn}, as in http://user:password@proxy.example.com:3128`;
    const say = () =>
      `${it} does not know the user (${status}), or asks for a user name and a password; ${wayOut}.`;
    return { code: "source.proxy", say };
  }
  if (status >= 500) {
    const check = `check the URL (${namedIn.url}), and whether the proxy knows the name and is up`;
    return { code: "source.unreachable", say: () => `${it} does not reach ${host} (${status}); ${check}.` };
  }
  const wayOut = "have the host allowed there, or name it in NO_PROXY";
  return { code: "source.proxy", say: () => `${it} refuses the way to ${host} (${status}); ${wayOut}.` };
}

function failureOf(name: string): Failure | undefined {
  if (name === "ERR_SSL_WRONG_VERSION_NUMBER") {
    const say = (host: string) =>
      `${host} does not speak TLS (${name}); check the port of the URL, or write http:// where the service is on this machine.`;
    return { code: "source.tls", say };
  }
  if (TLS.test(name)) {
    const wayOut = "check the URL, or name your own authority in NODE_EXTRA_CA_CERTS";
    const say = (host: string) =>
      `${host} cannot be trusted (${name}): its certificate or TLS version is not in order; ${wayOut}.`;
    return { code: "source.tls", say };
  }
  return FAILURES.find(({ of }) => of.includes(name)) ?? (name.startsWith("HPE_") ? GARBLED : undefined);
}

function nameOf(thrown: unknown): string {
  const code = codeOf(thrown);
  if (code !== undefined) return code;
  return thrown instanceof Error && thrown.name === "HTTPParserError" ? "HPE_INVALID" : "";
}

/** The cause without what hangs on it: a parser's error carries the bytes that it stumbled over. */
function redactedCause(thrown: unknown, code: string, redact: (text: string) => string): Error {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return Object.assign(new Error(redact(message)), { code });
}
