/** Opens the service that a run reads, and tells its instance. */

import type { DestinationName } from "../api/destination.ts";
import type { Clock } from "../common/clock.ts";
import type { Log } from "../common/log.ts";
import { packagePath } from "../common/package-root.ts";
import { type HttpProxy, reachedBy } from "../common/proxy.ts";
import { Secret } from "../common/secret.ts";
import type { Config } from "../config/config.ts";
import { type AttemptListener, HttpClient, TIMEOUTS } from "../extract/http/client.ts";
import { BODY_LIMITS } from "../extract/http/connection-pool.ts";
import { RetryLoop } from "../extract/http/retry.ts";
import { RETRY_LIMITS, type RetryConfig } from "../extract/http/retry-rules.ts";
import { readServiceUrl, type ServiceUrl, type SettingNames } from "../extract/http/service-url.ts";
import type { InstanceIdentity } from "../pipeline.ts";
import { createService } from "../service/service.ts";
import {
  assertSameInstance,
  type Baseline,
  type InstanceComparison,
  instanceOf,
} from "../warehouse/baseline.ts";

export interface OpenSource extends AsyncDisposable {
  readonly url: ServiceUrl;
  readonly token: Secret;
  readonly settingNames: SettingNames;
  readonly proxy: HttpProxy | null;
  /** Texts that no log may show. */
  readonly secrets: readonly Secret[];
  readonly destinations: readonly DestinationName[];
}

/** The sample has its own destinations, unless the configuration names some. */
export async function openSource(config: Config): Promise<OpenSource> {
  const { source, destinations } = config;
  if (source.kind === "service") {
    const { url, token, settingNames, proxy, secrets } = source;
    return { url, token, settingNames, proxy, secrets, destinations, [Symbol.asyncDispose]: async () => {} };
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
    settingNames: { url: "--sample", token: "--sample" },
    proxy: null,
    secrets: [],
    destinations: destinations.length > 0 ? destinations : own,
    [Symbol.asyncDispose]: async () => service.close(),
  };
}

/** The retry policy of all requests of a run. The deadline counts from this call. */
export function openRetry(
  { url, settingNames, proxy }: OpenSource,
  { config, clock, log }: ClientInputs,
  known: Pick<RetryConfig, "startPerSecond" | "outageMinutes" | "isKnown" | "limits">,
): RetryLoop {
  const { deadlineMinutes, concurrency, ratePerSecond } = config;
  return new RetryLoop({
    connections: concurrency,
    maxPerSecond: ratePerSecond,
    host: reachedBy(url.host, proxy),
    settingNames,
    deadline:
      deadlineMinutes === null
        ? null
        : { atMs: clock.elapsedMs() + deadlineMinutes * 60_000, minutes: deadlineMinutes },
    clock,
    random: Math.random,
    log,
    ...known,
  });
}

export function openClient(
  source: OpenSource,
  asking: ClientInputs,
  {
    retry,
    onAttempt = () => {},
  }: { readonly retry: RetryLoop; readonly onAttempt?: AttemptListener | undefined },
): HttpClient {
  const { config, clock, log } = asking;
  return new HttpClient({
    url: source.url,
    token: source.token,
    settingNames: source.settingNames,
    proxy: source.proxy,
    connections: config.concurrency,
    timeouts: TIMEOUTS,
    bodyLimits: BODY_LIMITS,
    clock,
    log,
    retry,
    lookup: null,
    onAttempt,
  });
}

/** Client for a person who waits: no retries, and one minute for a service that asks for fewer requests. */
export function openClientWithoutRetries(
  source: OpenSource,
  { config, clock, log }: ClientInputs,
): HttpClient {
  const inputs = { config: { ...config, deadlineMinutes: 1 }, clock, log };
  const limits = { ...RETRY_LIMITS, maxRetries: 0 };
  const known = { startPerSecond: null, outageMinutes: 0, isKnown: false, limits };
  return openClient(source, inputs, { retry: openRetry(source, inputs, known) });
}

interface ClientInputs {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
}

/** Address of the service. The sample's port changes with every run, so it is left out. */
export function originOf({ source }: Config): string {
  return source.kind === "sample" ? "sample" : source.url.origin + source.url.prefix;
}

export function comparisonOf({ acceptNewAddress }: Pick<Config, "acceptNewAddress">): InstanceComparison {
  return acceptNewAddress ? "moved" : "run";
}

/**
 * Instance that targets are asked for before the service is. It is `null` if a new address is accepted: the ID is
 * unknown until the service answers.
 */
export function expectedInstance(baseline: Baseline, config: Config): InstanceIdentity | null {
  if (baseline.kind === "run") return baseline.manifest.instance;
  return config.acceptNewAddress ? null : { id: null, origin: originOf(config) };
}

/** Compares addresses before the service is opened. Throws `config.other_instance`. */
export function assertKnownAddress(baseline: Baseline, config: Config, root: string): void {
  if (config.acceptNewAddress) return;
  assertSameInstance(instanceOf(baseline), { id: null, origin: originOf(config) }, root);
}
