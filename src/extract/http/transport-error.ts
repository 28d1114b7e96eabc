import { asWarehouseError, codeOf, type ErrorCode, type WarehouseError } from "../../common/errors.ts";
import type { NamedIn } from "./service-url.ts";
import { SourceError } from "./source-error.ts";

/** How a failure on the way to the service is told. */
interface Failure {
  readonly code: ErrorCode;
  /** The sentence, with the host in it, and where that is said. */
  say(host: string, namedIn: NamedIn): string;
  readonly attemptsAtMost?: number;
}

const unknownHost: Failure = {
  code: "source.unreachable",
  say: (host, { url }) => `No host is known by the name ${host}; check the URL of the service (${url}).`,
  attemptsAtMost: 2,
};
const noLookup: Failure = {
  code: "source.unreachable",
  say: (host) => `The name ${host} cannot be looked up just now; check the network of this machine.`,
};
const refused: Failure = {
  code: "source.unreachable",
  say: (host, { url }) =>
    `Nothing answers at ${host}; check the URL (${url}), and whether the service is up.`,
};
const noWay: Failure = {
  code: "source.unreachable",
  say: (host) => `There is no way to ${host} from here; check the network of this machine.`,
};
const closed: Failure = {
  code: "source.unreachable",
  say: (host) => `${host} closed the connection before its answer was complete; run again later.`,
};
const noConnection: Failure = {
  code: "source.timeout",
  say: (host) => `${host} took no connection in time; check the URL and the network, or run again later.`,
};
const slow: Failure = {
  code: "source.timeout",
  say: (host) => `${host} took too long to answer; run again later, or set a smaller \`perPage\`.`,
};
const cut: Failure = {
  code: "source.damaged",
  say: (host) => `${host} sent an answer that is shorter or longer than announced; run again later.`,
};
const garbled: Failure = {
  code: "source.protocol",
  say: (host) => `${host} does not answer in proper HTTP; check that the URL names the content service.`,
};
const longHeaders: Failure = {
  code: "source.protocol",
  say: (host) => `${host} sent more than 16 KB of headers; look for a proxy or cookies in between.`,
};

const FAILURES: Readonly<Record<string, Failure>> = {
  ENOTFOUND: unknownHost,
  EAI_AGAIN: noLookup,
  ECONNREFUSED: refused,
  EHOSTUNREACH: noWay,
  ENETUNREACH: noWay,
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  ETIMEDOUT: noConnection,
  UND_ERR_CONNECT_TIMEOUT: noConnection,
  UND_ERR_HEADERS_TIMEOUT: slow,
  UND_ERR_BODY_TIMEOUT: slow,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: cut,
  HPE_INVALID_EOF_STATE: cut,
  UND_ERR_HEADERS_OVERFLOW: longHeaders,
  HPE_HEADER_OVERFLOW: longHeaders,
};

/** Certificates that do not fit, and peers that speak no TLS or none that is still safe. */
const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH|EPROTO)/;

/**
 * What went wrong between here and the service, as an error that says what to do. What is not known to be the
 * network's or the service's doing is `internal`: an unknown failure is never repeated.
 *
 * @param redact applied to the message of the cause, which may quote what the service sent
 */
export function transportError(
  thrown: unknown,
  { host, namedIn }: { readonly host: string; readonly namedIn: NamedIn },
  redact: (text: string) => string,
): WarehouseError {
  const code = nameOf(thrown);
  const cause = redactedCause(thrown, code, redact);
  const failure = failureOf(code);
  if (failure === undefined) return asWarehouseError(cause);
  return new SourceError(failure.code, failure.say(host, namedIn), {
    cause,
    attemptsAtMost: failure.attemptsAtMost,
  });
}

function failureOf(code: string): Failure | undefined {
  if (TLS.test(code)) return { code: "source.tls", say: (host) => notTrusted(host, code) };
  return FAILURES[code] ?? (code.startsWith("HPE_") ? garbled : undefined);
}

function notTrusted(host: string, code: string): string {
  return `${host} cannot be trusted (${code}): its certificate or TLS version is not in order; check the URL, or name your own authority in NODE_EXTRA_CA_CERTS.`;
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
