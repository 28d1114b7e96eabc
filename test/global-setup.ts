/** A run of the sample that many test files ask about, made once for all of them; each takes a copy. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../src/common/tree.ts";
import { runPipeline } from "../src/run/run-pipeline.ts";

let folder: string | undefined;

export async function globalSetup(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "samples-"));
  const warehouse = join(folder, "warehouse");
  await runPipeline({ pipeline: "nightly", sample: true, warehouse, cwd: folder });
  process.env.SAMPLE_WAREHOUSE = warehouse;
}

export async function globalTeardown(): Promise<void> {
  if (folder !== undefined) await removeTree(folder);
}
