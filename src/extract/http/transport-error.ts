import { asWarehouseError, codeOf, type ErrorCode, WarehouseError } from "../../common/errors.ts";
import type { NamedIn } from "./service-url.ts";
import { SourceError } from "./source-error.ts";

interface Failure {
  readonly code: ErrorCode;
  /** The sentence, with the host in it, and where that is said. */
  readonly say: (host: string, namedIn: NamedIn) => string;
  readonly attemptsAtMost?: number;
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
    say: (host, { url }) => `No host is known by the name ${host}; check the URL of the service (${url}).`,
    attemptsAtMost: 2,
  },
  {
    of: ["EAI_AGAIN"],
    code: "source.unreachable",
    say: (host) => `The name ${host} cannot be looked up just now; check the network of this machine.`,
  },
  {
    of: ["ECONNREFUSED"],
    code: "source.unreachable",
    say: (host, { url }) =>
      `Nothing answers at ${host}; check the URL (${url}), and whether the service is up.`,
  },
  {
    of: ["EHOSTUNREACH", "ENETUNREACH"],
    code: "source.unreachable",
    say: (host) => `There is no way to ${host} from here; check the network of this machine.`,
  },
  {
    of: ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"],
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
  if (thrown instanceof WarehouseError) return thrown;
  const name = nameOf(thrown);
  const cause = redactedCause(thrown, name, redact);
  const failure = failureOf(name);
  if (failure === undefined) return asWarehouseError(cause);
  const { code, say, attemptsAtMost } = failure;
  return new SourceError(code, say(host, namedIn), { cause, attemptsAtMost });
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
