/** The instance of a fleet that a command is about: it has its warehouse, configuration, service and pipeline there. */
import { type Fleet, type FleetInstance, findInstance, readFleet } from "../fleet/fleet.ts";

export interface ChosenInstance {
  readonly fleet: Fleet;
  readonly instance: FleetInstance;
}

/** Throws what {@link readFleet} and {@link findInstance} throw. */
export async function chosenInstance(cwd: string, file: string, name: string): Promise<ChosenInstance> {
  const fleet = await readFleet(cwd, file);
  const instance = findInstance(fleet, name);
  // A configuration that is a module may read it, and a lake without an instance takes it.
  process.env.CONTENT_WAREHOUSE_INSTANCE = name;
  return { fleet, instance };
}
