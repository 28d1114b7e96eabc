/** Opens the service that a run reads, and tells its address. */
import type { DestinationName } from "../api/destination.ts";
import { asWarehouseError } from "../common/errors.ts";
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
import { createService } from "../service/service.ts";
import type { PreparedOutput } from "../warehouse/lock.ts";
import type { RunInputs } from "./inputs.ts";

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

/** The client of a run, and the retry policy of its requests. The deadline counts from this call. */
export function openClient(
  { url, token, settingNames, proxy }: OpenSource,
  { config, clock, log }: Pick<RunInputs, "config" | "clock" | "log">,
  known: Pick<RetryConfig, "startPerSecond" | "outageMinutes" | "isKnown" | "limits">,
  onAttempt: AttemptListener = () => {},
): { readonly client: HttpClient; readonly retry: RetryLoop } {
  const { deadlineMinutes: minutes, concurrency: connections, ratePerSecond } = config;
  const retry = new RetryLoop({
    connections,
    maxPerSecond: ratePerSecond,
    host: reachedBy(url.host, proxy),
    settingNames,
    deadline: minutes === null ? null : { atMs: clock.elapsedMs() + minutes * 60_000, minutes },
    clock,
    random: Math.random,
    log,
    ...known,
  });
  const client = new HttpClient({
    url,
    token,
    settingNames,
    proxy,
    connections,
    timeouts: TIMEOUTS,
    bodyLimits: BODY_LIMITS,
    clock,
    log,
    retry,
    lookup: null,
    onAttempt,
  });
  return { client, retry };
}

/** Client for a person who waits: no retries, and one minute for a service that asks for fewer requests. */
export function openClientWithoutRetries(
  source: OpenSource,
  { config, clock, log }: Pick<RunInputs, "config" | "clock" | "log">,
) {
  const inputs = { config: { ...config, deadlineMinutes: 1 }, clock, log };
  const limits = { ...RETRY_LIMITS, maxRetries: 0 };
  return openClient(source, inputs, { startPerSecond: null, outageMinutes: 0, isKnown: false, limits });
}

/** Address of the service. The sample's port changes with every run, so it is left out. */
export function originOf({ source }: Config): string {
  return source.kind === "sample" ? "sample" : source.url.origin + source.url.prefix;
}

/** What the preparation of a run has opened so far; the caller closes it. */
export interface OpenResources {
  folder?: PreparedOutput;
  lock?: AsyncDisposable;
  source?: OpenSource;
  client?: HttpClient;
}

/** Closes everything. A failure to close is logged, so that it hides no other failure. */
export async function closeOpened({ client, source, lock }: OpenResources, log: Log): Promise<void> {
  const closings = [
    async () => client?.close(),
    async () => source?.[Symbol.asyncDispose](),
    async () => lock?.[Symbol.asyncDispose](),
  ];
  for (const close of closings)
    await close().catch((thrown: unknown) => log.warn(asWarehouseError(thrown).message));
}
