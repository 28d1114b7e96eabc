/** Opens the store at an address. */
import { fileURLToPath } from "node:url";
import { WarehouseError } from "../../common/errors.ts";
import type { ProxyFor } from "../../common/proxy.ts";
import { openFileStore } from "./file-store.ts";
import { openS3Store, type S3Settings } from "./s3-store.ts";
import type { Store } from "./store.ts";

export interface StoreSettings extends S3Settings {
  /** `s3://bucket/prefix` or `file:///folder`. */
  readonly url: string;
}

/** A store's address, or a clause that says what is wrong with it. */
type StoreAddress =
  | { readonly kind: "file"; readonly folder: string }
  | {
      readonly kind: "s3";
      readonly bucket: string;
      /** Empty, or ends with a slash. */
      readonly prefix: string;
    }
  | { readonly problem: string };

const EXPECTED = "expected s3://bucket/prefix or file:///folder";
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Characters that need no encoding in paths and URLs of any engine that reads the lake. */
const SEGMENT = /^(?!\.\.?$)[A-Za-z0-9._=-]+$/;

/** Opens a store without any request: a missing bucket fails the first one. Throws `config.invalid`. */
export async function openStore(
  settings: StoreSettings,
  signal: AbortSignal,
  proxyFor: ProxyFor = () => null,
): Promise<Store> {
  const address = parseStoreAddress(settings.url);
  const faults = storeFaults(settings);
  if ("problem" in address || faults.length > 0) throw new WarehouseError("config.invalid", faults.join(" "));
  return address.kind === "file"
    ? openFileStore(address.folder, signal)
    : await openS3Store(address, { ...settings, proxyFor }, signal);
}

/** Parses an address. The problem does not repeat it, because it may hold a password. */
export function parseStoreAddress(url: string): StoreAddress {
  const parsed = URL.parse(url);
  if (parsed === null) return { problem: EXPECTED };
  if (parsed.username !== "" || parsed.password !== "" || /^\w+:\/\/[^/]*@/.test(url)) {
    return {
      problem: `${EXPECTED}, without credentials; these come from the environment or the files of the AWS tools`,
    };
  }
  if (/[?#]/.test(url)) return { problem: `${EXPECTED}, without "?" and "#"` };
  if (parsed.protocol === "file:") return parseFileAddress(parsed);
  return parsed.protocol === "s3:" ? parseS3Address(url) : { problem: EXPECTED };
}

function parseFileAddress(url: URL): StoreAddress {
  if (url.hostname !== "") return { problem: `${EXPECTED}; a folder's address has three slashes` };
  try {
    return { kind: "file", folder: fileURLToPath(url) };
  } catch {
    return { problem: `${EXPECTED}; the path is not encoded as a URL's` };
  }
}

function parseS3Address(url: string): StoreAddress {
  const [bucket = "", ...segments] = url.slice("s3://".length).replace(/\/$/, "").split("/");
  if (!BUCKET.test(bucket)) {
    return { problem: `${EXPECTED}; a bucket's name has lower-case letters, digits, "." and "-"` };
  }
  if (!segments.every((segment) => SEGMENT.test(segment))) {
    return { problem: `${EXPECTED}; a prefix has letters, digits, ".", "_", "=", "-", and slashes between` };
  }
  return { kind: "s3", bucket, prefix: segments.map((segment) => `${segment}/`).join("") };
}

/** A sentence for each fault of the settings. */
export function storeFaults({ url, endpoint, pathStyle, region }: StoreSettings): readonly string[] {
  const address = parseStoreAddress(url);
  if ("problem" in address) return [`url: ${address.problem}.`];
  if (address.kind === "file")
    return Object.entries({ endpoint, pathStyle, region })
      .filter(([, value]) => value !== undefined)
      .map(([name]) => `${name}: a folder (file:///) has none; leave it out.`);
  if (endpoint === undefined) return [];
  const example = "such as https://minio.example.com:9000";
  const parsed = URL.parse(endpoint);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    return [`endpoint: expected an address ${example}.`];
  const isPlain = parsed.username + parsed.password + parsed.search + parsed.hash === "";
  return isPlain ? [] : [`endpoint: expected an address without credentials, "?" and "#", ${example}.`];
}
