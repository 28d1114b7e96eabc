/** All requests of a run: lookups, listings, single items. */
import { mkdir } from "node:fs/promises";
import { judgeAnswers } from "../audit/checks/publish-gates.ts";
import type { Lookups } from "../audit/checks/unmatched.ts";
import { collectGarbage } from "../common/gc.ts";
import { inStage } from "../common/run-events.ts";
import { decisionsOf, type Extraction, extract } from "../extract/extract.ts";
import type { HttpClient } from "../extract/http/client.ts";
import { observedAtOf, recordOf } from "../extract/journal.ts";
import { passOfStages } from "../extract/landing/checkpoint.ts";
import { landLookups } from "../extract/landing/land-lookups.ts";
import { Landing, LandingThreads } from "../extract/landing/landing.ts";
import { type CustomFieldLookup, createLookups, type DestinationLookup } from "../extract/lookups.ts";
import { EchoRedactor } from "../extract/pages/echo.ts";
import { ItemVersions } from "../extract/passes/item-versions.ts";
import { SINGLES_LIMITS } from "../extract/passes/single-item.ts";
import { wantedBy } from "../extract/wanted-columns.ts";
import { echoDrift } from "../raw/drift.ts";
import { type ExtractRecord, writeExtractRecord } from "../raw/extract-record.ts";
import { ItemIndex } from "../raw/item-index.ts";
import { type RawLookups, readLookups } from "../raw/raw-file.ts";
import { RawFiles, rawFolder } from "../raw/raw-files.ts";
import { RawIndex } from "../raw/raw-index.ts";
import { pageSizesOf } from "../warehouse/baseline.ts";
import { findMissing } from "../warehouse/previous-items.ts";
import { type RunContext, reportProgress } from "./context.ts";
import { policyOf } from "./personal-fields.ts";
import { openClient } from "./source.ts";

/** Which items there are, and where their documents lie. */
export interface Landed {
  readonly items: ItemIndex;
  readonly index: RawIndex;
}

/** What the requests of a run brought. */
export interface Extracted extends Lookups {
  readonly extraction: Extraction;
  /** What the documents do not say. */
  readonly record: ExtractRecord;
  /** Reads what the lookups landed. */
  readonly rawLookups: () => RawLookups;
  /** Gives the index away, once: it is large, and whoever takes it lets it go when the documents are read. */
  readonly takeIndex: () => Landed;
}

/** Errors: those of the service, and `source.rejects`. */
export async function runExtraction(run: RunContext): Promise<Extracted> {
  const { config, signal } = run.options;
  const client = openClient(run.source, run.options, run);
  try {
    const lookups = createLookups(client, config.lookupMethod, withoutToken(run));
    const wanted = run.pipeline.destinations ?? run.source.destinations;
    const destinations = await inStage(run, { stage: "lookups" }, () => lookups.destinations(wanted, signal));
    recordLookups(run, destinations);
    reportProgress(run, "lookups", 1, 2);
    const { extraction, landed, fieldNames } = await extractItems(run, client);
    judgeAnswers(config, extraction, run.journal);
    const { customFields } = run.pipeline;
    const names = customFields && [...config.customFields, ...customFields, ...fieldNames];
    const fields = await inStage(run, { stage: "lookups" }, () =>
      lookups.customFields(new Set(names), signal),
    );
    recordLookups(run, fields);
    reportProgress(run, "lookups", 2, 2);
    // What the passes were compared by is garbage now, and would stay beside what comes.
    collectGarbage();
    const files = rawFilesOf(run);
    const decisions = decisionsOf(extraction, run.journal, landed.items, run.options.clock.now());
    const record = await writeExtractRecord(files.record, decisions);
    const lookupFiles = landLookups(destinations, fields, {
      files,
      personal: policyOf(config, run.personalFields),
      drift: run.journal.drift,
      clock: run.options.clock,
    });
    return {
      destinations,
      fields,
      extraction,
      record,
      rawLookups: () => readLookups(lookupFiles),
      takeIndex: once(landed),
    };
  } finally {
    await client.close();
  }
}

function rawFilesOf({ staging, options }: RunContext): RawFiles {
  const { root: directory, sequence } = staging;
  return new RawFiles({ directory, folder: rawFolder(options.config), sequence });
}

function once<Value>(value: Value): () => Value {
  let kept: Value | undefined = value;
  return () => {
    if (kept === undefined) throw new TypeError("the index was taken already");
    const given = kept;
    kept = undefined;
    return given;
  };
}

/** Takes the token out of an answer that is read on this thread. */
function withoutToken({ source, journal }: RunContext): (bytes: Buffer) => Buffer {
  const echoes = new EchoRedactor(source.token);
  return (bytes) => {
    const redacted = echoes.redact(bytes);
    journal.takeDrift(echoDrift(redacted?.texts ?? new Map()));
    return redacted?.bytes ?? bytes;
  };
}

function recordLookups(
  { options, journal }: RunContext,
  { answered }: DestinationLookup | CustomFieldLookup,
): void {
  for (const { request, response } of answered) {
    const observedAt = observedAtOf(response, options.clock);
    const bytes = response.body.byteLength;
    journal.requests.add(recordOf(response, { mode: request.mode, observedAt, bytes }));
  }
}

async function extractItems(run: RunContext, client: HttpClient) {
  const { options, pipeline, staging, journal, resumed, checkpoint, source, baseline } = run;
  const { config, clock, signal, onProgress, threads: count } = options;
  const { listings } = pipeline;
  const wanted = wantedBy(pipeline, config);
  await using threads = new LandingThreads(count, {
    ...policyOf(config, run.personalFields),
    aliases: config.aliases,
    token: source.token.reveal(),
  });
  await mkdir(staging.temporary, { recursive: true, mode: 0o700 });
  const itemIndex = new ItemIndex();
  const index = new RawIndex(itemIndex);
  const files = rawFilesOf(run);
  const passOf = passOfStages(listings);
  const landing = new Landing({ threads, files, index, checkpoint, passOf, resumed, journal, clock });
  const extraction = await extract(
    {
      client,
      landing,
      journal,
      itemIndex,
      versions: new ItemVersions(itemIndex),
      clock,
      signal: AbortSignal.any([signal, threads.failure]),
      settings: {
        columns: wanted.columns,
        itemColumns: wanted.itemColumns,
        shapes: listings,
        concurrency: config.concurrency,
        singlesLimits: config.maxRejects ?? SINGLES_LIMITS,
      },
      onProgress: (progress) => onProgress({ ...progress, perSecond: run.throttle.slowedTo }),
      onEvent: run.onEvent,
    },
    {
      details: wanted.details,
      perPage: config.perPage,
      pageSizes: pageSizesOf(baseline),
      resumed,
      findMissing: async (listed) =>
        findMissing({
          baseline,
          temporaryDirectory: staging.temporary,
          listed,
          shrinkLimits: config,
          acceptShrink: config.acceptShrink,
        }),
    },
  );
  return { extraction, landed: { items: itemIndex, index }, fieldNames: landing.fieldNames };
}
