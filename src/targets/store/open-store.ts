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

/** Folders of a prefix have only characters that need no encoding in paths and URLs of any engine that reads the lake. */
const S3_ADDRESS =
  /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._=-]+)*)\/?$/;

/** Opens a store without any request: a missing bucket fails the first one. Throws `config.invalid`. */
export async function openStore(
  settings: StoreSettings,
  signal: AbortSignal,
  proxyFor: ProxyFor = () => null,
): Promise<Store> {
  const address = parseStoreAddress(settings.url);
  const faults = storeFaults(settings);
  if (address === null || faults.length > 0) throw new WarehouseError("config.invalid", faults.join(" "));
  return "folder" in address
    ? openFileStore(address.folder, signal)
    : await openS3Store(address, { ...settings, proxyFor }, signal);
}

/** Parses an address; `null` if it is none. `prefix`: empty, or ends with a slash. */
export function parseStoreAddress(
  url: string,
): { readonly folder: string } | { readonly bucket: string; readonly prefix: string } | null {
  const [, bucket, folders = ""] = S3_ADDRESS.exec(url) ?? [];
  if (bucket !== undefined) return { bucket, prefix: folders === "" ? "" : `${folders.slice(1)}/` };
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "file:" || parsed.hostname !== "" || /[?#]/.test(url)) return null;
  try {
    return { folder: fileURLToPath(parsed) };
  } catch {
    return null;
  }
}

/** A sentence for each fault of the settings. It does not repeat an address, which may hold a password. */
export function storeFaults({ url, endpoint, pathStyle, region }: StoreSettings): readonly string[] {
  const address = parseStoreAddress(url);
  if (address === null)
    return [
      'url: expected file:///folder, or s3://bucket/prefix with letters, digits, ".", "_", "=" and "-"; credentials come from the environment or the files of the AWS tools.',
    ];
  if ("folder" in address)
    return Object.entries({ endpoint, pathStyle, region })
      .filter(([, value]) => value !== undefined)
      .map(([name]) => `${name}: a folder (file:///) has none; leave it out.`);
  if (endpoint === undefined) return [];
  const { protocol, username, password, search, hash } = URL.parse(endpoint) ?? {};
  return /^https?:$/.test(protocol ?? "") && `${username}${password}${search}${hash}` === ""
    ? []
    : ["endpoint: expected an address such as https://minio.example.com:9000, without credentials."];
}
