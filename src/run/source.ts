/** The service that a run reads, at an address or embedded, and whether it is the instance that the warehouse has. */

import type { DestinationName } from "../api/destination.ts";
import type { Clock } from "../common/clock.ts";
import type { Log } from "../common/log.ts";
import { type HttpProxy, reachedBy } from "../common/network/proxy.ts";
import { packagePath } from "../common/package-root.ts";
import { Secret } from "../common/secret.ts";
import type { Config } from "../config/config.ts";
import { CAPS, createHttpClient, type HttpClient, type OnAttempt, TIMEOUTS } from "../extract/http/client.ts";
import { Outage } from "../extract/http/outage.ts";
import { createRetry, RETRY_LIMITS, type RetryLimits } from "../extract/http/retry.ts";
import { type NamedIn, readServiceUrl, type ServiceUrl } from "../extract/http/service-url.ts";
import { Throttle } from "../extract/http/throttle.ts";
import type { InstanceIdentity } from "../pipeline.ts";
import { createService } from "../service/service.ts";
import { assertSameInstance, type Baseline, type Comparison, instanceOf } from "../warehouse/baseline.ts";

export interface OpenSource extends AsyncDisposable {
  readonly url: ServiceUrl;
  readonly token: Secret;
  readonly namedIn: NamedIn;
  readonly proxy: HttpProxy | null;
  /** What no log may show. */
  readonly secrets: readonly Secret[];
  readonly destinations: readonly DestinationName[];
}

/** Opens what the configuration names. The sample has its own destinations, unless the configuration names some. */
export async function openSource(config: Config): Promise<OpenSource> {
  const { source, destinations } = config;
  if (source.kind === "service") {
    const { url, token, namedIn, proxy, secrets } = source;
    return { url, token, namedIn, proxy, secrets, destinations, [Symbol.asyncDispose]: async () => {} };
  }
  const service = await createService({ data: packagePath("data/sample"), port: 0 });
  const { contentSet } = service;
  const [token = ""] = contentSet.tokens.keys();
  const url = readServiceUrl(service.url);
  if (!("url" in url)) throw new TypeError(url.problem);
  const own = contentSet.destinations.map(({ identification, platform }) => ({
    name: identification,
    platform,
  }));
  return {
    url: url.url,
    token: new Secret(token),
    namedIn: { url: "--sample", token: "--sample" },
    proxy: null,
    secrets: [],
    destinations: destinations.length > 0 ? destinations : own,
    [Symbol.asyncDispose]: async () => service.close(),
  };
}

/** Holds all requests of a run to `ratePerSecond`, and to what the service allows. `startPerSecond`: what is known of that. */
export function openThrottle({ ratePerSecond }: Config, startPerSecond: number | null): Throttle {
  return new Throttle({ maxPerSecond: ratePerSecond, startPerSecond, random: Math.random });
}

interface Known {
  /** So long a service that is out is waited for. */
  readonly minutes: number;
  /** Whether an earlier run had answers from the address. */
  readonly isKnown: boolean;
}

export function openOutage(
  { url, namedIn, proxy }: OpenSource,
  { clock, log }: Omit<Asking, "config">,
  known: Known,
): Outage {
  return new Outage({ host: reachedBy(url.host, proxy), namedIn, ...known, clock, random: Math.random, log });
}

/**
 * What a client has unless it is told otherwise: a throttle of its own, the usual limits, no patience with a service that
 * is out, and nobody to tell.
 */
interface ClientParts {
  readonly throttle?: Throttle;
  readonly outage?: Outage;
  readonly limits?: RetryLimits;
  readonly onAttempt?: OnAttempt;
}

/** Requests to an open source, as the throttle paces them, made again as the retry policy says; `onAttempt` is told. */
export function openClient(
  source: OpenSource,
  { config, clock, log }: Asking,
  parts: ClientParts = {},
): HttpClient {
  const { throttle = openThrottle(config, null), limits = RETRY_LIMITS, onAttempt = () => {} } = parts;
  const { outage = openOutage(source, { clock, log }, { minutes: 0, isKnown: false }) } = parts;
  const { deadlineMinutes } = config;
  const deadline =
    deadlineMinutes === null
      ? null
      : { atMs: clock.elapsedMs() + deadlineMinutes * 60_000, minutes: deadlineMinutes };
  const connections = config.concurrency;
  const policy = { clock, random: Math.random, limits, deadline, log };
  return createHttpClient({
    url: source.url,
    token: source.token,
    namedIn: source.namedIn,
    proxy: source.proxy,
    connections,
    timeouts: TIMEOUTS,
    caps: CAPS,
    clock,
    log,
    retry: createRetry({ connections, throttle, outage, ...policy }),
    lookup: null,
    onAttempt,
  });
}

/** For a person who waits: what fails is told at once, and a service that asks for fewer requests gets a minute. */
export function openHastyClient(source: OpenSource, { config, clock, log }: Asking): HttpClient {
  const hasty = { ...config, deadlineMinutes: 1 };
  const limits = { ...RETRY_LIMITS, retriesAtMost: 0 };
  return openClient(source, { config: hasty, clock, log }, { limits });
}

export interface Asking {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
}

/** Address of the service. The sample's port is another in every run, so it is not named. */
export function originOf({ source }: Config): string {
  return source.kind === "sample" ? "sample" : source.url.origin + source.url.prefix;
}

/** How a run compares the instance that it reads with that of the run before. */
export function comparisonOf({ acceptNewAddress }: Pick<Config, "acceptNewAddress">): Comparison {
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
  assertSameInstance(instanceOf(baseline), { id: null, origin: originOf(config) }, root);
}

/** How all requests of a run are paced, and what they wait for together. */
export type Pace = Readonly<Record<"throttle", Throttle> & Record<"outage", Outage>>;
