/** Describes failures of a bucket. The store's own messages are not shown, because they may quote what was sent. */
import { codeOf, WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";

export interface StoreRequest {
  readonly does: "read" | "write" | "list" | "remove";
  /** Key of the object, or the prefix of a list. */
  readonly key: string;
}

/** What messages call a store. */
export interface StoreNames {
  readonly address: string;
  readonly bucket: string;
  /** Address of the server or "Amazon S3", and the proxy. */
  readonly endpoint: string;
}

const PERMISSIONS: Readonly<Record<StoreRequest["does"], string>> = {
  read: "s3:GetObject and s3:ListBucket",
  write: "s3:PutObject",
  list: "s3:ListBucket",
  remove: "s3:DeleteObject",
};

/** Sentences by the name that the store, the SDK or the system gives an error, or by the HTTP status. */
const REFUSED: Readonly<Record<string, string>> = {
  NoSuchBucket: 'There is no bucket "{bucket}" for {address}; create it, or correct `url` (and `endpoint`).',
  "CredentialsProviderError TokenProviderError":
    "There are no credentials for {address}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role.",
  "InvalidAccessKeyId SignatureDoesNotMatch XAdminUserNotFound InvalidToken 401":
    "The store does not accept the credentials for {address}; check the key, its secret and `region`.",
  "ExpiredToken ExpiredTokenException TokenRefreshRequired":
    "The credentials for {address} have expired; renew them, and try again.",
  "AccessDenied AllAccessDisabled 403":
    "The credentials do not allow to {does} {what} in {address}; allow {permissions} (docs/lake.md has the policy).",
  "PermanentRedirect IllegalLocationConstraintException AuthorizationHeaderMalformed 301 307":
    "The bucket of {address} lies in another region; set `region` to that of the bucket.",
  NoRegion: "No region is known for {address}; set `region`, or AWS_REGION.",
  "QuotaExceeded XMinioAdminBucketQuotaExceeded XMinioStorageFull InsufficientStorage 507":
    "{address} is full; make room, and try again.",
  ProxyRefusal:
    "The connection to {endpoint} for {address} was refused by the proxy; check the user and password in its address, and whether it allows the host.",
  TLS: "No secure connection to {endpoint} for {address}; check its certificate, and NODE_EXTRA_CA_CERTS for one of your own.",
  unknown:
    "{address} refused to {does} {what} ({error}); check that `endpoint` names an S3-compatible store, and what its documentation says of that.",
};

const UNAVAILABLE: Readonly<Record<string, string>> = {
  RequestTimeTooSkewed:
    "The clocks of this machine and of {address} differ too much; set this machine's clock.",
  "SlowDown 429 500 502 503 504": "{address} is busy or unavailable; try again later.",
  "ConditionalRequestConflict OperationAborted 409":
    "Somebody else is writing {key} in {address} at this moment; try again later.",
  "ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT":
    "Nothing answers at {endpoint} for {address}; check `endpoint`, `region` and the network, or try again later.",
  ERR_PROXY_TUNNEL:
    "{endpoint} is not reached for {address}; check `endpoint`, and whether the proxy knows it, or try again later.",
  "RequestTimeout IncompleteBody TimeoutError ECONNRESET EPIPE ERR_STREAM_PREMATURE_CLOSE 408":
    "The connection to {address} was lost repeatedly; try again later.",
  BadDigest: "{key} was damaged on the way to or from {address}; check the network, or try again later.",
};

const REFUSALS = byName(REFUSED);
const FAILURES = byName(UNAVAILABLE);

function byName(sentences: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const named = Object.entries(sentences).flatMap(([names, sentence]) =>
    names.split(" ").map((name) => [name, sentence] as const),
  );
  return new Map(named);
}

const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH|EPROTO)/;

/** Gives `target.unavailable` if another attempt may succeed, else `target.refused`. */
export function storeError(thrown: unknown, store: StoreNames, request: StoreRequest): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const name = knownName(thrown);
  const status = statusOf(thrown);
  const values: Readonly<Record<string, string>> = {
    ...store,
    ...request,
    what: request.key === "" ? "objects" : request.key,
    permissions: PERMISSIONS[request.does],
    error: `${printable(errorName(thrown), 60)}${status === undefined ? "" : `, status ${status}`}`,
  };
  const failure = FAILURES.get(name);
  const sentence = (failure ?? REFUSALS.get(name) ?? "").replace(
    /\{(\w+)\}/g,
    (_, value) => values[value] ?? "",
  );
  const code = failure === undefined ? "target.refused" : "target.unavailable";
  return new WarehouseError(code, sentence, { cause: causeOf(thrown) });
}

/** Keeps only name and status of an answer: the SDK keeps the request beside it, and stores quote signatures. */
function causeOf(thrown: unknown): unknown {
  const status = statusOf(thrown);
  if (status === undefined) return thrown;
  const name = printable(errorName(thrown), 60);
  return Object.assign(new Error(`status ${status}`), { name, status });
}

export function errorName(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : "";
}

export function statusOf(thrown: unknown): number | undefined {
  const { $metadata } = (thrown ?? {}) as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

/** The first name of an error that has a sentence. */
function knownName(thrown: unknown): string {
  const code = codeOf(thrown) ?? "";
  const message = thrown instanceof Error ? thrown.message : "";
  if (TLS.test(code)) return "TLS";
  if (code === "ERR_PROXY_TUNNEL" && /HTTP\/1\.\d 4\d\d/.test(message)) return "ProxyRefusal";
  if (message === "Region is missing") return "NoRegion";
  if (message.startsWith("Checksum mismatch")) return "BadDigest";
  if (message.startsWith("Could not load credentials")) return "CredentialsProviderError";
  const names = [errorName(thrown), code, String(statusOf(thrown))];
  return names.find((name) => REFUSALS.has(name) || FAILURES.has(name)) ?? "unknown";
}
