import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Worker } from "node:worker_threads";
import { systemClock } from "../../src/common/clock.ts";
import { silentLog } from "../../src/common/log.ts";
import { type Config, loadConfig } from "../../src/config/config.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { runExport } from "../../src/run/run.ts";
import { pipelineUrl } from "../../src/transform/pipelines.ts";
import { freeBytes } from "../../src/warehouse/disk.ts";

export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oracle-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Serves a content set's folder from a thread of its own until the test ends, and says where. */
export async function serve(t: TestContext, folder: string): Promise<string> {
  const thread = new Worker(new URL("./serving.ts", import.meta.url), { workerData: folder });
  t.after(() => thread.terminate());
  const [url] = await once(thread, "message");
  return String(url);
}

export interface ExportRequest extends Pick<Config, "destinations"> {
  readonly url: string;
  readonly token: string;
  readonly out: string;
  readonly personalData: "keep" | "drop";
}

/** The nightly export of a service, with the settings that a user who sets none has. */
export async function runNightly(request: ExportRequest): Promise<RunSummary> {
  const { url, token, out, destinations, personalData } = request;
  const config = await loadConfig({
    cwd: out,
    env: { CONTENT_API_URL: url, CONTENT_API_TOKEN: token },
    flags: { warehouse: join(out, "warehouse") },
    sampleBy: "--sample",
  });
  const { summary } = await runExport({
    config: { ...config, destinations, personalData: { policy: personalData, key: null } },
    pipeline: pipelineUrl("nightly", out),
    clock: systemClock,
    log: silentLog,
    signal: new AbortController().signal,
    onProgress: () => {},
    threads: 2,
    nodeVersion: process.versions.node,
    freeBytes,
  });
  return summary;
}
