import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { type OpenedRun, openRun } from "../../src/audit/open-run.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { removeTree } from "../../src/common/tree.ts";

/** A warehouse with a run of the sample, removed when the tests of the file are done; call it outside of hooks. */
export async function sampleWarehouse(pipeline: "nightly" | "parquet" | URL = "nightly"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "audit-"));
  after(() => removeTree(folder));
  const out = join(folder, "warehouse");
  await runPipeline({ pipeline, sample: true, out, cwd: folder });
  return out;
}

export async function opened(out: string, wanted = "current"): Promise<OpenedRun> {
  return openRun({ folder: outputFolder(out), wanted, temporaryDirectory: join(out, "..", "spilled") });
}
