import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { type OpenedRun, openRun } from "../../src/audit/open-run.ts";
import { removeTree } from "../../src/common/tree.ts";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";

/**
 * A warehouse with a run of the sample: a copy of what `test/global-setup.ts` made, where it did. It is removed when the
 * tests of the file are done; call it outside of hooks.
 */
export async function sampleWarehouse(pipeline: "nightly" | "parquet" | URL = "nightly"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "audit-"));
  after(() => removeTree(folder));
  const out = join(folder, "warehouse");
  const made = process.env.SAMPLE_WAREHOUSES;
  if (made === undefined || pipeline instanceof URL) {
    await runPipeline({ pipeline, sample: true, warehouse: out, cwd: folder });
  } else {
    await cp(join(made, pipeline, "warehouse"), out, { recursive: true, verbatimSymlinks: true });
  }
  return out;
}

export async function opened(out: string): Promise<OpenedRun> {
  return openRun({
    folder: outputFolder(out),
    wanted: "current",
    temporaryDirectory: join(out, "..", "spilled"),
  });
}
