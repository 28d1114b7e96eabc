import { chmod, cp, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { type OpenedRun, openRun } from "../../src/audit/open-run.ts";
import { removeTree } from "../../src/common/tree.ts";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { DATABASE_FILE, outputFolder } from "../../src/warehouse/layout.ts";
import { MANIFEST_FILE, type Manifest } from "../../src/warehouse/manifest.ts";

/**
 * A warehouse with a run of the sample: a copy of what `test/global-setup.ts` made, where it did. It is removed when the
 * tests of the file are done; call it outside of hooks.
 */
export async function sampleWarehouse(pipeline: "nightly" | "parquet" | URL = "nightly"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "audit-"));
  after(() => removeTree(folder));
  const out = join(folder, "warehouse");
  const made = process.env.SAMPLE_WAREHOUSE;
  if (made === undefined || pipeline instanceof URL) {
    await runPipeline({ pipeline, sample: true, warehouse: out, cwd: folder });
    return out;
  }
  await cp(made, out, { recursive: true, verbatimSymlinks: true });
  if (pipeline === "parquet") await removeDatabase(await realpath(join(out, "current")));
  return out;
}

/** Leaves of a run what the pipeline `parquet` publishes, which has the same stages. */
async function removeDatabase(run: string): Promise<void> {
  const file = join(run, MANIFEST_FILE);
  await Promise.all([chmod(run, 0o755), chmod(file, 0o644)]);
  await rm(join(run, DATABASE_FILE));
  const manifest: Manifest = JSON.parse(await readFile(file, "utf8"));
  const files = manifest.files.filter(({ path }) => path !== DATABASE_FILE);
  await writeFile(file, JSON.stringify({ ...manifest, pipeline: "parquet", loaders: ["parquet"], files }));
}

export async function opened(out: string): Promise<OpenedRun> {
  return openRun({
    folder: outputFolder(out),
    wanted: "current",
    temporaryDirectory: join(out, "..", "spilled"),
  });
}
