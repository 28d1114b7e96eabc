/** Which service an instance name of the lake belongs to: put once, by the first delivery, until it is removed. */
import { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import type { InstanceIdentity } from "../../pipeline.ts";
import { sameInstance } from "../../warehouse/identity.ts";
import type { Store } from "../store/store.ts";
import { jsonBytes, readJson, registrationKey, type Since } from "./keys.ts";

const registration = z.object({ id: z.string().nullable(), origin: z.string() });

/** The service that the name belongs to; null: nobody's yet. Throws `target.refused` where it cannot be read. */
export function registeredService(store: Store, since: Since): Promise<InstanceIdentity | null> {
  return readJson(store, registrationKey(since), registration);
}

/** Gives the name to a service, or throws `target.refused` where another one has it. */
export async function register(store: Store, since: Since, service: InstanceIdentity): Promise<void> {
  const { id, origin } = service;
  if (await store.putNew(registrationKey(since), jsonBytes({ id, origin }))) return;
  assertSameService(store, since.instance, await registeredService(store, since), service);
}

/** By the ID, or by the address where one of them has none. Throws `target.refused`. */
export function assertSameService(
  { address }: Store,
  instance: string,
  registered: InstanceIdentity | null,
  service: InstanceIdentity,
): void {
  if (registered === null || sameInstance(registered, service)) return;
  throw new WarehouseError(
    "target.refused",
    `The instance ${instance} in ${address} is ${named(registered)}, and this one is ${named(service)}; ${wayOut(instance, service)}.`,
  );
}

/** Without an ID, it may be the same one at another address. */
function wayOut(instance: string, { id }: InstanceIdentity): string {
  const moved = id === null ? ", or run once with --accept-new-address if the service has moved" : "";
  return `give this one another instance name in the configuration${moved}, or, if that one is given up for good, take it out with "content-warehouse lake remove ${instance}"`;
}

function named({ id, origin }: InstanceIdentity): string {
  return id === null ? origin : `${origin} (instance ${id})`;
}
