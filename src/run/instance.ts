/** Whether a run reads the instance whose content the warehouse has. */
import type { Config } from "../config/config.ts";
import { probeService } from "../extract/probe.ts";
import type { InstanceIdentity } from "../pipeline.ts";
import { assertSameInstance, type Baseline, type Comparison } from "../warehouse/baseline.ts";
import { type Asking, type OpenSource, openClient, originOf } from "./source.ts";

/** How a run compares the instance that it reads with that of the run before. */
export function comparisonOf({ acceptNewAddress }: Config): Comparison {
  return acceptNewAddress ? "moved" : "run";
}

/**
 * What targets are told of the instance before the service is asked: that of the run before, else the address alone.
 * Null where a new address is to be accepted: what a target has is then another's until the service has answered.
 */
export function knownInstance(baseline: Baseline, config: Config): InstanceIdentity | null {
  if (baseline.kind === "run") return baseline.manifest.instance;
  return config.acceptNewAddress ? null : { id: null, origin: originOf(config) };
}

/** Before anything is opened, by the address alone. Throws `config.other_instance`. */
export function assertKnownAddress(baseline: Baseline, config: Config, root: string): void {
  if (config.acceptNewAddress) return;
  assertSameInstance(baseline, { id: null, origin: originOf(config) }, root);
}

interface Moved extends Asking {
  readonly baseline: Baseline;
  readonly source: OpenSource;
  readonly root: string;
  readonly signal: AbortSignal;
}

/** Where a new address is to be accepted, one request shows the instance behind it. Throws `config.other_instance`. */
export async function assertMovedInstance({
  baseline,
  source,
  root,
  signal,
  ...asking
}: Moved): Promise<void> {
  const { config } = asking;
  const origin = originOf(config);
  if (!config.acceptNewAddress || baseline.kind !== "run") return;
  if (baseline.manifest.instance.origin === origin) return;
  const client = openClient(source, asking);
  try {
    const { instanceId } = await probeService(client, config.aliases, signal);
    assertSameInstance(baseline, { id: instanceId, origin }, root, "moved");
  } finally {
    await client.close();
  }
}
