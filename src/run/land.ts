/** All requests of a run: lookups, listings, single items. What they bring lands as raw documents and a statement of facts. */
import { mkdir } from "node:fs/promises";
import { judgeAnswers } from "../audit/checks/publish-gates.ts";
import { collectGarbage } from "../common/gc.ts";
import { type ColumnPlan, planColumns } from "../extract/column-plan.ts";
import { extract } from "../extract/extract.ts";
import type { HttpClient } from "../extract/http/client.ts";
import { landLookups } from "../extract/land-lookups.ts";
import { observedAtOf, recordOf } from "../extract/landing/journal.ts";
import { Landing, LandingThreads } from "../extract/landing/landing.ts";
import { type CustomFieldLookup, type DestinationLookup, Lookups } from "../extract/lookups.ts";
import { EchoRedactor } from "../extract/pages/echo.ts";
import { ItemVersions } from "../extract/passes/item-versions.ts";
import { stageRows } from "../load/staged-rows.ts";
import { echoDrift } from "../raw/drift.ts";
import { writeExtractRecord } from "../raw/extract-record.ts";
import { ItemIndex } from "../raw/item-index.ts";
import { RawFiles, rawFolder } from "../raw/raw-files.ts";
import { RawIndex } from "../raw/raw-index.ts";
import { type Landed, landedIn } from "../raw/read-raw.ts";
import { pageSizesOf } from "../warehouse/baseline.ts";
import { findMissing } from "../warehouse/previous-items.ts";
import { type RunContext, reportProgress } from "./context.ts";
import { factsOf, wantedDestinations } from "./facts.ts";
import { assertNoneMisspelled, knownDestinations } from "./known-destinations.ts";
import { policyOf } from "./personal-fields.ts";
import { documentSettings, reuseOf } from "./reuse.ts";
import { rejectRows, requestRows } from "./run-tables.ts";
import { openClient } from "./source.ts";

/** Errors: those of the service, and `source.rejects`. */
export async function land(run: RunContext): Promise<Landed> {
  const { config, signal } = run.options;
  const client = openClient(run.source, run.options, { ...run, onAttempt: run.observers.onAttempt });
  try {
    const lookups = new Lookups(client, config.lookupMethod, withoutToken(run));
    const wanted = planColumns(run.pipeline, config);
    const destinations = await lookups.destinations(wantedDestinations(run), signal);
    recordLookups(run, destinations);
    await assertNoneMisspelled(destinations, run.baseline, () =>
      knownDestinations(client, config.aliases, signal),
    );
    reportProgress(run, "lookups", 1, 2);
    const { extraction, landed, fieldNames } = await extractItems(run, client, wanted);
    judgeAnswers(config, extraction, run.journal);
    const { customFields } = run.pipeline;
    const names = customFields && [...config.customFields, ...customFields, ...fieldNames];
    const fields = await lookups.customFields(new Set(names), signal);
    recordLookups(run, fields);
    reportProgress(run, "lookups", 2, 2);
    // What the passes were compared by is garbage now, and would stay beside what comes.
    collectGarbage();
    const files = rawFilesOf(run);
    landLookups(destinations, fields, {
      files,
      personal: policyOf(config, run.personalFields),
      drift: run.journal.drift,
      clock: run.options.clock,
    });
    stageRows(requestRows(run.journal.requests), (part) => files.ofNotes("requests", part));
    stageRows(rejectRows(run.journal.rejects), (part) => files.ofNotes("rejects", part));
    const answered = { wanted, extraction, items: landed.items, destinations, fields };
    const facts = await writeExtractRecord(files.record, factsOf(run, answered));
    return landedIn(files.folder, facts, landed);
  } finally {
    await client.close();
  }
}

function rawFilesOf({ staging, options }: RunContext): RawFiles {
  const { root: directory, sequence } = staging;
  return new RawFiles({ directory, folder: rawFolder(options.config), sequence });
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
  { responses }: DestinationLookup | CustomFieldLookup,
): void {
  for (const { request, response } of responses) {
    const observedAt = observedAtOf(response, options.clock);
    const bytes = response.body.byteLength;
    journal.requests.add(recordOf(response, { mode: request.mode, observedAt, bytes }));
  }
}

async function extractItems(run: RunContext, client: HttpClient, wanted: ColumnPlan) {
  const { options, pipeline, staging, journal, kept, source, baseline } = run;
  const { config, clock, signal, onProgress, threads: count } = options;
  const { listings } = pipeline;
  await using threads = new LandingThreads(count, {
    ...policyOf(config, run.personalFields),
    aliases: config.aliases,
    token: source.token.reveal(),
    details: wanted.details,
    settings: JSON.stringify(documentSettings(run, wanted)),
  });
  await mkdir(staging.temporary, { recursive: true, mode: 0o700 });
  const itemIndex = new ItemIndex();
  const index = new RawIndex(itemIndex);
  const files = rawFilesOf(run);
  const directory = staging.root;
  const place = { threads, files, index, directory, resumeState: kept, listings: listings.length };
  const landing = new Landing({ ...place, journal, clock });
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
        singlesLimits: config.maxRejects,
        limit: config.limit,
      },
      onProgress: (progress) => onProgress({ ...progress, perSecond: run.retry.slowedTo }),
    },
    {
      details: wanted.details,
      perPage: config.perPage,
      pageSizes: pageSizesOf(baseline),
      reuse: () => reuseOf(run, documentSettings(run, wanted)),
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
