/** Makes all requests of a run, and writes the raw documents and the extract record. */
import { hash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { scalarText } from "../api/normalize.ts";
import { assertFewRejects } from "../audit/checks/publish-gates.ts";
import { collectGarbage } from "../common/free-memory.ts";
import { configFingerprint, treatmentOf } from "../config/config.ts";
import { planColumns } from "../extract/column-plan.ts";
import { extract } from "../extract/extract.ts";
import type { ResumeState } from "../extract/landing/checkpoint.ts";
import { Landing } from "../extract/landing/landing.ts";
import { type CustomFieldLookup, landLookups } from "../extract/lookups.ts";
import { ItemVersions } from "../extract/passes/item-versions.ts";
import { stageRows } from "../load/staged-rows.ts";
import {
  EXTRACT_FILE,
  type Extraction,
  type ExtractRecord,
  type RunFound,
  writeExtractRecord,
} from "../raw/extract-record.ts";
import { ItemIndex } from "../raw/item-index.ts";
import { type RawFolder, RawPaths, rawFolderOf } from "../raw/raw-folder.ts";
import { RawIndex } from "../raw/raw-index.ts";
import { tablesOfRun } from "../tables/run.ts";
import { pipelineModule } from "../transform/pipelines.ts";
import type { Baseline } from "../warehouse/baseline.ts";
import { findMissingItems } from "../warehouse/missing-items.ts";
import type { NewRun, RunInputs } from "./inputs.ts";
import type { PreparedRun } from "./prepare.ts";
import type { ResumeRecord } from "./resume.ts";
import { documentSettings, reuseOf } from "./reuse.ts";
import { requestRows, rowsOf } from "./run-tables.ts";
import { personalFieldIds } from "./session.ts";
import { originOf } from "./source.ts";

interface LandRequest {
  readonly run: NewRun;
  readonly session: PreparedRun["session"];
  readonly inputs: RunInputs;
  readonly resumeRecord: ResumeRecord;
  /** Answers from before the run was resumed. */
  readonly kept: ResumeState;
}

/** Throws the errors of the service, and `source.rejects`. Closes the client. */
export async function land(request: LandRequest): Promise<RawFolder> {
  const { run, session, inputs } = request;
  const { config, onProgress } = inputs;
  const { client, journal, destinations } = session;
  const { customFields } = run.pipeline;
  try {
    onProgress({ stage: "lookups", done: 1, total: 2, items: 0, bytes: 0 });
    const plan = planOf(request);
    const { extraction, index } = await extractItems(request, plan);
    assertFewRejects(config, extraction.items, journal);
    const names = customFields && [...config.customFields, ...customFields, ...journal.fieldNames];
    const fields = await session.customFields(names ?? []);
    onProgress({ stage: "lookups", done: 2, total: 2, items: extraction.items.count, bytes: 0 });
    // Frees what the passes were compared by, before the next steps need memory.
    collectGarbage();
    const { files, personal } = plan;
    landLookups(destinations, fields, { files, personal, drift: journal.drift });
    stageRows(requestRows(journal.requestsInOrder()), (part) => files.ofNotes("requests", part));
    const found = journal.rejects.toSorted(
      (a, b) => a.pass - b.pass || a.page - b.page || a.position - b.position,
    );
    const rejected = rowsOf(tablesOfRun.rejects, found, ({ document }, place) => ({
      reject: place + 1,
      sha256: hash("sha256", document),
    }));
    stageRows(rejected, (part) => files.ofNotes("rejects", part));
    const record = extractRecordOf(request, plan, extraction, index.items, fields);
    const facts = await writeExtractRecord(join(files.folder, EXTRACT_FILE), record);
    return rawFolderOf(files.folder, facts, index);
  } finally {
    await client.close();
  }
}

/** What is requested, what a document becomes, and where it is written. */
function planOf({ run: { pipeline, staging }, session: { personalFields: fields }, inputs }: LandRequest) {
  const { config } = inputs;
  const { policy, key } = config.personalData;
  const { aliases } = config;
  const wanted = planColumns(pipeline, config);
  const { columns } = wanted;
  return {
    wanted,
    personal: { policy, hashKey: key === null ? undefined : Buffer.from(key.reveal()), fields },
    settings: documentSettings({
      ...treatmentOf(config.personalData),
      aliases,
      personalFields: fields,
      columns,
    }),
    // Published if they are below `result`.
    files: new RawPaths(join(staging.root, config.raw ? "result" : "", "raw"), staging.sequence),
  };
}

type LandPlan = ReturnType<typeof planOf>;

async function extractItems(
  { run, session, inputs, kept }: LandRequest,
  { wanted, personal, settings, files }: LandPlan,
) {
  const { pipeline, staging, baseline } = run;
  const { client, journal, token, retry } = session;
  const { config, clock, signal, onProgress } = inputs;
  const { listings } = pipeline;
  const { details, columns, itemColumns } = wanted;
  await mkdir(staging.temporary, { recursive: true, mode: 0o700 });
  const itemIndex = new ItemIndex();
  const index = new RawIndex(itemIndex);
  await using landing = new Landing({
    threads: inputs.threads,
    lander: {
      ...personal,
      aliases: config.aliases,
      token: token.reveal(),
      details,
      settings: JSON.stringify(settings),
    },
    files,
    index,
    directory: staging.root,
    resumeState: kept,
    listings: listings.length,
    journal,
    clock,
  });
  const context = {
    client,
    landing,
    journal,
    itemIndex,
    versions: new ItemVersions(itemIndex),
    gone: new Map(),
    clock,
    signal: AbortSignal.any([signal, landing.failure]),
    settings: {
      columns,
      itemColumns,
      shapes: listings,
      concurrency: config.concurrency,
      singlesLimits: config.maxRejects,
      limit: config.limit,
    },
    onProgress: (progress: Parameters<typeof onProgress>[0]) =>
      onProgress({ ...progress, perSecond: retry.pace.slowedTo }),
  };
  const extraction = await extract(context, {
    details,
    perPage: config.perPage,
    pageSizes: pageSizesFound(baseline),
    reuse: () => reuseOf(run, config.rereadDays),
    findMissing: (listed) =>
      findMissingItems({
        baseline,
        temporaryDirectory: staging.temporary,
        listed,
        shrinkLimits: config,
        acceptShrink: config.acceptShrink,
      }),
  });
  return { extraction, index };
}

/** Page sizes that `perPage: "auto"` found in the run before. */
function pageSizesFound(baseline: Baseline): RunFound["pageSizes"] {
  if (baseline.kind !== "run" || baseline.manifest.asked.perPage !== "auto") return {};
  return baseline.manifest.found.pageSizes;
}

/** All that the tables are built from, besides the raw documents. */
function extractRecordOf(
  { run, session, inputs, resumeRecord }: LandRequest,
  { wanted, settings }: LandPlan,
  extraction: Extraction,
  index: ItemIndex,
  fields: CustomFieldLookup,
): Omit<ExtractRecord, "version"> {
  const { journal, retry, personalFields, destinations } = session;
  const { config, clock } = inputs;
  const { contract, maxRejects, maxShrinkPercent, minShrink } = config;
  const { reading, items } = extraction;
  const rejected = journal.rejects.map(({ contentId }) => contentId);
  const instant = (milliseconds: number) => new Date(milliseconds).toISOString();
  return {
    asked: {
      pipeline: { name: run.pipeline.name, module: pipelineModule(inputs.pipeline) },
      origin: originOf(config),
      configuration: configFingerprint(config),
      shapes: run.pipeline.listings,
      columns: wanted.columns,
      singleItems: wanted.details,
      destinations: session.wanted.map(({ name, platform }) => ({ name, platform })),
      allDestinations: config.source.kind === "sample" && config.destinations.length === 0,
      ignoreDestinations: config.ignoreDestinations,
      extraColumns: config.extraColumns,
      definitions: run.pipeline.customFields !== undefined,
      customFields: config.customFields,
      aliases: config.aliases,
      perPage: config.perPage,
      limit: config.limit,
      personalData: { ...treatmentOf(config.personalData), customFieldIds: personalFieldIds(personalFields) },
      documentSettings: settings,
      gates: { contract, maxRejects, maxShrinkPercent, minShrink },
      accepted: {
        shrink: config.acceptShrink,
        newAddress: config.acceptNewAddress,
        lost: config.acceptLost,
      },
    },
    found: {
      ...reading,
      startedAt: instant(resumeRecord.startedMs),
      resumedAt: resumeRecord.resumedMs.map(instant),
      extractedAt: instant(clock.now()),
      requests: {
        count: journal.requests.length,
        bytes: journal.requests.reduce((sum, { bytes }) => sum + bytes, 0),
      },
      throttled: retry.pace.totals,
      outages: retry.outages.totals,
    },
    items,
    unmatched: {
      destinations: destinations.unmatched.map(({ name, platform }) => ({ name, platform })),
      otherDestinations: destinations.others.map(({ id, identification, platform }) => ({
        name: scalarText(identification) ?? id,
        platform: scalarText(platform) ?? null,
      })),
      customFields: fields.unmatched,
    },
    unreadable: [...rejected.filter((id) => id !== null), ...items.missing.skipped],
    rejectedWithoutId: rejected.includes(null),
    drift: journal.drift.sorted(),
    bytesPerItem: Object.fromEntries([...index.pages].map(([pass, bytes]) => [pass, [...bytes]])),
  };
}
