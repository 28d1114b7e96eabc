/** Limits the time and memory of a query. The main thread measures both while the database works in its own threads. */
import { writeFile } from "node:fs/promises";
import { WarehouseError } from "../../common/errors.ts";
import { duration } from "../../common/figures.ts";

/** Interval of measurements. A process can allocate about 100 MB in that time. */
const INTERVAL_MS = 50;

export class QueryLimits implements Disposable {
  /** Aborted with `config.sql` when the query exceeds a limit. */
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  /** `maxMemoryMb`: resident memory of the process. */
  constructor({ maxSeconds, maxMemoryMb }: { readonly maxSeconds: number; readonly maxMemoryMb: number }) {
    const controller = new AbortController();
    this.signal = controller.signal;
    const end = performance.now() + maxSeconds * 1000;
    this.#timer = setInterval(() => {
      const megabytes = process.memoryUsage.rss() / 1024 ** 2;
      if (megabytes > maxMemoryMb) {
        const took = `took ${Math.round(megabytes)} MB of memory, more than its limit of ${maxMemoryMb} MB,`;
        controller.abort(tooMuch(took, "memory"));
      }
      if (performance.now() > end)
        controller.abort(tooMuch(`took longer than ${duration(maxSeconds)}`, "seconds"));
    }, INTERVAL_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function tooMuch(took: string, what: "memory" | "seconds"): WarehouseError {
  return new WarehouseError(
    "config.sql",
    `The query ${took} and was stopped; ask for less, or raise --max-${what}.`,
  );
}

/** Makes Linux kill this process before others when the machine runs out of memory. */
export async function preferOomKill(): Promise<void> {
  await writeFile("/proc/self/oom_score_adj", "1000").catch(() => {
    // Without that file or the right to write it, the system chooses.
  });
}
