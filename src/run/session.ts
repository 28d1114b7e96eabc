/** Opens the service for a run: connection, personal fields and destinations, before anything of the warehouse changes. */

import { removedDestinationText } from "../audit/checks/configured-names.ts";
import { personalFieldsSentence } from "../audit/checks/personal-fields.ts";
import { count, duration, pluralize } from "../common/figures.ts";
import { printable } from "../common/printable.ts";
import type { AttemptListener, HttpClient } from "../extract/http/client.ts";
import type { RetryLoop } from "../extract/http/retry.ts";
import { RETRY_LIMITS } from "../extract/http/retry-rules.ts";
import { Journal, observedAtOf, recordOf } from "../extract/landing/journal.ts";
import { type CustomFieldLookup, type DestinationLookup, Lookups } from "../extract/lookups.ts";
import { TokenRedactor } from "../extract/pages/token-redactor.ts";
import { probeBasic, probeFieldNames, probeService } from "../extract/probe.ts";
import type { Pipeline } from "../pipeline.ts";
import { tokenDrift } from "../raw/drift.ts";
import type { PersonalFields } from "../raw/personal/fields.ts";
import { looksPersonal } from "../raw/personal/names.ts";
import { assertSameInstance, type Baseline, instanceOf, rateOf } from "../warehouse/baseline.ts";
import { assertNoneMisspelled, destinationNames } from "./destination-names.ts";
import type { RunInputs } from "./inputs.ts";
import { findPersonalFields } from "./personal-fields.ts";
import type { ResumableRun } from "./resume.ts";
import {
  comparisonOf,
  type OpenSource,
  openClient,
  openClientWithoutRetries,
  openRetry,
  openSource,
  originOf,
} from "./source.ts";
import type { OpenResources, StepListener } from "./steps.ts";

/** The opened service, and what it answered before the listings are read. */
export interface ServiceSession {
  readonly source: OpenSource;
  readonly client: HttpClient;
  readonly retry: RetryLoop;
  readonly journal: Journal;
  readonly lookups: Lookups;
  readonly destinations: DestinationLookup;
  readonly personalFields: PersonalFields;
}

export interface SessionRequest {
  readonly inputs: RunInputs;
  readonly opened: OpenResources;
  readonly listener: StepListener;
  readonly isRehearsal: boolean;
  readonly onAttempt: AttemptListener | undefined;
  readonly pipeline: Pipeline;
  readonly baseline: Baseline;
  readonly resumable: ResumableRun | null;
  /** Folder of the warehouse, for messages. */
  readonly root: string;
}

export async function openSession(request: SessionRequest): Promise<ServiceSession> {
  const { inputs, opened, listener, isRehearsal, onAttempt, baseline, resumable } = request;
  const { config } = inputs;
  listener.begin("service");
  const source = await openSource(config);
  opened.source = source;
  const retry = openRetry(source, inputs, {
    startPerSecond: resumable?.resumeRecord.ratePerSecond ?? rateOf(baseline),
    outageMinutes: config.outageMinutes,
    limits: RETRY_LIMITS,
    isKnown: resumable !== null || instanceOf(baseline)?.origin === originOf(config),
  });
  const client = isRehearsal
    ? openClientWithoutRetries(source, inputs)
    : openClient(source, inputs, { retry, onAttempt });
  opened.client = client;
  const fieldNames = await probeInstance(request, source, client);
  const personalFields = await personalFieldsOf(request, client, fieldNames);
  const journal = new Journal();
  const lookups = new Lookups(client, config.lookupMethod, tokenRedactor(source, journal));
  const destinations = await lookUpDestinations(request, { source, client, lookups });
  recordLookups(journal, inputs, destinations);
  return { source, client, retry, journal, lookups, destinations, personalFields };
}

async function lookUpDestinations(
  { inputs: { config, signal }, listener, isRehearsal, pipeline, baseline }: SessionRequest,
  { source, client, lookups }: Pick<ServiceSession, "source" | "client" | "lookups">,
): Promise<DestinationLookup> {
  listener.begin("destinations");
  const wanted = wantedDestinations(pipeline, source);
  const found = await lookups.destinations(wanted, signal);
  await assertNoneMisspelled(found, baseline, () => destinationNames(client, config.aliases, signal));
  // A run reports these by its checks.
  if (!isRehearsal) return found;
  const gone = found.unmatched.map(({ name, platform }) => removedDestinationText(name, platform));
  if (wanted.length === 0) listener.warn("none are configured, so there will be no mapped values");
  else if (gone.length > 0) listener.warn(gone.join(" "));
  else listener.note(`${count(wanted.length)} found`);
  return found;
}

/** Destinations that a run looks up by their names. */
export function wantedDestinations(pipeline: Pipeline, source: OpenSource) {
  return pipeline.destinations ?? source.destinations;
}

/** Adds the requests of a lookup to the journal. */
export function recordLookups(
  journal: Journal,
  { clock }: Pick<RunInputs, "clock">,
  { responses }: Pick<DestinationLookup | CustomFieldLookup, "responses">,
): void {
  for (const { request, response } of responses) {
    const observedAt = observedAtOf(response, clock);
    const bytes = response.body.byteLength;
    journal.requests.add(recordOf(response, { mode: request.mode, observedAt, bytes }));
  }
}

/** Takes the token out of answers that are read on this thread. */
function tokenRedactor(source: OpenSource, journal: Journal): (bytes: Buffer) => Buffer {
  const echoes = new TokenRedactor(source.token);
  return (bytes) => {
    const redacted = echoes.redact(bytes);
    journal.takeDrift(tokenDrift(redacted?.texts ?? new Map()));
    return redacted?.bytes ?? bytes;
  };
}

/**
 * Checks that the service has the instance of the warehouse. A run does so only at a new address; at a known one, the
 * documents tell. A rehearsal also reads one answer of each kind, and returns the names of custom fields that it saw.
 */
async function probeInstance(
  { inputs: { config, signal }, isRehearsal, listener, pipeline, baseline, root }: SessionRequest,
  { proxy }: OpenSource,
  client: HttpClient,
): Promise<readonly string[]> {
  const origin = originOf(config);
  const isMoved = config.acceptNewAddress && (instanceOf(baseline)?.origin ?? origin) !== origin;
  if (!isRehearsal && !isMoved) return [];
  const { instanceId, items, response } = await probeService(client, config.aliases, signal);
  assertSameInstance(instanceOf(baseline), { id: instanceId, origin }, root, comparisonOf(config));
  if (!isRehearsal) return [];
  const fieldNames = await probeEachKind({ config, signal }, pipeline, client);
  const through = proxy === null ? "" : `, through the proxy ${proxy.host}`;
  const text = `${pluralize(items, "item")}, ${duration(response.milliseconds / 1000)}${through}`;
  if (items > 0) listener.note(text);
  else listener.warn(`${text}: check what the token can read`);
  return fieldNames;
}

/** Reads one answer of each kind that the pipeline needs, except single items. Returns names of custom fields. */
async function probeEachKind(
  { config, signal }: Pick<RunInputs, "config" | "signal">,
  { listings, customFields }: Pipeline,
  client: HttpClient,
): Promise<readonly string[]> {
  const found = listings.includes("full")
    ? await probeFieldNames(client, { perPage: config.perPage, signal })
    : [];
  // A basic pass certifies a single listing.
  if (listings.length === 1) await probeBasic(client, signal);
  const names = [...new Set([...config.customFields, ...(customFields ?? []), ...found])];
  const lookedUp = customFields === undefined ? [] : names.slice(0, 1);
  await new Lookups(client, config.lookupMethod).customFields(lookedUp, signal);
  return names;
}

/** `fieldNames`: custom fields that a rehearsal saw; those that look personal are a warning. */
async function personalFieldsOf(
  { inputs: { config, signal }, listener }: SessionRequest,
  client: HttpClient,
  fieldNames: readonly string[],
): Promise<PersonalFields> {
  if (config.personalFields.length > 0) listener.begin("personal fields");
  const lookups = new Lookups(client, config.lookupMethod);
  const lookUp = (names: readonly string[]) => lookups.customFields(names, signal);
  const personalFields = await findPersonalFields(config, { client, lookUp, signal });
  if (config.personalFields.length > 0)
    listener.note(`${pluralize(personalFields.customFields.length, "custom field")} found`);
  const uncovered = fieldNames.filter((name) => looksPersonal(name) && !personalFields.names.includes(name));
  if (uncovered.length > 0 && config.personalData.policy !== "keep") {
    listener.begin("personal fields");
    listener.warn(personalFieldsSentence(uncovered.map((name) => printable(name, 60))));
  }
  return personalFields;
}
