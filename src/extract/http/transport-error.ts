/** Failures of the network between this machine and the service. */
import { asWarehouseError, codeOf, type ErrorCode, WarehouseError } from "../../common/errors.ts";
import { type HttpProxy, reachedBy } from "../../common/proxy.ts";
import type { SettingNames } from "./request.ts";
import { MAX_ATTEMPTS, SourceError } from "./source-error.ts";

/** Failures by the codes of Node and undici. */
const FAILURES: readonly {
  readonly codes: RegExp;
  readonly code: ErrorCode;
  /** Rest of the sentence after the host. `{url}`: the setting with its URL. `{what}`: service or proxy. */
  readonly says: string;
  readonly attemptsAtMost?: number;
  /** Failures of the first connection concern the proxy, if there is one. */
  readonly isOfProxy?: true;
}[] = [
  {
    codes: /^ENOTFOUND$/,
    code: "source.unreachable",
    says: "does not resolve to an address; check the URL of the {what} ({url}).",
    attemptsAtMost: 2,
    isOfProxy: true,
  },
  {
    codes: /^ECONNREFUSED$/,
    code: "source.unreachable",
    says: "refuses connections; check the URL ({url}), and whether the {what} is up.",
    isOfProxy: true,
  },
  {
    codes: /^(EAI_AGAIN|E(HOST|NET)UNREACH)$/,
    code: "source.unreachable",
    says: "cannot be reached from this machine; check its network.",
    isOfProxy: true,
  },
  {
    codes: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_PRX_CONN)$/,
    code: "source.unreachable",
    says: "closed the connection before its answer was complete; run again later.",
  },
  {
    codes: /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    code: "source.timeout",
    says: "did not accept a connection in time; check the URL and the network, or run again later.",
  },
  {
    codes: /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/,
    code: "source.timeout",
    says: "took too long to answer; run again later, or set a smaller `perPage`.",
  },
  {
    codes: /^(UND_ERR_RES_CONTENT_LENGTH_MISMATCH|HPE_INVALID_EOF_STATE)$/,
    code: "source.damaged",
    says: "sent an answer that is shorter or longer than announced; run again later.",
    attemptsAtMost: MAX_ATTEMPTS,
  },
  {
    codes: /^(UND_ERR_HEADERS_OVERFLOW$|HPE_)/,
    code: "source.protocol",
    says: "sent an answer that is not valid HTTP, or more than 16 KB of headers; check that the URL names the content service.",
  },
  {
    codes: /^ERR_SSL_WRONG_VERSION_NUMBER$/,
    code: "source.tls",
    says: "does not speak TLS ({code}); check the port of the URL, or write http:// for a service on this machine.",
  },
  {
    codes:
      /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH|EPROTO)/,
    code: "source.tls",
    says: "is not trusted ({code}): its certificate or TLS version is not accepted; check the URL, or add your certificate authority with NODE_EXTRA_CA_CERTS.",
  },
];

interface ServiceRoute {
  readonly host: string;
  readonly settingNames: SettingNames;
  readonly proxy: HttpProxy | null;
}

/**
 * A failure of the network as an error that says what to do. A failure that is not known to be the network's or the
 * service's is `internal`, and is never retried.
 *
 * @param redact applied to the message of the cause, which may quote the service
 */
export function transportError(
  thrown: unknown,
  route: ServiceRoute,
  redact: (text: string) => string,
): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const code = transportCode(thrown);
  // A parser's error carries the bytes that it failed at: only its message is kept.
  const message = redact(thrown instanceof Error ? thrown.message : String(thrown));
  const cause = Object.assign(new Error(message), { code });
  const { host, settingNames, proxy } = route;
  const tunnel = tunnelError(message, cause, route);
  if (tunnel !== undefined) return tunnel;
  const failure = FAILURES.find(({ codes }) => codes.test(code));
  if (failure === undefined) return asWarehouseError(cause);
  const [who, what, url] =
    proxy !== null && failure.isOfProxy
      ? [`The proxy ${proxy.host}`, "proxy", proxy.namedIn]
      : [reachedBy(host, proxy), "service", settingNames.url];
  const says = failure.says.replace("{what}", what).replace("{url}", url).replace("{code}", code);
  return new SourceError(failure.code, `${who} ${says}`, { cause, attemptsAtMost: failure.attemptsAtMost });
}

/** A proxy that answered, and opened no tunnel. undici tells so in the message alone. */
function tunnelError(
  message: string,
  cause: Error,
  { host, settingNames, proxy }: ServiceRoute,
): SourceError | undefined {
  const status = Number(/^Proxy response \((\d{3})\)/.exec(message)?.[1]);
  if (proxy === null || Number.isNaN(status)) return undefined;
  const it = `The proxy ${proxy.host}`;
  // Some proxies answer wrong credentials with 401.
  if (status === 407 || status === 401) {
    const wayOut = `set both in ${proxy.namedIn}, as in http://user:password@proxy.example.com:3128`;
    const sentence = `${it} requires another user name and password (${status}); ${wayOut}.`;
    return new SourceError("source.proxy", sentence, { cause });
  }
  if (status >= 500) {
    const check = `check the URL (${settingNames.url}), and whether the proxy knows the name and is up`;
    return new SourceError("source.unreachable", `${it} cannot reach ${host} (${status}); ${check}.`, {
      cause,
    });
  }
  const wayOut = "ask for the host to be allowed there, or name it in NO_PROXY";
  const sentence = `${it} refuses to connect to ${host} (${status}); ${wayOut}.`;
  return new SourceError("source.proxy", sentence, { cause });
}

function transportCode(thrown: unknown): string {
  const code = codeOf(thrown);
  if (code !== undefined) return code;
  return thrown instanceof Error && thrown.name === "HTTPParserError" ? "HPE_INVALID" : "";
}
