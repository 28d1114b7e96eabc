/** What a store answers, or does not, as sentences. Of its own messages none is shown: they may quote what was sent. */
import { codeOf, type ErrorCode, WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";

/** What was asked of a store. */
export interface StoreRequest {
  readonly does: "read" | "write" | "list" | "remove";
  /** Of an object, or where keys of a list begin. */
  readonly key: string;
}

/** The store that was asked. */
export interface AskedStore {
  readonly address: string;
  readonly bucket: string;
  /** For messages: Amazon's where there is none. */
  readonly endpoint: string | undefined;
}

interface Failure {
  readonly code: Extract<ErrorCode, `target.${string}`>;
  readonly say: (store: AskedStore, request: StoreRequest) => string;
}

const PERMISSIONS: Readonly<Record<StoreRequest["does"], string>> = {
  read: "s3:GetObject and s3:ListBucket",
  write: "s3:PutObject",
  list: "s3:ListBucket",
  remove: "s3:DeleteObject",
};

const LATER = "try again later";

function refused(say: Failure["say"]): Failure {
  return { code: "target.refused", say };
}

function unavailable(say: Failure["say"]): Failure {
  return { code: "target.unavailable", say };
}

const noBucket = refused(
  ({ address, bucket }) =>
    `There is no bucket "${bucket}" for ${address}; create it, or correct \`url\` (and \`endpoint\`).`,
);
const noCredentials = refused(
  ({ address }) =>
    `There are no credentials for ${address}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role.`,
);
const wrongCredentials = refused(
  ({ address }) =>
    `The store does not accept the credentials for ${address}; check the key, its secret and \`region\`.`,
);
const expired = refused(
  ({ address }) => `The credentials for ${address} have expired; renew them, and try again.`,
);
const denied = refused(
  ({ address }, { does, key }) =>
    `The credentials do not allow to ${does} ${key === "" ? "objects" : key} in ${address}; allow ${PERMISSIONS[does]} (docs/lake.md has the policy).`,
);
const otherRegion = refused(
  ({ address }) => `The bucket of ${address} lies in another region; set \`region\` to that of the bucket.`,
);
const noRegion = refused(
  ({ address }) => `No region is known for ${address}; set \`region\`, or AWS_REGION.`,
);
const full = refused(({ address }) => `${address} is full; make room, and try again.`);
const badTls = refused(
  ({ address, endpoint }) =>
    `No safe connection to ${endpoint ?? "Amazon S3"} for ${address}; check its certificate, and NODE_EXTRA_CA_CERTS for one of your own.`,
);
const badClock = unavailable(
  ({ address }) => `The clocks of this machine and of ${address} differ too much; set this machine's clock.`,
);
const busy = unavailable(({ address }) => `${address} answers that it is busy or out of order; ${LATER}.`);
const contested = unavailable(
  ({ address }, { key }) => `Somebody else is writing ${key} in ${address} at this moment; ${LATER}.`,
);
const unreachable = unavailable(
  ({ address, endpoint }) =>
    `Nothing answers at ${endpoint ?? "Amazon S3"} for ${address}; check \`endpoint\`, \`region\` and the network, or ${LATER}.`,
);
const lost = unavailable(({ address }) => `The connection to ${address} was lost again and again; ${LATER}.`);
const damaged = unavailable(
  ({ address }, { key }) =>
    `${key} was damaged on the way to or from ${address}; check the network, or ${LATER}.`,
);

/** By the name of the error, which the store or the SDK gives. */
const BY_NAME: Readonly<Record<string, Failure>> = {
  NoSuchBucket: noBucket,
  CredentialsProviderError: noCredentials,
  TokenProviderError: noCredentials,
  AccessDenied: denied,
  AllAccessDisabled: denied,
  InvalidAccessKeyId: wrongCredentials,
  SignatureDoesNotMatch: wrongCredentials,
  XAdminUserNotFound: wrongCredentials,
  InvalidToken: wrongCredentials,
  ExpiredToken: expired,
  ExpiredTokenException: expired,
  TokenRefreshRequired: expired,
  PermanentRedirect: otherRegion,
  IllegalLocationConstraintException: otherRegion,
  AuthorizationHeaderMalformed: otherRegion,
  QuotaExceeded: full,
  XMinioAdminBucketQuotaExceeded: full,
  XMinioStorageFull: full,
  InsufficientStorage: full,
  RequestTimeTooSkewed: badClock,
  ConditionalRequestConflict: contested,
  OperationAborted: contested,
  SlowDown: busy,
  RequestTimeout: lost,
  BadDigest: damaged,
  IncompleteBody: lost,
  TimeoutError: lost,
  ECONNREFUSED: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  ECONNRESET: lost,
  EPIPE: lost,
  ERR_STREAM_PREMATURE_CLOSE: lost,
};

/** Where the name says nothing: answers without a body, and stores with names of their own. */
const BY_STATUS: Readonly<Record<number, Failure>> = {
  301: otherRegion,
  307: otherRegion,
  401: wrongCredentials,
  403: denied,
  408: lost,
  409: contested,
  429: busy,
  500: busy,
  502: busy,
  503: busy,
  504: busy,
  507: full,
};

const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH|EPROTO)/;

/** `code` is worth another attempt: `target.unavailable`. */
export function storeError(thrown: unknown, store: AskedStore, request: StoreRequest): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const failure = failureOf(thrown);
  const { code, say } = failure ?? unknownAnswer(thrown);
  return new WarehouseError(code, say(store, request), { cause: causeOf(thrown) });
}

/** Of an answer its name and status alone: the SDK keeps the request beside it, and stores quote what was signed. */
function causeOf(thrown: unknown): unknown {
  const status = statusOf(thrown);
  if (status === undefined) return thrown;
  const name = printable(errorName(thrown), 60);
  return Object.assign(new Error(`status ${status}`), { name, status });
}

/** What the store or the SDK calls an error. */
export function errorName(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : "";
}

export function statusOf(thrown: unknown): number | undefined {
  const { $metadata } = (thrown ?? {}) as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

function failureOf(thrown: unknown): Failure | undefined {
  const [name, code, status] = [errorName(thrown), codeOf(thrown) ?? "", statusOf(thrown)];
  const message = thrown instanceof Error ? thrown.message : "";
  if (TLS.test(code)) return badTls;
  if (message === "Region is missing") return noRegion;
  if (message.startsWith("Checksum mismatch")) return damaged;
  if (message.startsWith("Could not load credentials")) return noCredentials;
  return BY_NAME[name] ?? BY_NAME[code] ?? (status === undefined ? undefined : BY_STATUS[status]);
}

function unknownAnswer(thrown: unknown): Failure {
  const status = statusOf(thrown);
  const what = `${printable(errorName(thrown), 60)}${status === undefined ? "" : `, status ${status}`}`;
  return refused(
    ({ address }, { does, key }) =>
      `${address} refused to ${does} ${key === "" ? "objects" : key} (${what}); check that \`endpoint\` names an S3-compatible store, and what its documentation says of that.`,
  );
}
