/** A verified replay of a night of `nights.ts`, in a process of its own: prints what it found, and what it cost. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { findReadable } from "../../src/audit/open-run.ts";
import { keepHeapsSmall } from "../../src/cli/v8-flags.ts";
import { silentLog } from "../../src/common/log.ts";
import { removeTree } from "../../src/common/tree.ts";
import { type ReplayVerification, verifyReplay } from "../../src/run/replay/verify-replay.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { type Measured, measured } from "./measured.ts";

export interface VerificationReport
  extends Measured,
    Pick<ReplayVerification, "tables" | "files" | "differences" | "otherFiles"> {
  readonly seconds: number;
}

/** Absolute path of a run's folder, as JSON. */
const [, , argument = ""] = process.argv;

async function report(directory: string): Promise<VerificationReport> {
  keepHeapsSmall();
  const folder = outputFolder(join(directory, "../.."));
  const place = await mkdtemp(join(tmpdir(), "content-warehouse-replay-"));
  const began = performance.now();
  try {
    const { tables, files, differences, otherFiles } = await verifyReplay({
      folder,
      published: await findReadable(folder, basename(directory)),
      place,
      threads: 2,
      signal: new AbortController().signal,
      onProgress: () => {},
      log: silentLog,
    });
    const seconds = (performance.now() - began) / 1000;
    return { tables, files, differences, otherFiles, seconds, ...measured() };
  } finally {
    await removeTree(place);
  }
}

process.stdout.write(JSON.stringify(await report(JSON.parse(argument))));
