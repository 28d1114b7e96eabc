/** Addresses of stores, as configurations have them. */
import { fileURLToPath } from "node:url";
import { WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";

/** Credentials are no option: they come from the platform's chain. */
export interface StoreSettings {
  /** `s3://bucket/prefix` or `file:///folder`. */
  readonly url: string;
  /** Of an S3-compatible store: `https://minio.example.com:9000`. Without it, Amazon's of the region. */
  readonly endpoint?: string | undefined;
  /** Whether the bucket is named in the path rather than in the host; where there is an `endpoint` it is, unless this says no. */
  readonly pathStyle?: boolean | undefined;
  readonly region?: string | undefined;
}

export type StoreAddress =
  | { readonly kind: "file"; readonly folder: string }
  | {
      readonly kind: "s3";
      readonly bucket: string;
      /** Empty, or ends with a slash. */
      readonly prefix: string;
    };

const EXPECTED = "expected s3://bucket/prefix or file:///folder";
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** What every engine that reads the lake takes as it is, in paths and in URLs. */
const SEGMENT = /^(?!\.\.?$)[A-Za-z0-9._=-]+$/;

/** The place that an address names, or what is wrong with it; it may hold a password, so it is not shown then. */
export function storeAddress(url: string): StoreAddress | { readonly problem: string } {
  const parsed = URL.parse(url);
  if (parsed === null) return { problem: EXPECTED };
  if (parsed.username !== "" || parsed.password !== "" || /^\w+:\/\/[^/]*@/.test(url)) {
    return {
      problem: `${EXPECTED}, without credentials; these come from the environment or the files of the AWS tools`,
    };
  }
  if (/[?#]/.test(url)) return { problem: `${EXPECTED}, without "?" and "#"` };
  if (parsed.protocol === "file:") return fileAddress(parsed);
  return parsed.protocol === "s3:" ? s3Address(url) : { problem: EXPECTED };
}

function fileAddress(url: URL): StoreAddress | { readonly problem: string } {
  if (url.hostname !== "") return { problem: `${EXPECTED}; a folder's address has three slashes` };
  try {
    return { kind: "file", folder: fileURLToPath(url) };
  } catch {
    return { problem: `${EXPECTED}; the path is not encoded as a URL's` };
  }
}

function s3Address(url: string): StoreAddress | { readonly problem: string } {
  const [bucket = "", ...segments] = url.slice("s3://".length).replace(/\/$/, "").split("/");
  if (!BUCKET.test(bucket)) {
    return { problem: `${EXPECTED}; a bucket's name has lower-case letters, digits, "." and "-"` };
  }
  if (!segments.every((segment) => SEGMENT.test(segment))) {
    return { problem: `${EXPECTED}; a prefix has letters, digits, ".", "_", "=", "-", and slashes between` };
  }
  return { kind: "s3", bucket, prefix: segments.map((segment) => `${segment}/`).join("") };
}

/** What is wrong with the options, a sentence each. */
export function storeFaults({ url, endpoint, pathStyle, region }: StoreSettings): readonly string[] {
  const address = storeAddress(url);
  if ("problem" in address) return [`url: ${address.problem}.`];
  if (address.kind === "s3") return endpoint === undefined ? [] : endpointFaults(endpoint);
  return Object.entries({ endpoint, pathStyle, region })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `${name}: a folder (file:///) has none; leave it out.`);
}

function endpointFaults(endpoint: string): readonly string[] {
  const example = "such as https://minio.example.com:9000";
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol)) return [`endpoint: expected an address ${example}.`];
  const isPlain = url.username + url.password + url.search + url.hash === "";
  return isPlain ? [] : [`endpoint: expected an address without credentials, "?" and "#", ${example}.`];
}

/**
 * Refuses a key that a folder could not hold, or that leads out of the store: logs that others wrote may name any.
 * Throws `target.refused`.
 */
export function checkKey(address: string, key: string): void {
  const isKey = !key.includes("\0") && key.split("/").every((segment) => !["", ".", ".."].includes(segment));
  if (isKey) return;
  throw new WarehouseError(
    "target.refused",
    `"${printable(key)}" is no key below ${address}; look for a path in a table's log that another program wrote.`,
  );
}
