/** Runs of the sample that many test files ask about, made once for all of them; each takes a copy. */
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../src/common/tree.ts";
import { runPipeline } from "../src/run/run-pipeline.ts";

let folder: string | undefined;

export async function globalSetup(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "samples-"));
  const made = (["nightly", "parquet"] as const).map(async (pipeline) => {
    const cwd = join(folder ?? "", pipeline);
    await mkdir(cwd);
    await runPipeline({ pipeline, sample: true, warehouse: join(cwd, "warehouse"), cwd });
  });
  await Promise.all(made);
  process.env.SAMPLE_WAREHOUSES = folder;
}

export async function globalTeardown(): Promise<void> {
  if (folder !== undefined) await removeTree(folder);
}
