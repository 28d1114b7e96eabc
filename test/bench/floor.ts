/**
 * The floor of the job, in a process of its own: every page of both listings fetched and parsed, nothing else, by as
 * many threads and with as many requests at the same time as the export has. Prints what it took.
 */
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { measured } from "./measured.ts";
import { CONCURRENCY, LISTINGS, Reader, type ReadSettings } from "./reading.ts";

interface Share {
  readonly settings: ReadSettings;
  readonly connections: number;
  /** Pages that were taken so far, of each listing. */
  readonly taken: Int32Array;
}

if (isMainThread) await lead();
else parentPort?.postMessage(await readShare(workerData));

async function lead(): Promise<void> {
  const began = performance.now();
  const threads = availableParallelism();
  const share: Share = {
    settings: JSON.parse(process.argv[2] ?? ""),
    connections: Math.ceil(CONCURRENCY / threads),
    taken: new Int32Array(new SharedArrayBuffer(LISTINGS.length * 4)),
  };
  const counts = await Promise.all(Array.from({ length: threads }, () => countOf(share)));
  const items = counts.reduce((sum, count) => sum + count, 0) / LISTINGS.length;
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(`${JSON.stringify({ items, seconds, ...measured() })}\n`);
}

async function countOf(share: Share): Promise<number> {
  const worker = new Worker(new URL(import.meta.url), { workerData: share });
  return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
}

/** Reads pages until there are none that no thread has taken. Answers the number of items. */
async function readShare({ settings, connections, taken }: Share): Promise<number> {
  const reader = new Reader(settings, connections);
  let items = 0;
  for (const [at, mode] of LISTINGS.entries()) {
    let pages = Number.POSITIVE_INFINITY;
    const read = async () => {
      for (let page = Atomics.add(taken, at, 1) + 1; page <= pages; page = Atomics.add(taken, at, 1) + 1) {
        const { response, pagination } = await reader.page(mode, page);
        pages = pagination.pages;
        items += response.length;
      }
    };
    await Promise.all(Array.from({ length: connections }, read));
  }
  await reader.close();
  return items;
}
