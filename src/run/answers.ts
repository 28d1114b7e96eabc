/** All requests of a run: lookups, listings, single items. */
import { mkdir } from "node:fs/promises";
import type { HttpClient } from "../extract/http/client.ts";
import { DECODE_LIMITS } from "../extract/pages/decode.ts";
import { EchoRedactor } from "../extract/pages/echo.ts";
import { type CustomFieldLookup, createLookups, type DestinationLookup } from "../extract/lookups.ts";
import { echoDrift } from "../raw/drift.ts";
import { pageSizesOf } from "../warehouse/baseline.ts";
import { Catalogue } from "../extract/passes/pass-snapshot.ts";
import { hashKeyOf, type RunContext, tell } from "./context.ts";
import { type Extraction, extract } from "./extraction.ts";
import { Holdings } from "../extract/passes/item-versions.ts";
import { observedAtOf, recordOf } from "../extract/journal.ts";
import { judgeAnswers } from "../audit/checks/publish-gates.ts";
import { letGo } from "../common/gc.ts";
import { findMissing } from "../warehouse/previous-items.ts";
import { rawFolder } from "./raw-files.ts";
import { SINGLES_LIMITS } from "../extract/passes/single-item.ts";
import { openClient } from "./source.ts";
import type { Lookups } from "../audit/checks/unmatched.ts";
import { columnsOf, itemColumnsOf } from "./wanted-columns.ts";
import { Workers } from "./workers.ts";

/** What the requests of a run brought. */
export interface Found extends Lookups {
  readonly extraction: Extraction;
}

/** Errors: those of the source, and `source.rejects`. */
export async function findAnswers(run: RunContext): Promise<Found> {
  const { config, signal } = run.options;
  const client = openClient(run.source, run.options, run.throttle);
  try {
    const lookups = createLookups(client, config.lookupMethod, withoutToken(run));
    const destinations = await lookups.destinations(run.source.destinations, signal);
    recordLookups(run, destinations);
    tell(run, "lookups", 1, 2);
    const { extraction, asked } = await extractFrom(run, client, (names) =>
      lookups.customFields(names, signal),
    );
    run.journal.items = extraction.items;
    // What the passes were held against each other by is garbage now, and would stay beside what the database takes.
    letGo();
    judgeAnswers(config, extraction, run.journal);
    const fields = await asked;
    recordLookups(run, fields);
    tell(run, "lookups", 2, 2);
    return { destinations, fields, extraction };
  } finally {
    await client.close();
  }
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

interface Extracted {
  readonly extraction: Extraction;
  /** Of all custom fields that the items carry: under way when the items are read. */
  readonly asked: Promise<CustomFieldLookup>;
}

async function extractFrom(
  run: RunContext,
  client: HttpClient,
  ask: (names: Set<string>) => Promise<CustomFieldLookup>,
): Promise<Extracted> {
  const { options, staging, journal, kept, checkpoint } = run;
  const { config, clock, signal, onProgress, threads, pipelineUrl } = options;
  await using workers = new Workers(threads, pipelineUrl, {
    directory: staging.root,
    policy: config.personalData.policy,
    hashKey: hashKeyOf(config.personalData),
    aliases: config.aliases,
    limits: DECODE_LIMITS,
    token: run.source.token.reveal(),
  });
  await mkdir(staging.temporary, { recursive: true, mode: 0o700 });
  const settings = {
    columns: columnsOf(config),
    itemColumns: itemColumnsOf(config),
    concurrency: config.concurrency,
    singlesLimits: config.maxRejects ?? SINGLES_LIMITS,
  };
  const catalogue = new Catalogue();
  const holdings = new Holdings(catalogue);
  const anyEnd = AbortSignal.any([signal, workers.failure]);
  const extraction = await extract(
    {
      client,
      workers,
      journal,
      catalogue,
      holdings,
      clock,
      signal: anyEnd,
      settings,
      onProgress: (progress) => onProgress({ ...progress, perSecond: run.throttle.slowedTo }),
    },
    {
      details: config.details,
      perPage: config.perPage,
      pageSizes: pageSizesOf(run.baseline),
      directory: staging.root,
      raw: rawFolder(config),
      temporaryDirectory: staging.temporary,
      sequence: staging.sequence,
      kept,
      checkpoint,
      findMissing: async (listed) =>
        findMissing({
          baseline: run.baseline,
          runs: run.folder.runs,
          temporaryDirectory: staging.temporary,
          listed,
          acceptShrink: config.acceptShrink,
        }),
    },
  );
  // The threads end meanwhile, which takes as long.
  const asked = ask(fieldNames(run));
  // Where the run ends before it looks, its failure is not this one.
  asked.catch(() => {});
  return { extraction, asked };
}

/** Names of the custom fields that the items carry, and those that the configuration names. */
function fieldNames({ options, journal }: RunContext): Set<string> {
  const names = new Set(options.config.customFields);
  for (const { attributes } of journal.store.of("custom_fields")) {
    if (typeof attributes.name === "string") names.add(attributes.name);
  }
  return names;
}
