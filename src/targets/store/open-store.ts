import { WarehouseError } from "../../common/errors.ts";
import type { ProxyFor } from "../../common/proxy.ts";
import { type StoreSettings, storeAddress, storeFaults } from "./address.ts";
import { openFileStore } from "./file-store.ts";
import { openS3Store } from "./s3-store.ts";
import type { Store } from "./store.ts";

/** Asks nothing yet: a bucket that is not there is told by the first request. Throws `config.invalid`. */
export async function openStore(
  options: StoreSettings,
  signal: AbortSignal,
  proxyFor: ProxyFor = () => null,
): Promise<Store> {
  const address = storeAddress(options.url);
  const faults = storeFaults(options);
  if ("problem" in address || faults.length > 0) throw new WarehouseError("config.invalid", faults.join(" "));
  return address.kind === "file"
    ? openFileStore(address.folder, signal)
    : await openS3Store(address, { ...options, proxyFor }, signal);
}
