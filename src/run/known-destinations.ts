/** Destinations that a configuration names and the service does not have: what may be meant. */
import { scalarText } from "../api/normalize.ts";
import { WarehouseError } from "../common/errors.ts";
import { didYouMean } from "../common/nearest.ts";
import type { HttpClient } from "../extract/http/client.ts";
import type { DestinationLookup } from "../extract/lookups.ts";
import { probeDestinationNames } from "../extract/probe.ts";
import type { Baseline } from "../warehouse/baseline.ts";

/** How long the search for names may take. */
const SEARCH_MS = 15_000;

/**
 * Names of destinations that items have. They only serve hints: if the service refuses the search or takes too long,
 * none is known.
 */
export async function knownDestinations(
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
 * Throws `config.invalid` for names that the service does not have and the run before did not ask for: they are misspelled.
 * A name that it asked for was right once: the destination was removed or renamed since, which is no reason to end a run.
 */
export async function assertNoneMisspelled(
  { unmatched, destinations, others }: DestinationLookup,
  baseline: Baseline,
  namesAtService: () => Promise<readonly string[]>,
): Promise<void> {
  const before = baseline.kind === "run" ? baseline.manifest.destinations : [];
  const misspelled = unmatched.filter(
    ({ name, platform }) => !before.some((each) => each.name === name && each.platform === platform),
  );
  if (misspelled.length === 0) return;
  const names = await namesAtService();
  const answered = [...destinations, ...others].map(
    ({ identification, id }) => scalarText(identification) ?? id,
  );
  const sentences = misspelled.map(({ name, platform }) => {
    const no = `There is no destination ${JSON.stringify(name)} on platform ${JSON.stringify(platform)}`;
    if (names.includes(name)) return `${no}, but items name it: it is on another platform.`;
    return `${no}${didYouMean(name, [...names, ...answered])}.`;
  });
  throw new WarehouseError(
    "config.invalid",
    `${sentences.join(" ")} Correct \`destinations\` or --destination.`,
  );
}
