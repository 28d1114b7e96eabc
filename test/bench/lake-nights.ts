/** What a night with few edits costs a lake: bytes and objects that are put, and what the log says of files. */
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { createService } from "../../src/service/service.ts";
import { lakeIn } from "../../src/targets/lake/lake.ts";
import { readDeliveredRun } from "../../src/targets/published-run.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { findRun, listRuns } from "../../src/warehouse/retention.ts";
import { generateContentSet } from "../generator/generate.ts";
import { memoryStore, type Objects } from "../targets/lake/memory-store.ts";

const INSTANCE = "one";

/** What a night put into the lake. */
export interface NightCost {
  readonly edited: number;
  readonly bytes: number;
  /** Of the tables' data files. */
  readonly tableBytes: number;
  readonly tableFiles: number;
  /** Tables that got a version. */
  readonly commits: number;
  readonly adds: number;
  readonly removes: number;
}

export interface NightsOptions {
  /** One item of so many is edited. */
  readonly every: number;
  readonly items: number;
  readonly nights: number;
  /** Called with what the lake has after each night. */
  readonly after: (objects: Objects) => Promise<void>;
}

/** Exports a made content set night by night, edited in between, and delivers each run to a lake in memory. */
export async function costOfNights(
  folder: string,
  { items, nights, every, after }: NightsOptions,
): Promise<NightCost[]> {
  const objects: Objects = new Map();
  const costs: NightCost[] = [];
  const warehouse = join(folder, "warehouse");
  let set = join(folder, "night-1");
  await mkdir(folder, { recursive: true });
  await generateContentSet({ items, seed: 1, out: set });
  let edited = 0;
  let port = 0;
  for (let night = 1; night <= nights; night++) {
    if (night > 1) {
      const next = join(folder, `night-${night}`);
      edited = await editContentSet(set, next, { night, every });
      set = next;
    }
    port = await exportSet(set, { folder, warehouse, port });
    const before = new Map(objects);
    await deliverCurrent(folder, warehouse, objects);
    costs.push({ edited, ...costOf(before, objects) });
    await after(objects);
  }
  return costs;
}

/** Writes a content set into another folder with the titles and texts of some items edited. Returns how many. */
async function editContentSet(
  set: string,
  out: string,
  { night, every }: { readonly night: number; readonly every: number },
): Promise<number> {
  await cp(set, out, { recursive: true });
  const file = join(out, "content.ndjson");
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  let edited = 0;
  for (let at = night % every; at < lines.length; at += every) {
    edited++;
    const item: Record<string, unknown> = JSON.parse(lines[at] ?? "");
    item.title = `${item.title} (${night})`;
    item.content = `${item.content}<p>Edited in night ${night}.</p>`;
    item.updated_at = new Date(Date.UTC(2026, 10, 20 + night, 1, 0, 0, at)).toISOString();
    lines[at] = JSON.stringify(item);
  }
  await writeFile(file, `${lines.join("\n")}\n`);
  return edited;
}

/** Answers the port of the service: it is the same one every night. */
async function exportSet(
  data: string,
  { folder, warehouse, port }: { readonly folder: string; readonly warehouse: string; readonly port: number },
): Promise<number> {
  const service = await createService({ data, port });
  try {
    const [token = ""] = service.contentSet.tokens.keys();
    const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: token };
    await runPipeline({ pipeline: "nightly", warehouse, cwd: folder, env });
    return Number(new URL(service.url).port);
  } finally {
    await service.close();
  }
}

async function deliverCurrent(
  temporaryDirectory: string,
  warehouse: string,
  objects: Objects,
): Promise<void> {
  const place = outputFolder(warehouse);
  const { signal } = new AbortController();
  const options = { runs: await listRuns(place), temporaryDirectory, signal, onProgress: () => {} };
  const run = await readDeliveredRun(await findRun(place, "current"), options);
  const store = memoryStore(objects);
  const staged = await lakeIn(async () => store, { instance: INSTANCE }).stage(run);
  await staged.commit();
}

function costOf(before: Objects, objects: Objects) {
  const put = [...objects].filter(([key, object]) => before.get(key) !== object);
  const bytesOf = (of: typeof put) => sum(of.map(([, { body }]) => body.length));
  const data = put.filter(([key]) => /^[^_][^/]*\/instance=/.test(key));
  const commits = put.filter(([key]) => /_delta_log\/\d+\.json$/.test(key));
  const lines = commits.flatMap(([, { body }]) => String(body).trimEnd().split("\n"));
  return {
    bytes: bytesOf(put),
    tableBytes: bytesOf(data),
    tableFiles: data.length,
    commits: commits.length,
    adds: lines.filter((line) => line.startsWith('{"add"')).length,
    removes: lines.filter((line) => line.startsWith('{"remove"')).length,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}
