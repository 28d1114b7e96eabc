/** Whether a published run is what its raw documents give: it is built beside it, and compared. */
import { join } from "node:path";
import type { ReadableRun } from "../../audit/open-run.ts";
import { type Answer, col, section } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import { collectGarbage } from "../../common/gc.ts";
import { VERSION } from "../../common/version.ts";
import { publishes } from "../../pipeline.ts";
import { isAboutTheRun, RUN_TABLES } from "../../tables/all.ts";
import { differingTables, EXAMPLE_COLUMNS, type TableDifference } from "../../warehouse/differing-tables.ts";
import { databaseOf } from "../../warehouse/layout.ts";
import { sourceOf, type TablesSource } from "../../warehouse/published-tables.ts";
import { damageIn } from "../../warehouse/raw-documents.ts";
import { findingIn } from "../../warehouse/verify.ts";
import { type RebuildRequest, type Rebuilt, rebuild } from "./rebuild.ts";

export interface ReplayVerification {
  readonly run: string;
  /** Tables that were compared. */
  readonly tables: number;
  readonly differences: readonly TableDifference[];
  /** Data files whose bytes were compared, and the paths of those that are others; none at another version. */
  readonly files: number;
  readonly otherFiles: readonly string[];
  /** Version of the program that made the run, where it is another than this one: then it may differ. */
  readonly otherVersion: string | null;
}

/**
 * Changes nothing in the warehouse. Throws `verify.failed` where a published file is not as the manifest says, and what
 * {@link rebuild} throws.
 */
export async function verifyReplay(request: RebuildRequest): Promise<ReplayVerification> {
  const { published } = request;
  await assertWhole(published);
  const rebuilt = await rebuild(request);
  // What it was built with would stay beside what the comparison takes.
  collectGarbage();
  const { manifest } = published;
  const isSame = manifest.versions.package === VERSION;
  const data = isSame ? dataFilesOf(published) : [];
  const otherFiles: string[] = [];
  for (const file of data) {
    if ((await findingIn(rebuilt.staging.result, file)) !== undefined) otherFiles.push(file.path);
  }
  return {
    run: published.run,
    tables: Object.keys(manifest.rows).length,
    differences: await compare(published, rebuilt),
    files: data.length,
    otherFiles,
    otherVersion: isSame ? null : manifest.versions.package,
  };
}

/** What is built again is held against the manifest, so the files must be what it says. Raw ones are looked at as they are read. */
async function assertWhole({ run, directory, manifest }: ReadableRun): Promise<void> {
  const finding = await damageIn(
    directory,
    manifest.files.filter(({ path }) => !path.startsWith("raw/")),
  );
  if (finding === undefined) return;
  throw new WarehouseError(
    "verify.failed",
    `Run ${run} is damaged: ${finding}; name another run, or restore this one.`,
  );
}

function compare(published: ReadableRun, rebuilt: Rebuilt): Promise<TableDifference[]> {
  const { staging, pipeline, built } = rebuilt;
  const source = sourceOf(published, { isQuestioned: true });
  return differingTables({
    published: { tables: Object.keys(published.manifest.rows), source },
    rebuilt: {
      tables: built.tables.map(({ table }) => table),
      source: source.database === undefined ? parquetOf(rebuilt) : databaseIn(rebuilt),
    },
    declared: [...pipeline.tables, ...RUN_TABLES],
    temporaryDirectory: staging.temporary,
  });
}

function databaseIn({ staging, pipeline }: Rebuilt): TablesSource {
  const database = databaseOf(staging, publishes(pipeline, "duckdb"));
  return { directory: staging.result, database, filesOf: () => [] };
}

function parquetOf({ staging, built }: Rebuilt): TablesSource {
  const files = new Map(built.tables.map(({ table, files: paths }) => [table, paths]));
  return {
    directory: staging.result,
    database: undefined,
    filesOf: (table) => (files.get(table) ?? []).map(({ path }) => join(staging.result, path)),
  };
}

/** Parquet files of all tables but those about the run itself. */
function dataFilesOf({ manifest }: ReadableRun) {
  return manifest.files.filter(({ path }) => {
    const [folder, table = ""] = path.split("/");
    return folder === "parquet" && !isAboutTheRun(table);
  });
}

const TABLES = {
  table: col.name({ required: true }),
  published: col.count({ head: "published only" }),
  rebuilt: col.count({ head: "built again only" }),
} as const;

const FILES = { path: col.name({ required: true }) } as const;

/** Whether the run may be trusted to be what its documents give. */
export function isAsBuilt({ differences, otherFiles, otherVersion }: ReplayVerification): boolean {
  return otherVersion !== null || (differences.length === 0 && otherFiles.length === 0);
}

export function replayAnswer(verification: ReplayVerification): Answer {
  const { run, tables, files, differences, otherFiles, otherVersion } = verification;
  return {
    lead: leadOf(verification),
    isWell: differences.length === 0 && otherFiles.length === 0,
    facts: { run, tables, files, other_version: otherVersion },
    sections: [
      section({
        key: "differences",
        title: "Tables that differ",
        none: "",
        columns: TABLES,
        rows: differences.map(({ table, published, rebuilt }) => ({ table, published, rebuilt })),
      }),
      section({
        key: "examples",
        title: "Examples",
        none: "",
        columns: EXAMPLE_COLUMNS,
        rows: differences.flatMap(({ examples }) => examples),
        keys: 2,
      }),
      section({
        key: "files",
        title: "Files with other bytes",
        none: "",
        columns: FILES,
        rows: otherFiles.map((path) => ({ path })),
      }),
    ],
  };
}

function leadOf({ run, tables, files, differences, otherFiles, otherVersion }: ReplayVerification): string {
  const built = otherVersion === null ? "" : ` by version ${VERSION} where ${otherVersion} made it`;
  if (differences.length > 0) {
    return `Run ${run} was built again${built}: ${counted(differences.length, "table")} of ${tables} differ.`;
  }
  if (otherFiles.length > 0) {
    return `Run ${run} was built again: its rows are equal, and ${counted(otherFiles.length, "data file")} of ${files} have other bytes.`;
  }
  const bytes = files === 0 ? "" : `, and so are the bytes of ${counted(files, "data file")}`;
  return `Run ${run} was built again${built}: the rows of ${counted(tables, "table")} are equal${bytes}.`;
}
