import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/common/clock.ts";
import { exportTables, fillTable } from "../../src/load/load-table.ts";
import type { RunAsked, RunFound } from "../../src/raw/extract-record.ts";
import { type Database, openForBuilding } from "../../src/storage/database.ts";
import { createTable } from "../../src/storage/ddl.ts";
import { execute } from "../../src/storage/duckdb.ts";
import {
  createStaging,
  nextRun,
  type OutputFolder,
  removeStaging,
  type StagingFolder,
} from "../../src/warehouse/layout.ts";
import { prepareOutput } from "../../src/warehouse/lock.ts";
import type { Manifest, ManifestDraft } from "../../src/warehouse/manifest.ts";
import { publishRun } from "../../src/warehouse/publish.ts";
import { column, stageTags, TAGS, type Tag, table } from "../load/fixtures.ts";

const CONTENT = table(
  "content",
  "derived",
  ["content_id"],
  [column("content_id", "text", false), column("title", "text")],
);

/** Tags of `items` items, whose text tells the runs apart. */
const tagsOf = (items: number, text: string): Tag[] =>
  Array.from({ length: items }, (_, index) => ({
    content_id: `item-${String(index).padStart(4, "0")}`,
    ordinal: 0,
    tag: text,
  }));

export const ASKED: RunAsked = {
  pipeline: { name: "nightly", module: "nightly" },
  origin: "https://example.org",
  configuration: "f00d",
  shapes: ["dynamic", "full"],
  columns: [],
  singleItems: "none",
  destinations: [],
  allDestinations: false,
  ignoreDestinations: [],
  extraColumns: [],
  definitions: true,
  customFields: [],
  aliases: {},
  perPage: "auto",
  limit: null,
  personalData: { policy: "drop", keyId: null, customFieldIds: [] },
  documentSettings: { version: "", policy: "", hashKey: "", aliases: "", personalFields: "", columns: "" },
  gates: { contract: "evolve", maxRejects: null, maxShrinkPercent: 20, minShrink: 5 },
  accepted: { shrink: false, newAddress: false, lost: false },
};

export const FOUND: RunFound = {
  passes: [],
  disagreements: [],
  modesDiffer: false,
  singleItems: { requested: 0, reused: 0 },
  reuseDamage: null,
  pageSizes: {},
  startedAt: "2026-11-20T02:00:00.000Z",
  resumedAt: [],
  extractedAt: "2026-11-20T02:00:01.000Z",
  requests: { count: 1, bytes: 1 },
  throttled: null,
  outages: null,
};

export function statement(
  { run, sequence }: Pick<StagingFolder, "run" | "sequence">,
  items: number,
): ManifestDraft {
  return {
    run,
    sequence,
    asked: ASKED,
    found: FOUND,
    loaders: ["duckdb", "parquet"],
    instance: { id: "instance-1", origin: "https://example.org" },
    verdict: "complete",
    reasons: [],
    warnings: [],
    rows: { content: items, content_tags: items },
    items: {
      listed: items,
      loaded: items,
      rejected: 0,
      vanished: 0,
      unread: 0,
      listedLast: items,
      counted: items,
    },
    changes: null,
    mappedValues: null,
    mappedChanges: null,
    emptyColumns: [],
    columns: [],
    peakBytes: 1,
    versions: { package: "0.1.0", duckdb: "1.5.6", node: "24.21.0" },
    previousRun: null,
    replayOf: null,
    ancestors: [],
  };
}

/** Items of the results that are staged for a fault to meet them. */
export const STAGED_ITEMS = 4;

/** Staged and closed, not yet published: `items` items, each with one tag. */
export async function buildResult(folder: OutputFolder, run: string, items: number): Promise<StagingFolder> {
  const staging = await createStaging(folder, run);
  await using database = await openIn(staging);
  const common = { bounds: ["", "item-0002"], finalDirectory: staging.result, sequence: staging.sequence };
  const parts = [await stageTags(join(staging.parts, "1.parquet"), tagsOf(items, run))];
  await fillTable(database.connection, { ...common, table: TAGS, from: parts });
  await createTable(database.connection, CONTENT);
  await execute(database.connection, "INSERT INTO content SELECT content_id, $1 FROM content_tags", [run]);
  await exportTables([database.connection], { ...common, tables: [CONTENT] });
  await database.close();
  return staging;
}

export const NIGHT = new Date("2026-11-20T02:00:00Z");

/** A clock that stands where the night's publication is done. */
const AT_THE_END: Clock = { ...systemClock, now: () => Date.UTC(2026, 10, 20, 2, 1, 2, 500) };

/** A whole small publication. */
export async function publish(out: string, items = 3, previousRun: string | null = null): Promise<Manifest> {
  const folder = await prepareOutput(out);
  const staging = await buildResult(folder, await nextRun(folder, NIGHT), items);
  const manifest = await publishRun(
    folder,
    staging,
    { ...statement(staging, items), previousRun },
    AT_THE_END,
  );
  await removeStaging(folder, staging.run);
  return manifest;
}

/** A publication of a database without tables, which takes a fraction of the time. */
export async function publishEmpty(out: string): Promise<Manifest> {
  const folder = await prepareOutput(out);
  const staging = await stageEmpty(folder);
  const manifest = await publishRun(folder, staging, emptyStatement(staging), AT_THE_END);
  await removeStaging(folder, staging.run);
  return manifest;
}

let emptyDatabase: Promise<Buffer> | undefined;

/** Staged, not yet published. The database is made once, and copied. */
export async function stageEmpty(folder: OutputFolder): Promise<StagingFolder> {
  const staging = await createStaging(folder, await nextRun(folder, NIGHT));
  emptyDatabase ??= (async () => {
    await (await openIn(staging)).close();
    return readFile(staging.database);
  })();
  await writeFile(staging.database, await emptyDatabase);
  return staging;
}

export function emptyStatement(staging: StagingFolder): ManifestDraft {
  return { ...statement(staging, 0), loaders: ["duckdb"], rows: {} };
}

function openIn(staging: StagingFolder): Promise<Database> {
  return openForBuilding({
    file: staging.database,
    staging: staging.root,
    temporaryDirectory: staging.temporary,
    memoryLimitMb: 128,
    previous: undefined,
  });
}
