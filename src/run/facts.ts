/** What a run states when everything has landed: all that its tables are built from besides the raw documents. */

import { scalarText } from "../api/normalize.ts";
import type { Verdict } from "../common/verdict.ts";
import { configFingerprint, treatmentOf } from "../config/config.ts";
import type { CustomFieldLookup, DestinationLookup } from "../extract/lookups.ts";
import type { Wanted } from "../extract/wanted-columns.ts";
import type { Extraction, ExtractRecord } from "../raw/extract-record.ts";
import type { ItemIndex } from "../raw/item-index.ts";
import { pipelineModule } from "../transform/pipelines.ts";
import type { RunContext } from "./context.ts";
import { idsOf } from "./personal-fields.ts";
import { documentSettings } from "./reuse.ts";
import { originOf } from "./source.ts";

export interface Answered {
  readonly wanted: Wanted;
  readonly extraction: Extraction;
  readonly items: ItemIndex;
  readonly destinations: DestinationLookup;
  readonly fields: CustomFieldLookup;
}

/** Once the last answer is there. */
export function factsOf(run: RunContext, answered: Answered): Omit<ExtractRecord, "version"> {
  const { resumeRecord, journal, retry, personalFields } = run;
  const { options, pipeline } = run;
  const { config, clock } = options;
  const { contract, maxRejects, maxShrinkPercent, minShrink } = config;
  const { extraction, items } = answered;
  const rejected = journal.rejects.map(({ contentId }) => contentId);
  return {
    ...extraction,
    pipeline: { name: pipeline.name, module: pipelineModule(options.pipeline) },
    origin: originOf(config),
    configuration: configFingerprint(config),
    startedAt: instant(resumeRecord.startedMs),
    resumedAt: resumeRecord.resumedMs.map(instant),
    extractedAt: instant(clock.now()),
    asked: askedOf(run, answered),
    unmatched: unmatchedOf(answered),
    personalData: { ...treatmentOf(config.personalData), customFieldIds: idsOf(personalFields) },
    documentSettings: documentSettings(run, answered.wanted),
    gates: { contract, maxRejects, maxShrinkPercent, minShrink },
    accepted: { shrink: config.acceptShrink, newAddress: config.acceptNewAddress },
    verdict: verdictOf(config, extraction.disagreements),
    limit: config.limit,
    unreadable: [...rejected.filter((id) => id !== null), ...extraction.missing.skipped],
    rejectedWithoutId: rejected.includes(null),
    drift: journal.drift.sorted(),
    requests: { count: journal.requests.size, bytes: journal.requests.bytes },
    throttled: retry.throttled,
    outages: retry.outages,
    bytesPerItem: Object.fromEntries([...items.pages].map(([pass, bytes]) => [pass, [...bytes]])),
  };
}

function verdictOf({ limit }: RunContext["options"]["config"], disagreements: readonly string[]): Verdict {
  if (limit !== null) return "limited";
  return disagreements.length === 0 ? "complete" : "unsettled";
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The destinations that a run asks for by their names. */
export function wantedDestinations({ pipeline, source }: Pick<RunContext, "pipeline" | "source">) {
  return pipeline.destinations ?? source.destinations;
}

function askedOf(run: RunContext, { wanted }: Answered): ExtractRecord["asked"] {
  const { config } = run.options;
  return {
    shapes: run.pipeline.listings,
    columns: wanted.columns,
    singleItems: wanted.details,
    destinations: wantedDestinations(run).map(({ name, platform }) => ({ name, platform })),
    allDestinations: config.source.kind === "sample" && config.destinations.length === 0,
    ignoreDestinations: config.ignoreDestinations,
    definitions: run.pipeline.customFields !== undefined,
    customFields: config.customFields,
    aliases: config.aliases,
    perPage: config.perPage,
  };
}

function unmatchedOf({ destinations, fields }: Answered): ExtractRecord["unmatched"] {
  return {
    destinations: destinations.unmatched.map(({ name, platform }) => ({ name, platform })),
    otherDestinations: destinations.others.map(({ id, identification, platform }) => ({
      name: scalarText(identification) ?? id,
      platform: scalarText(platform) ?? null,
    })),
    customFields: fields.unmatched,
  };
}
