import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WarehouseError } from "../../../src/common/errors.ts";
import type { RunSummary } from "../../../src/observe/run-summary.ts";
import { type Started, startRun } from "../../cli/running.ts";
import { type ExportOptions, exportFrom, openPublished, type Row, SMALL } from "../../run/running.ts";
import { type Item, item, type Question, type Scripted } from "../../run/scripted.ts";
import { until } from "../../until.ts";

/** Two items a page, so that a few hundred items make several groups of 64 pages. */
export const SETTINGS = { perPage: 2, details: "events", customFields: ["Region"] } as const;
export const PAGES_PER_GROUP = 64;

/** Items with what a reader may stumble over, and a few listed things that are no items. */
export function oddItems(count: number): unknown[] {
  return Array.from({ length: count }, (_, i) => {
    const id = `c-${String((i * 7) % count).padStart(4, "0")}`;
    if (i % 97 === 5) return { title: `No item ${i}`, email: "jane@example.org" };
    return odd(id, i);
  });
}

function odd(id: string, i: number): Item {
  const more: Record<string, unknown> = {
    updated_at: `2026-11-01T10:00:${String(i % 60).padStart(2, "0")}Z`,
  };
  if (i % 5 === 0) more.unheard_of = { depth: i };
  if (i % 11 === 0) more.tags = "a single tag";
  if (i % 13 === 0) more.title = `half \ud800 of ${id}`;
  if (i % 17 === 0) more.phone = "+49 30 1234567";
  if (i % 19 === 0) more.big = 12345678901234567890n.toString();
  return item(id, i, more);
}

/**
 * A run in a process of its own that is killed when `at` holds for a request, which gets no answer, and what is `kept`
 * is written.
 */
export async function killed(
  service: Scripted,
  out: string,
  at: (question: Question) => boolean,
  { kept, pipelineUrl = SMALL }: { kept?: string; pipelineUrl?: string } = {},
): Promise<void> {
  const reached = new Promise<void>((resolve) => {
    service.script = (question) => {
      if (!at(question)) return undefined;
      resolve();
      return "hang";
    };
  });
  const { child, ended } = await startWithSettings(service, out, pipelineUrl);
  await Promise.race([reached, ended.then(({ stderr }) => assert.fail(`it ended by itself: ${stderr}`))]);
  if (kept !== undefined) {
    await until(`${kept} is kept`, async () => (await keptIn(out)).includes(kept), {
      ended,
    });
  }
  child.kill("SIGKILL");
  assert.equal((await ended).signal, "SIGKILL");
  service.script = () => undefined;
}

/** A run in a process of its own, with the settings. */
export async function startWithSettings(
  service: Scripted,
  out: string,
  pipelineUrl = SMALL,
): Promise<Started> {
  await mkdir(out, { recursive: true });
  const config = join(out, "..", "settings.json");
  await writeFile(config, JSON.stringify(SETTINGS));
  return startRun(service, out, { pipeline: fileURLToPath(pipelineUrl), flags: ["--config", config] });
}

/** A run in this process that is ended when `at` holds for a request, as a signal ends it. */
export async function interrupted(
  service: Scripted,
  options: Omit<ExportOptions, "url">,
  at: (question: Question) => boolean,
  otherwise: Scripted["script"] = () => undefined,
): Promise<void> {
  const controller = new AbortController();
  service.script = (question) => {
    if (!at(question)) return otherwise(question);
    controller.abort(new WarehouseError("run.interrupted", "Interrupted; nothing was published."));
    return "hang";
  };
  const run = exportFrom({ url: service.url, config: SETTINGS, ...options, signal: controller.signal });
  await assert.rejects(run, { code: "run.interrupted" });
  service.script = () => undefined;
}

/** Groups of answers that the runs in the staging folder keep: `dynamic-00001`. */
export async function keptIn(out: string): Promise<string[]> {
  return (await stagedFiles(out)).flatMap((path) => {
    const [, stage, group] = /\/answers\/([a-z]+)-\d+-\d-(\d+)\.json$/.exec(path) ?? [];
    return stage === undefined ? [] : [`${stage}-${group}`];
  });
}

/** Paths of all that is staged; none where nothing is yet. */
export async function stagedFiles(out: string): Promise<string[]> {
  // A folder may come or go while the list is made.
  return readdir(join(out, ".staging"), { recursive: true }).catch(() => []);
}

/** Tables that tell of the run itself, or name it. */
const OF_THE_RUN = /^run(_|$)|_history$/;

/** All rows of the data tables, by name, and all raw documents, however they lie in files. */
async function everythingIn({ directory, rows: counts }: RunSummary): Promise<Map<string, Row[]>> {
  await using reader = await openPublished(directory);
  const rows = new Map<string, Row[]>();
  for (const name of Object.keys(counts)) {
    if (OF_THE_RUN.test(name)) continue;
    rows.set(name, await reader.rows(`FROM "${name}" ORDER BY ALL`));
  }
  if ((await readdir(directory)).includes("raw"))
    rows.set("raw", await reader.rows(`FROM '${directory}/raw/*/*.parquet' ORDER BY ALL`));
  return rows;
}

/** SHA-256 of each Parquet file of the data tables. */
export async function filesOf({ directory }: RunSummary): Promise<Map<string, string>> {
  const paths = await readdir(directory, { recursive: true });
  const files = paths.filter((path) => {
    const [kind, table = ""] = path.split("/");
    return path.endsWith(".parquet") && kind === "parquet" && !OF_THE_RUN.test(table);
  });
  const digests = new Map<string, string>();
  for (const path of files.sort()) {
    const bytes = await readFile(join(directory, path));
    digests.set(path, createHash("sha256").update(bytes).digest("hex"));
  }
  return digests;
}

export async function assertSame(one: RunSummary, other: RunSummary): Promise<void> {
  assert.deepEqual(await filesOf(one), await filesOf(other));
  assert.deepEqual(await everythingIn(one), await everythingIn(other));
}

/** Names in the staging folder. */
export async function staged(out: string): Promise<string[]> {
  return readdir(join(out, ".staging"));
}
