/** Opens the service that a run reads, and tells its address. */
import type { DestinationName } from "../api/destination.ts";
import { asWarehouseError } from "../common/errors.ts";
import type { Log } from "../common/log.ts";
import { packagePath } from "../common/package-root.ts";
import { type HttpProxy, reachedBy } from "../common/proxy.ts";
import { Secret } from "../common/secret.ts";
import type { Config } from "../config/config.ts";
import { type AttemptListener, HttpClient } from "../extract/http/client.ts";
import { HTTP_LIMITS } from "../extract/http/connection-pool.ts";
import { readServiceUrl, type ServiceUrl, type SettingNames } from "../extract/http/request.ts";
import { RetryLoop } from "../extract/http/retry.ts";
import type { RetryConfig } from "../extract/http/retry-rules.ts";
import { createService } from "../service/service.ts";
import type { PreparedOutput } from "../warehouse/lock.ts";
import type { RunInputs } from "./inputs.ts";

interface OpenSource extends AsyncDisposable {
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

/**
 * The client of a run, and the retry policy of its requests. The deadline counts from this call. `known`: what a run
 * knows of the service; `null`: a person waits, so no request is retried, and a service that asks for fewer requests is
 * waited for one minute at most.
 */
export function openClient(
  { url, token, settingNames, proxy }: OpenSource,
  { config, clock, log }: Pick<RunInputs, "config" | "clock" | "log">,
  known: Pick<RetryConfig, "startPerSecond" | "outageMinutes" | "isKnown"> | null,
  onAttempt: AttemptListener = () => {},
): { readonly client: HttpClient; readonly retry: RetryLoop } {
  const { concurrency: connections, ratePerSecond } = config;
  const minutes = known === null ? 1 : config.deadlineMinutes;
  const retry = new RetryLoop({
    connections,
    maxPerSecond: ratePerSecond,
    host: reachedBy(url.host, proxy),
    settingNames,
    deadline: minutes === null ? null : { atMs: clock.elapsedMs() + minutes * 60_000, minutes },
    clock,
    random: Math.random,
    log,
    retries: known !== null,
    ...(known ?? { startPerSecond: null, outageMinutes: 0, isKnown: false }),
  });
  const client = new HttpClient({
    url,
    token,
    hidesAddresses: config.personalData.policy !== "keep",
    settingNames,
    proxy,
    connections,
    limits: HTTP_LIMITS,
    clock,
    log,
    retry,
    lookup: null,
    onAttempt,
  });
  return { client, retry };
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
