/** The part of a check that asks the service: one page of one item, and the destinations. */
import { asWarehouseError, codeOf, WarehouseError } from "../common/errors.ts";
import { count, counted, duration } from "../common/figures.ts";
import type { Log } from "../common/log.ts";
import { hint } from "../common/nearest.ts";
import type { Secret } from "../common/secret.ts";
import type { Config } from "../config/config.ts";
import type { HttpClient, HttpResponse } from "../extract/http/client.ts";
import { type ConnectionFacts, ConnectionWatch } from "../extract/http/connection-watch.ts";
import type { ServiceUrl } from "../extract/http/service-url.ts";
import { createLookups, type DestinationLookup } from "../extract/lookups.ts";
import { type Probe, probeService } from "../extract/probe.ts";
import { assertSameInstance, instanceOf } from "../warehouse/baseline.ts";
import type { CheckedWarehouse } from "./check-warehouse.ts";
import { type CheckName, type Finding, failed, lookAt, ok, skipped, warning } from "./finding.ts";
import { findPersonalFields } from "./personal-fields.ts";
import {
  type Asking,
  comparisonOf,
  type OpenSource,
  openHastyClient,
  openSource,
  originOf,
} from "./source.ts";

const CHECKS = ["dns", "tls", "service", "credentials", "instance", "clock", "destinations"] as const;

export interface ServiceAsking extends Pick<Asking, "clock"> {
  /** Where it is told that the service asks for fewer requests; shows no token. */
  readonly logFor: (token: Secret) => Log;
  readonly signal: AbortSignal;
}

export async function* checkService(
  config: Config | WarehouseError,
  warehouse: CheckedWarehouse | null,
  asking: ServiceAsking,
): AsyncGenerator<Finding> {
  if (config instanceof WarehouseError) return yield* skipRest("dns", "needs configuration and token");
  await using source = await openSource(config);
  const client = openHastyClient(source, {
    config,
    clock: asking.clock,
    log: asking.logFor(source.token),
  });
  try {
    const answered = yield* probe(client, source, config, asking);
    if (answered === null) return yield* skipRest("instance", "needs an answer of the service");
    yield await instanceFinding(answered, config, warehouse);
    yield clockFinding(answered.response, asking.clock.now());
    yield await destinationsFinding(client, source, config, asking.signal);
    if (config.personalFields.length > 0) yield await personalFieldsFinding(client, config, asking.signal);
  } finally {
    await client.close();
  }
}

function* skipRest(first: (typeof CHECKS)[number], reason: string): Generator<Finding, void> {
  for (const check of CHECKS.slice(CHECKS.indexOf(first))) yield skipped(check, reason);
}

/** DNS, TLS, service and credentials. Null: there is no answer to look at. */
async function* probe(
  client: HttpClient,
  { url }: OpenSource,
  { aliases }: Config,
  { signal, clock }: ServiceAsking,
): AsyncGenerator<Finding, Probe | null> {
  using connections = new ConnectionWatch();
  const nowMs = clock.now();
  try {
    const answered = await probeService(client, aliases, signal);
    yield* connectionFindings(connections.facts, url, nowMs);
    yield* answeredFindings(answered);
    return answered;
  } catch (thrown) {
    yield* failedProbe(asWarehouseError(thrown), connectionFindings(connections.facts, url, nowMs), url);
    return null;
  }
}

function answeredFindings({ items, response: { milliseconds } }: Probe): Finding[] {
  const took = milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : duration(milliseconds / 1000);
  const readable = `the token may read ${counted(items, "item")}`;
  return [
    ok("service", `answered in ${took}`),
    items > 0 ? ok("credentials", readable) : warning("credentials", `${readable}: check what it may see`),
  ];
}

const UNKNOWN_HOST: ReadonlySet<string | undefined> = new Set(["ENOTFOUND", "EAI_AGAIN"]);

/** `connection`: of DNS and TLS, empty where there was none. */
function failedProbe(
  error: WarehouseError,
  connection: readonly Finding[],
  { origin }: ServiceUrl,
): Finding[] {
  const unanswered = (check: CheckName) => skipped(check, "needs an answer of the service");
  const rest = [unanswered("service"), unanswered("credentials")];
  if (UNKNOWN_HOST.has(codeOf(error.cause)))
    return [failed("dns", error), skipped("tls", "needs a connection"), ...rest];
  const dns = ok("dns", `${hostnameOf(origin)} has an address`);
  if (error.code === "source.tls") return [dns, failed("tls", error), ...rest];
  const connected = connection.length > 0 ? connection : [dns, skipped("tls", "needs a connection")];
  if (error.code === "source.credentials")
    return [...connected, ok("service", "answers"), failed("credentials", error)];
  return [...connected, failed("service", error), unanswered("credentials")];
}

function hostnameOf(origin: string): string {
  return new URL(origin).hostname;
}

/** Of DNS and TLS; none where there was no connection. */
function connectionFindings(facts: ConnectionFacts | undefined, url: ServiceUrl, nowMs: number): Finding[] {
  if (facts === undefined) return [];
  const { address, tls } = facts;
  const name = hostnameOf(url.origin);
  return [
    ok("dns", address === undefined ? `${name} has an address` : `${name} is ${address}`),
    tlsFinding(tls, url, nowMs),
  ];
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** So long before its certificate ends a service is told of. */
const SOON_DAYS = 14;

function tlsFinding(facts: ConnectionFacts["tls"], { host }: ServiceUrl, nowMs: number): Finding {
  if (facts === null) return ok("tls", "none: http on this machine");
  const { protocol, validTo } = facts;
  const days = Math.floor((validTo.getTime() - nowMs) / DAY_MS);
  const until = validTo.toISOString().slice(0, 10);
  if (days > SOON_DAYS) return ok("tls", `${protocol}, certificate valid until ${until}`);
  return warning(
    "tls",
    `the certificate of ${host} ends on ${until}, in ${counted(days, "day")}; have it renewed`,
  );
}

async function instanceFinding(
  { instanceId }: Probe,
  config: Config,
  warehouse: CheckedWarehouse | null,
): Promise<Finding> {
  const named = instanceId === null ? "the items name none" : instanceId;
  if (warehouse === null || warehouse.baseline instanceof WarehouseError)
    return skipped("instance", "needs the warehouse");
  const { baseline, folder } = warehouse;
  if (baseline.kind !== "run") return ok("instance", named);
  return lookAt("instance", async () => {
    const instance = { id: instanceId, origin: originOf(config) };
    assertSameInstance(instanceOf(baseline), instance, folder.root, comparisonOf(config));
    return `${named}, as in the current run`;
  });
}

/** A clock that is further off makes dates of runs that mislead, and may upset whoever issued the token. */
const MAX_SKEW_MS = 60_000;

function clockFinding({ date, milliseconds }: HttpResponse, nowMs: number): Finding {
  if (date === null) return skipped("clock", "the service sends no Date");
  // The answer was dated on its way, and a Date has no fractions of a second.
  const skewMs = nowMs - milliseconds / 2 - (date.getTime() + 500);
  if (Math.abs(skewMs) <= MAX_SKEW_MS)
    return ok("clock", `within ${Math.max(1, Math.round(Math.abs(skewMs) / 1000))} s of the service's`);
  const direction = skewMs > 0 ? "ahead of" : "behind";
  return warning(
    "clock",
    `this machine is ${duration(Math.abs(skewMs) / 1000)} ${direction} the service; set the clock (NTP)`,
  );
}

async function destinationsFinding(
  client: HttpClient,
  { destinations: wanted }: OpenSource,
  { lookupMethod }: Config,
  signal: AbortSignal,
): Promise<Finding> {
  if (wanted.length === 0)
    return warning("destinations", "none are configured, so there will be no mapped values");
  return lookAt("destinations", async () => {
    const found = await createLookups(client, lookupMethod).destinations(wanted, signal);
    const missing = missingDestinations(found);
    if (missing.length === 0) return `${count(wanted.length)} found`;
    return warning(
      "destinations",
      `${missing.join(" ")} Correct \`destinations\`, or their mapped values are missing.`,
    );
  });
}

async function personalFieldsFinding(
  client: HttpClient,
  config: Config,
  signal: AbortSignal,
): Promise<Finding> {
  return lookAt("personal fields", async () => {
    const lookups = createLookups(client, config.lookupMethod);
    const lookUp = (names: readonly string[]) => lookups.customFields(names, signal);
    const { customFields } = await findPersonalFields(config, { client, lookUp, signal });
    return `${counted(customFields.length, "custom field")} found`;
  });
}

/** A sentence for each destination that the service does not have. */
export function missingDestinations({ unmatched, destinations, others }: DestinationLookup): string[] {
  const known = [...destinations, ...others].map(({ identification, id }) => identification ?? id);
  return unmatched.map(
    ({ name, platform }) =>
      `There is no destination ${JSON.stringify(name)} on platform ${JSON.stringify(platform)}${hint(name, known)}.`,
  );
}
