/** Opens the service for a run: connection, personal fields and destinations, before anything of the warehouse changes. */
import type { DestinationName } from "../api/destination.ts";
import { scalarText } from "../api/normalize.ts";
import { removedDestinationText } from "../audit/checks/configured-names.ts";
import { personalFieldsSentence } from "../audit/checks/personal-fields.ts";
import { invalidConfig } from "../common/errors.ts";
import { count, duration, pluralize } from "../common/figures.ts";
import { didYouMean, joinFirst, nearestSentence } from "../common/nearest.ts";
import { printable, printableLine } from "../common/printable.ts";
import type { HttpProxy } from "../common/proxy.ts";
import type { Secret } from "../common/secret.ts";
import { faultsError } from "../config/read-spec.ts";
import type { AttemptListener, HttpClient } from "../extract/http/client.ts";
import type { RetryLoop } from "../extract/http/retry.ts";
import { Journal, recordOf } from "../extract/landing/journal.ts";
import { type CustomFieldLookup, type DestinationLookup, Lookups } from "../extract/lookups.ts";
import { TokenRedactor } from "../extract/pages/token-redactor.ts";
import { isUnreadablePage } from "../extract/passes/page-reader.ts";
import { Probe } from "../extract/probe.ts";
import type { Pipeline } from "../pipeline.ts";
import { tokenDrift } from "../raw/drift.ts";
import { looksPersonal } from "../raw/personal/names.ts";
import { ITEM_FIELD_NAMES, type PersonalFields } from "../raw/personal/policy.ts";
import { assertSameInstance, type Baseline, instanceOf } from "../warehouse/baseline.ts";
import type { RunInputs, StepListener } from "./inputs.ts";
import type { ResumableRun } from "./resume.ts";
import { type OpenResources, openClient, openSource, originOf } from "./source.ts";

/** The opened service, and what it answered before the listings are read. */
export interface ServiceSession {
  readonly client: HttpClient;
  readonly retry: RetryLoop;
  readonly journal: Journal;
  readonly token: Secret;
  /** Destinations that were looked up by their names. */
  readonly wanted: readonly DestinationName[];
  readonly destinations: DestinationLookup;
  readonly personalFields: PersonalFields;
  /** Instance that the service names, if it was asked; `null` if it was not, or named none or several. */
  readonly instanceId: string | null;
  /** Looks up the definitions of the custom fields with these names. */
  readonly customFields: (names: Iterable<string>) => Promise<CustomFieldLookup>;
}

interface SessionRequest {
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
  const { inputs, opened, listener, isRehearsal, onAttempt, pipeline, baseline, resumable } = request;
  const { config } = inputs;
  listener.begin("service");
  const source = await openSource(config);
  opened.source = source;
  const rateBefore = baseline.kind === "run" ? baseline.manifest.found.throttled?.ratePerSecond : undefined;
  const known = {
    startPerSecond: resumable?.resumeRecord.ratePerSecond ?? rateBefore ?? null,
    outageMinutes: config.outageMinutes,
    isKnown: resumable !== null || instanceOf(baseline)?.origin === originOf(config),
  };
  const { client, retry } = openClient(source, inputs, isRehearsal ? null : known, onAttempt);
  opened.client = client;
  const { instanceId, fieldNames } = await probeInstance(request, source.proxy, client);
  const personalFields = await findPersonalFields(request, client, fieldNames);
  const journal = new Journal();
  const echoes = new TokenRedactor(source.token);
  const lookups = new Lookups(client, config.lookupMethod, (bytes) => {
    const redacted = echoes.redact(bytes);
    journal.takeDrift(tokenDrift(redacted?.texts ?? new Map()));
    return redacted?.bytes ?? bytes;
  });
  const wanted = pipeline.destinations ?? source.destinations;
  const destinations = await lookUpDestinations(request, client, lookups, wanted);
  const record = ({ responses }: Pick<DestinationLookup, "responses">) => {
    for (const { request: asked, response } of responses)
      journal.requests.push(recordOf(response, { mode: asked.mode }));
  };
  record(destinations);
  const customFields = async (names: Iterable<string>) => {
    const found = await lookups.customFields(names, inputs.signal);
    record(found);
    return found;
  };
  const { token } = source;
  return { client, retry, journal, token, wanted, destinations, personalFields, instanceId, customFields };
}

async function lookUpDestinations(
  { inputs: { config, signal }, listener, isRehearsal, baseline }: SessionRequest,
  client: HttpClient,
  lookups: Lookups,
  wanted: readonly DestinationName[],
): Promise<DestinationLookup> {
  listener.begin("destinations");
  const found = await lookups.destinations(wanted, signal);
  const namesOfItems = () => new Probe(client, config.aliases, signal).destinationNames();
  await assertNoneMisspelled(found, baseline, namesOfItems);
  // A run reports these by its checks.
  if (!isRehearsal) return found;
  const gone = found.unmatched.map(({ name, platform }) => removedDestinationText(name, platform));
  if (wanted.length === 0)
    listener.warn(`none are configured, so they appear under their IDs${seenText(await namesOfItems())}`);
  else if (gone.length > 0) listener.warn(`${gone.join(" ")}${seenText(await namesOfItems())}`);
  else listener.note(`${count(wanted.length)} found`);
  return found;
}

/**
 * Throws `config.invalid` for destinations that neither the service nor the run before has: their names are misspelled.
 * A destination that the run before has was removed or renamed, which does not end a run.
 */
async function assertNoneMisspelled(
  { unmatched, destinations, others }: DestinationLookup,
  baseline: Baseline,
  namesOfItems: () => Promise<readonly string[]>,
): Promise<void> {
  const before = baseline.kind === "run" ? baseline.manifest.asked.destinations : [];
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
  throw invalidConfig(`${sentences.join(" ")} Correct \`destinations\` or --destination${seenText(names)}.`);
}

/** Names that items show: a destination is found by name and platform, and items show only its name. */
function seenText(names: readonly string[]): string {
  if (names.length === 0) return "";
  return ` (seen in items: ${printableLine(joinFirst(names, 10))}; another platform may have the name)`;
}

/**
 * Checks that the service has the instance of the warehouse. A run does so only at a new address, and if it may resume an
 * interrupted run; else the documents tell. A rehearsal also reads one answer of each kind, and returns the names of
 * custom fields that it saw.
 */
async function probeInstance(
  { inputs: { config, signal }, isRehearsal, listener, pipeline, baseline, resumable, root }: SessionRequest,
  proxy: HttpProxy | null,
  client: HttpClient,
): Promise<Pick<ServiceSession, "instanceId"> & { readonly fieldNames: readonly string[] }> {
  const origin = originOf(config);
  const before = instanceOf(baseline);
  const isMoved = config.acceptNewAddress && (before?.origin ?? origin) !== origin;
  const unknown = { instanceId: null, fieldNames: [] };
  if (!isRehearsal && !isMoved && resumable === null) return unknown;
  const probed = await new Probe(client, config.aliases, signal).service().catch((thrown: unknown) => {
    // A run that is resumed reads such pages in parts.
    if (isRehearsal || isMoved || !isUnreadablePage(thrown)) throw thrown;
  });
  if (!probed) return unknown;
  const { instanceId, items, response } = probed;
  assertSameInstance(before, { id: instanceId, origin }, root, config.acceptNewAddress);
  if (!isRehearsal) return { instanceId, fieldNames: [] };
  const fieldNames = await probeEachKind({ config, signal }, pipeline, client);
  const through = proxy === null ? "" : `, through the proxy ${proxy.host}`;
  const text = `${pluralize(items, "item")}, ${duration(response.milliseconds / 1000)}${through}`;
  if (items > 0) listener.note(text);
  else listener.warn(`${text}: check what the token can read`);
  return { instanceId, fieldNames };
}

/** Reads one answer of each kind that the pipeline needs, except single items. Returns names of custom fields. */
async function probeEachKind(
  { config, signal }: Pick<RunInputs, "config" | "signal">,
  { listings, customFields }: Pipeline,
  client: HttpClient,
): Promise<readonly string[]> {
  const probe = new Probe(client, config.aliases, signal);
  const found = listings.includes("full") ? await probe.fieldNames(config.perPage) : [];
  // A basic pass certifies a single listing.
  if (listings.length === 1) await probe.basic();
  const names = [...new Set([...config.customFields, ...(customFields ?? []), ...found])];
  const lookedUp = customFields === undefined ? [] : names.slice(0, 1);
  await new Lookups(client, config.lookupMethod).customFields(lookedUp, signal);
  return names;
}

/**
 * Finds the fields that `personalFields` names, before any document lands: documents carry IDs of custom fields. Throws
 * `config.invalid` for a name that neither the specification, `aliases` nor a custom field has. `seen`: custom fields
 * that a rehearsal saw; those that look personal are a warning.
 */
async function findPersonalFields(
  { inputs: { config, signal }, listener }: SessionRequest,
  client: HttpClient,
  seen: readonly string[],
): Promise<PersonalFields> {
  const { aliases, lookupMethod, personalData } = config;
  const names = [...new Set(config.personalFields.map((name) => aliases[name] ?? name))];
  let found: PersonalFields = { names: [], customFields: [] };
  if (names.length > 0) {
    listener.begin("personal fields");
    const { definitions, unmatched } = await new Lookups(client, lookupMethod).customFields(names, signal);
    const specified = new Set(Object.values(aliases));
    const unknown = unmatched.filter(
      (name) => !ITEM_FIELD_NAMES.includes(name.replaceAll("[]", "")) && !specified.has(name),
    );
    if (unknown.length > 0) {
      const others = await new Probe(client, config.aliases, signal).fieldNames(config.perPage);
      const known = [...others, ...ITEM_FIELD_NAMES];
      throw faultsError(
        unknown.map((name) => {
          const shown = printable(name, 60);
          const near = nearestSentence(name, known, "");
          return `\`personalFields\`: neither a custom field nor an API field has the name "${shown}".${near} If the service sends an API field of that name, add it to \`aliases\`: { "${shown}": "${shown}" }.`;
        }),
      );
    }
    const customFields = definitions.flatMap(({ id, name }): [string, string][] =>
      name === undefined ? [] : [[id, name]],
    );
    found = { names, customFields };
    listener.note(`${pluralize(customFields.length, "custom field")} found`);
  }
  const uncovered = seen.filter((name) => looksPersonal(name) && !names.includes(name));
  if (uncovered.length > 0 && personalData.policy !== "keep") {
    listener.begin("personal fields");
    listener.warn(personalFieldsSentence(uncovered.map((name) => printable(name, 60))));
  }
  return found;
}

/** IDs of the personal custom fields, in order. */
export function personalFieldIds({ customFields }: PersonalFields): string[] {
  return customFields.map(([id]) => id).sort();
}
