/** Checks the names of configured destinations, and suggests the name that was meant. */
import { scalarText } from "../api/normalize.ts";
import { invalidConfig, WarehouseError } from "../common/errors.ts";
import { didYouMean } from "../common/nearest.ts";
import type { HttpClient } from "../extract/http/client.ts";
import type { DestinationLookup } from "../extract/lookups.ts";
import { probeDestinationNames } from "../extract/probe.ts";
import type { Baseline } from "../warehouse/baseline.ts";

const SEARCH_MS = 15_000;

/**
 * Names of destinations that items carry, for hints. Empty if the service refuses the search or needs more than 15
 * seconds.
 */
export async function destinationNames(
  client: Pick<HttpClient, "readAs">,
  aliases: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const late = AbortSignal.timeout(SEARCH_MS);
  try {
    return await probeDestinationNames(client, aliases, AbortSignal.any([signal, late]));
  } catch (thrown) {
    signal.throwIfAborted();
    if (!late.aborted && !(thrown instanceof WarehouseError)) throw thrown;
    return [];
  }
}

/**
 * Throws `config.invalid` for destinations that neither the service nor the run before has: their names are misspelled.
 * A destination that the run before has was removed or renamed, which does not end a run.
 */
export async function assertNoneMisspelled(
  { unmatched, destinations, others }: DestinationLookup,
  baseline: Baseline,
  namesOfItems: () => Promise<readonly string[]>,
): Promise<void> {
  const before = baseline.kind === "run" ? baseline.manifest.destinations : [];
  const misspelled = unmatched.filter(
    ({ name, platform }) => !before.some((each) => each.name === name && each.platform === platform),
  );
  if (misspelled.length === 0) return;
  const names = await namesOfItems();
  const known = [...destinations, ...others].map(
    ({ identification, id }) => scalarText(identification) ?? id,
  );
  const sentences = misspelled.map(({ name, platform }) => {
    const no = `There is no destination ${JSON.stringify(name)} on platform ${JSON.stringify(platform)}`;
    if (names.includes(name)) return `${no}, but items have that name, so it is on another platform.`;
    return `${no}${didYouMean(name, [...names, ...known])}.`;
  });
  throw invalidConfig(`${sentences.join(" ")} Correct \`destinations\` or --destination.`);
}
