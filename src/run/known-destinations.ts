/** Destinations that a configuration names and the service does not have: what may be meant. */
import type { DestinationName } from "../api/destination.ts";
import { WarehouseError } from "../common/errors.ts";
import { hint, listed } from "../common/nearest.ts";
import { DEFAULT_PLATFORM } from "../extract/content-client.ts";
import type { HttpClient } from "../extract/http/client.ts";
import type { createLookups, DestinationLookup } from "../extract/lookups.ts";
import { probeDestinationNames } from "../extract/probe.ts";

/** So many are looked up at most, one request each. */
const MAX_LOOKUPS = 20;

interface KnownDestinations {
  /** That items name, on whatever platform they are. */
  readonly names: readonly string[];
  readonly found: readonly DestinationName[];
}

interface AskedDestinations {
  readonly aliases: Readonly<Record<string, string>>;
  readonly lookups: Pick<ReturnType<typeof createLookups>, "destinations">;
  /** Those that were looked up, and those of them that the service does not have. */
  readonly wanted: readonly DestinationName[];
  readonly unmatched: readonly DestinationName[];
  /** That are configured: their names and platforms are known too. */
  readonly configured: readonly DestinationName[];
}

/** How long the search for hints may take. */
const SEARCH_MS = 15_000;

/**
 * Looks up what is missing, configured or named by items on each platform that is known of. It only serves hints: if the
 * service refuses the search or takes too long, nothing is known.
 */
export async function knownDestinations(
  client: Pick<HttpClient, "readAs">,
  asked: AskedDestinations,
  signal: AbortSignal,
): Promise<KnownDestinations> {
  const late = AbortSignal.timeout(SEARCH_MS);
  try {
    return await searchDestinations(client, asked, AbortSignal.any([signal, late]));
  } catch (thrown) {
    signal.throwIfAborted();
    if (!late.aborted && !(thrown instanceof WarehouseError)) throw thrown;
    return { names: [], found: [] };
  }
}

async function searchDestinations(
  client: Pick<HttpClient, "readAs">,
  { aliases, lookups, wanted, unmatched, configured }: AskedDestinations,
  signal: AbortSignal,
): Promise<KnownDestinations> {
  const names = await probeDestinationNames(client, aliases, signal);
  const given = [...unmatched, ...wanted, ...configured];
  const platforms = new Set([DEFAULT_PLATFORM, ...given.map(({ platform }) => platform)]);
  const others = [...new Set([...given.map(({ name }) => name), ...names])]
    .flatMap((name) => [...platforms].map((platform) => ({ name, platform })))
    .filter((one) => !isAmong(one, wanted))
    .slice(0, MAX_LOOKUPS);
  const looked = await lookups.destinations(others, signal);
  const missing = [...unmatched, ...looked.unmatched];
  return { names, found: [...wanted, ...others].filter((one) => !isAmong(one, missing)) };
}

function isAmong({ name, platform }: DestinationName, destinations: readonly DestinationName[]): boolean {
  return destinations.some((each) => each.name === name && each.platform === platform);
}

/** A sentence for each destination that the service does not have. */
export function missingDestinations(
  { unmatched, destinations, others }: DestinationLookup,
  { names, found }: KnownDestinations,
): string[] {
  const answered = [...destinations, ...others].map(({ identification, id, platform }) =>
    labelOf({ name: identification ?? id, platform: platform ?? DEFAULT_PLATFORM }),
  );
  const unplaced = names.filter((name) => !found.some((one) => one.name === name));
  const labels = [...found.map(labelOf), ...unplaced, ...answered];
  return unmatched.map((one) => {
    const { name, platform } = one;
    const there = found.filter((each) => each.name === name).map((each) => JSON.stringify(each.platform));
    const no = `There is no destination ${JSON.stringify(name)} on platform ${JSON.stringify(platform)}`;
    if (there.length > 0) return `${no}, but on ${listed(there, "and")}.`;
    if (names.includes(name)) return `${no}, but items name it: it is on another platform.`;
    return `${no}${hint(labelOf(one), labels)}.`;
  });
}

/** As it is given: `Web CMS`, or `Print Archive:Archive`. */
function labelOf({ name, platform }: DestinationName): string {
  return platform === DEFAULT_PLATFORM ? name : `${name}:${platform}`;
}
