/** Which service an instance name of the lake belongs to: put once, by the first delivery. */
import { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import type { InstanceIdentity } from "../../pipeline.ts";
import { sameInstance } from "../../warehouse/identity.ts";
import type { Store } from "../store/store.ts";
import { jsonBytes, readJson, registrationKey } from "./keys.ts";

const registration = z.object({ id: z.string().nullable(), origin: z.string() });

/** The service that the name belongs to; null: nobody's yet. Throws `target.refused` where it cannot be read. */
export function registeredService(store: Store, instance: string): Promise<InstanceIdentity | null> {
  return readJson(store, registrationKey(instance), registration);
}

/** Gives the name to a service, or throws `target.refused` where another one has it. */
export async function register(store: Store, instance: string, service: InstanceIdentity): Promise<void> {
  const { id, origin } = service;
  if (await store.putNew(registrationKey(instance), jsonBytes({ id, origin }))) return;
  assertSameService(store, instance, await registeredService(store, instance), service);
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
    `The instance ${instance} in ${address} is ${named(registered)}, and this one is ${named(service)}; ${wayOut(service)}.`,
  );
}

/** Without an ID, it may be the same one at another address. */
function wayOut({ id }: InstanceIdentity): string {
  const rename = "give this one another instance name in the configuration";
  return id === null ? `${rename}, or run once with --accept-new-address if the service has moved` : rename;
}

function named({ id, origin }: InstanceIdentity): string {
  return id === null ? origin : `${origin} (instance ${id})`;
}
