/** Describes failures of a bucket. The store's own messages are not shown, because they may quote what was sent. */
import { codeOf, WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";

interface Failure {
  /** Names that the store, the SDK or the system gives the error, or the HTTP status. */
  readonly names: readonly string[];
  /** Whether another attempt may succeed. */
  readonly again?: true;
  readonly sentence: string;
}

const FAILURES: readonly Failure[] = [
  {
    names: ["NoSuchBucket"],
    sentence: "There is no bucket for {address}; create it, or correct `url` (and `endpoint`).",
  },
  {
    names: ["CredentialsProviderError", "TokenProviderError"],
    sentence:
      "There are no credentials for {address}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role.",
  },
  {
    names: [
      ...["InvalidAccessKeyId", "SignatureDoesNotMatch", "XAdminUserNotFound", "InvalidToken", "401"],
      ...["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"],
    ],
    sentence:
      "The store does not accept the credentials for {address}; check the key, its secret and `region`, and whether they have expired.",
  },
  {
    names: ["AccessDenied", "AllAccessDisabled", "403"],
    sentence:
      "The credentials do not allow to {does} {what} in {address}; docs/lake.md has the policy that they need.",
  },
  {
    names: [
      ...["PermanentRedirect", "IllegalLocationConstraintException", "AuthorizationHeaderMalformed"],
      ...["301", "307", "NoRegion"],
    ],
    sentence: "The bucket of {address} lies in another region; set `region` to that of the bucket.",
  },
  {
    names: [
      ...["QuotaExceeded", "XMinioAdminBucketQuotaExceeded", "XMinioStorageFull"],
      ...["InsufficientStorage", "507"],
    ],
    sentence: "{address} is full; make room, and try again.",
  },
  {
    names: ["RequestTimeTooSkewed"],
    sentence: "The clocks of this machine and of {address} differ too much; set this machine's clock.",
  },
  {
    names: ["ProxyRefusal"],
    sentence:
      "The connection to {endpoint} for {address} was refused by the proxy; check the user and password in its address, and whether it allows the host.",
  },
  {
    names: ["TLS"],
    sentence:
      "No secure connection to {endpoint} for {address}; check its certificate, and NODE_EXTRA_CA_CERTS for one of your own.",
  },
  {
    names: [
      ...["SlowDown", "429", "500", "502", "503", "504"],
      ...["ConditionalRequestConflict", "OperationAborted", "409"],
      ...["RequestTimeout", "IncompleteBody", "TimeoutError", "408", "BadDigest"],
      ...["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"],
    ],
    again: true,
    sentence: "{address} is busy, or the connection to it was lost repeatedly; try again later.",
  },
  {
    names: [
      ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"],
      "ERR_PROXY_TUNNEL",
    ],
    again: true,
    sentence:
      "Nothing answers at {endpoint} for {address}; check `endpoint`, `region` and the network, or try again later.",
  },
];

const UNKNOWN: Failure = {
  names: [],
  sentence:
    "{address} refused to {does} {what} ({error}); check that `endpoint` names an S3-compatible store, and what its documentation says of that.",
};

const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH|EPROTO)/;

/**
 * Gives `target.unavailable` if another attempt may succeed, else `target.refused`. `does`: read, write, list or remove;
 * `key`: of the object, or the prefix of a list; `endpoint`: address of the server or "Amazon S3", and the proxy.
 */
export function storeError(
  thrown: unknown,
  request: Readonly<Record<"address" | "endpoint" | "does" | "key", string>>,
): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const names = namesOf(thrown);
  const found = names.flatMap((name) => FAILURES.find((each) => each.names.includes(name)) ?? []);
  const { again, sentence } = found[0] ?? UNKNOWN;
  const status = statusOf(thrown);
  const name = printable(errorName(thrown), 60);
  const error = status === undefined ? name : `${name}, status ${status}`;
  const values: Readonly<Record<string, string>> = { ...request, what: request.key || "objects", error };
  const text = sentence.replace(/\{(\w+)\}/g, (_, value) => values[value] ?? "");
  // Only name and status of an answer are kept: the SDK keeps the request beside it, and stores quote signatures.
  const cause =
    status === undefined ? thrown : Object.assign(new Error(`status ${status}`), { name, status });
  return new WarehouseError(again ? "target.unavailable" : "target.refused", text, { cause });
}

export function errorName(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : "";
}

export function statusOf(thrown: unknown): number | undefined {
  const { $metadata } = (thrown ?? {}) as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

/** Names of an error, the most telling first. */
function namesOf(thrown: unknown): readonly string[] {
  const code = codeOf(thrown) ?? "";
  const message = thrown instanceof Error ? thrown.message : "";
  if (TLS.test(code)) return ["TLS"];
  if (code === "ERR_PROXY_TUNNEL" && /HTTP\/1\.\d 4\d\d/.test(message)) return ["ProxyRefusal"];
  if (message === "Region is missing") return ["NoRegion"];
  if (message.startsWith("Checksum mismatch")) return ["BadDigest"];
  if (message.startsWith("Could not load credentials")) return ["CredentialsProviderError"];
  return [errorName(thrown), code, String(statusOf(thrown))];
}
