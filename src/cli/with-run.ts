import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OpenedRun, openRun } from "../audit/open-run.ts";
import { existingFolder } from "./runs.ts";

/** Opens a published run for a question, and lets go of it afterwards. */
export async function withRun<T>(
  out: string,
  wanted: string,
  use: (opened: OpenedRun, temporaryDirectory: string) => Promise<T>,
): Promise<T> {
  const folder = existingFolder(out);
  const temporaryDirectory = await mkdtemp(join(tmpdir(), "content-warehouse-audit-"));
  try {
    await using opened = await openRun({ folder, wanted, temporaryDirectory });
    return await use(opened, temporaryDirectory);
  } finally {
    await rm(temporaryDirectory, { recursive: true, force: true });
  }
}
