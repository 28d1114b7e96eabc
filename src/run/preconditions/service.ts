/** The service: asked, in a check, for the destinations and for one answer of each other kind that the run reads. */
import { asWarehouseError, codeOf, type WarehouseError } from "../../common/errors.ts";
import { count, counted, duration } from "../../common/figures.ts";
import type { HttpClient, HttpResponse } from "../../extract/http/client.ts";
import { type ConnectionFacts, ConnectionWatch } from "../../extract/http/connection-watch.ts";
import type { ServiceUrl } from "../../extract/http/service-url.ts";
import { createLookups } from "../../extract/lookups.ts";
import { type Probe, probeBasic, probeFieldNames, probeService } from "../../extract/probe.ts";
import { assertSameInstance, hasAnswered, instanceOf, rateOf } from "../../warehouse/baseline.ts";
import type { RunOptions } from "../context.ts";
import { findPersonalFields } from "../personal-fields.ts";
import {
  comparisonOf,
  type OpenSource,
  openClient,
  openHastyClient,
  openOutage,
  openSource,
  openThrottle,
  originOf,
} from "../source.ts";
import { knownSoon, missingDestinations } from "./destinations.ts";
import { type CheckName, type Finding, failed, ok, skipped, warning } from "./finding.ts";
import { type Facts, type Step, step } from "./step.ts";

export const SERVICE: readonly Step[] = [
  step({
    name: "service",
    tells: [],
    needs: ["options"],
    async meet({ options: { config } }) {
      return { source: await openSource(config) };
    },
    async go({ options, source, baseline = NONE, resumable }) {
      const { config } = options;
      const isKnown = resumable != null || hasAnswered(baseline, originOf(config));
      const pace = {
        throttle: openThrottle(config, resumable?.resumeRecord.ratePerSecond ?? rateOf(baseline)),
        outage: openOutage(source, options, { minutes: config.outageMinutes, isKnown }),
      };
      return { pace, client: openClient(source, options, pace) };
    },
    async *look({ options, source }) {
      yield { learnt: { client: openHastyClient(source, options) } };
    },
  }),
  step({
    name: "service",
    tells: ["dns", "tls", "service", "credentials", "clock"],
    needs: ["options", "source", "client"],
    async go() {
      return { answer: null };
    },
    async *look({ options: { config, clock, signal }, source, client }) {
      using connections = new ConnectionWatch();
      const nowMs = clock.now();
      try {
        const answer = await probeService(client, config.aliases, signal);
        yield* connectionFindings(connections.facts, source, nowMs);
        yield* answeredFindings(answer);
        yield clockFinding(answer.response, clock.now());
        yield { learnt: { answer } };
      } catch (thrown) {
        const connection = connectionFindings(connections.facts, source, nowMs);
        yield* failedProbe(asWarehouseError(thrown), connection, source);
      }
    },
  }),
  step({
    name: "instance",
    needs: ["options", "folder", "isKnownAddress", "baseline", "client", "answer"],
    async meet({ options: { config, signal }, folder, baseline, client, answer }) {
      const before = instanceOf(baseline);
      const origin = originOf(config);
      // Where a new address is to be accepted, one request shows the instance behind it; else the documents do.
      const isMoved = config.acceptNewAddress && before !== undefined && before.origin !== origin;
      const found = answer ?? (isMoved ? await probeService(client, config.aliases, signal) : null);
      if (found === null) return {};
      const instance = { id: found.instanceId, origin };
      assertSameInstance(before, instance, folder.root, comparisonOf(config));
      return {};
    },
    async *look({ baseline, answer }) {
      const named = answer?.instanceId ?? "the items name none";
      yield ok("instance", baseline.kind === "run" ? `${named}, as in the current run` : named);
    },
  }),
  step({
    name: "personal fields",
    tells: [],
    needs: ["options", "client", "answer"],
    async meet({ options: { config, signal }, client }) {
      const lookups = createLookups(client, config.lookupMethod);
      const lookUp = (names: readonly string[]) => lookups.customFields(names, signal);
      return { personalFields: await findPersonalFields(config, { client, lookUp, signal }) };
    },
    async *look({ options: { config }, personalFields: { customFields } }) {
      if (config.personalFields.length > 0)
        yield ok("personal fields", `${counted(customFields.length, "custom field")} found`);
    },
  }),
  step({
    name: "destinations",
    needs: ["options", "pipeline", "source", "client", "answer"],
    async *look({ options: { config, signal }, pipeline, source, client }) {
      const wanted = pipeline.destinations ?? source.destinations;
      if (wanted.length === 0)
        return yield warning("destinations", "none are configured, so there will be no mapped values");
      const lookups = createLookups(client, config.lookupMethod);
      const found = await lookups.destinations(wanted, signal);
      if (found.unmatched.length === 0) return yield ok("destinations", `${count(wanted.length)} found`);
      const { aliases } = config;
      const { unmatched } = found;
      const known = await knownSoon(client, { aliases, lookups, wanted, unmatched, configured: [] }, signal);
      const missing = missingDestinations(found, known);
      yield warning(
        "destinations",
        `${missing.join(" ")} Correct \`destinations\`, or their mapped values are missing.`,
      );
    },
  }),
  // What a run reads at last.
  step({
    name: "credentials",
    tells: [],
    needs: ["options", "pipeline", "client", "answer"],
    async *look({ options, pipeline, client }) {
      try {
        await readEachKind(options, pipeline, client);
      } catch (thrown) {
        const { code } = asWarehouseError(thrown);
        yield failed(code === "source.credentials" ? "credentials" : "service", thrown);
      }
    },
  }),
];

/** One answer of each kind that a run of the pipeline reads, but single items and those that were read already. */
async function readEachKind(
  { config, signal }: Pick<RunOptions, "config" | "signal">,
  { listings, customFields }: Facts["pipeline"],
  client: HttpClient,
): Promise<void> {
  const found = listings.includes("full")
    ? await probeFieldNames(client, { perPage: config.perPage, signal })
    : [];
  // One listing is certified by a further pass over IDs and times.
  if (listings.length === 1) await probeBasic(client, signal);
  const names = customFields && [...config.customFields, ...customFields, ...found];
  await createLookups(client, config.lookupMethod).customFields(names?.slice(0, 1) ?? [], signal);
}

const NONE: Facts["baseline"] = { kind: "none" };

function answeredFindings({ items, response: { milliseconds } }: Probe): Finding[] {
  const took = milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : duration(milliseconds / 1000);
  const readable = `the token may read ${counted(items, "item")}`;
  return [
    ok("service", `answered in ${took}`),
    items > 0 ? ok("credentials", readable) : warning("credentials", `${readable}: check what it may see`),
  ];
}

const UNKNOWN_HOST: ReadonlySet<string | undefined> = new Set(["ENOTFOUND", "EAI_AGAIN"]);

type Reached = Pick<OpenSource, "url" | "proxy">;

/** `connection`: of DNS and TLS, empty where there was none. */
function failedProbe(error: WarehouseError, connection: readonly Finding[], source: Reached): Finding[] {
  const unanswered = (check: CheckName) => skipped(check, "needs an answer of the service");
  const rest = [unanswered("service"), unanswered("credentials"), unanswered("clock")];
  if (UNKNOWN_HOST.has(codeOf(error.cause)))
    return [failed("dns", error), skipped("tls", "needs a connection"), ...rest];
  const dns = dnsFinding(source, undefined);
  if (error.code === "source.tls") return [dns, failed("tls", error), ...rest];
  const connected = connection.length > 0 ? connection : [dns, skipped("tls", "needs a connection")];
  if (error.code === "source.credentials")
    return [...connected, ok("service", "answers"), failed("credentials", error), unanswered("clock")];
  return [...connected, failed("service", error), unanswered("credentials"), unanswered("clock")];
}

function hostnameOf(origin: string): string {
  return new URL(origin).hostname;
}

/** A proxy looks the name up, and where it gives no tunnel, the connection to it is that of no service. */
function dnsFinding({ url, proxy }: Reached, address: string | undefined): Finding {
  const name = hostnameOf(url.origin);
  if (proxy !== null) return ok("dns", `${name} is looked up by the proxy ${proxy.host}`);
  return ok("dns", address === undefined ? `${name} has an address` : `${name} is ${address}`);
}

/** Of DNS and TLS; none where there was no connection to the service. */
function connectionFindings(facts: ConnectionFacts | undefined, source: Reached, nowMs: number): Finding[] {
  const { url, proxy } = source;
  if (facts === undefined || (proxy !== null && facts.tls === null)) return [];
  const { address, tls } = facts;
  return [dnsFinding(source, address), tlsFinding(tls, url, nowMs)];
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
