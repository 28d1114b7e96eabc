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
    codes: /^(ECONNREFUSED|EAI_AGAIN|E(HOST|NET)UNREACH)$/,
    code: "source.unreachable",
    says: "cannot be reached ({code}); check the URL ({url}) and the network, and whether the {what} is up.",
    isOfProxy: true,
  },
  {
    codes: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_PRX_CONN)$/,
    code: "source.unreachable",
    says: "closed the connection before its answer was complete; run again later.",
  },
  {
    codes: /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/,
    code: "source.timeout",
    says: "did not answer in time ({code}); check the URL, run again later, or set a smaller `perPage`.",
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
    codes: /^ERR_SSL_.*ALERT_(CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE)$/,
    code: "source.tls",
    says: "wants a client certificate, or ciphers that are not offered ({code}); ask its operator for access with the token alone, or set {url} to a forwarder on this machine that has the certificate.",
  },
  {
    codes: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    code: "source.tls",
    says: "has a certificate that has expired or is not valid yet ({code}); check this machine's clock, or ask its operator to renew the certificate.",
  },
  {
    codes: /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    code: "source.tls",
    says: "has a certificate for another host ({code}); check the host name in the URL ({url}).",
  },
  {
    codes: /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_UNTRUSTED$|INVALID_CA$)/,
    code: "source.tls",
    says: "has a certificate of an authority that is unknown here ({code}); check the URL ({url}), or add the authority with NODE_EXTRA_CA_CERTS.",
  },
  {
    codes: /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|EPROTO)/,
    code: "source.tls",
    says: "is not trusted ({code}): its certificate or TLS version is not accepted; check the URL ({url}), or ask its operator.",
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
  const isParsers = thrown instanceof Error && thrown.name === "HTTPParserError";
  const code = codeOf(thrown) ?? (isParsers ? "HPE_INVALID" : "");
  // A parser's error carries the bytes that it failed at: only its message is kept.
  const message = redact(thrown instanceof Error ? thrown.message : String(thrown));
  const cause = Object.assign(new Error(message), { code });
  const { host, settingNames, proxy } = route;
  const status = Number(/^Proxy response \((\d{3})\)/.exec(message)?.[1]);
  if (proxy !== null && status > 0) return tunnelError(status, { ...route, proxy }, cause);
  const failure = FAILURES.find(({ codes }) => codes.test(code));
  if (failure === undefined) return asWarehouseError(cause);
  const [who, what, url] =
    proxy !== null && failure.isOfProxy
      ? [`The proxy ${proxy.host}`, "proxy", proxy.namedIn]
      : [reachedBy(host, proxy), "service", settingNames.url];
  const says = failure.says.replace("{what}", what).replace("{url}", url).replace("{code}", code);
  return new SourceError(failure.code, `${who} ${says}`, { cause, attemptsAtMost: failure.attemptsAtMost });
}

/** A proxy that answered with a status, and opened no tunnel. undici tells so in the message alone. */
function tunnelError(
  status: number,
  { host, settingNames, proxy }: ServiceRoute & { readonly proxy: HttpProxy },
  cause: Error,
): SourceError {
  // Some proxies answer wrong credentials with 401.
  const isLogin = status === 407 || status === 401;
  const code = status >= 500 ? "source.unreachable" : "source.proxy";
  const says = isLogin
    ? `requires another user name and password (${status}); set both in ${proxy.namedIn}, as in http://user:password@proxy.example.com:3128`
    : status >= 500
      ? `cannot reach ${host} (${status}); check the URL (${settingNames.url}), and whether the proxy knows the name and is up`
      : `refuses to connect to ${host} (${status}); ask for the host to be allowed there, or name it in NO_PROXY`;
  return new SourceError(code, `The proxy ${proxy.host} ${says}.`, { cause });
}
