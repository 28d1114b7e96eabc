/** Time and memory that a question may take. The main thread, which the database leaves free, watches them. */
import { writeFile } from "node:fs/promises";
import { WarehouseError } from "../../common/errors.ts";
import { duration } from "../../common/figures.ts";

/** How often time and memory are measured: a process takes some 100 MB in that time. */
const EVERY_MS = 50;

export class QueryLimits implements Disposable {
  /** Aborted with `config.sql` when the question has taken more than it may. */
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  /** `maxMemoryMb`: of the whole process, resident. */
  constructor({ maxSeconds, maxMemoryMb }: { readonly maxSeconds: number; readonly maxMemoryMb: number }) {
    const controller = new AbortController();
    this.signal = controller.signal;
    const end = performance.now() + maxSeconds * 1000;
    this.#timer = setInterval(() => {
      const megabytes = process.memoryUsage.rss() / 1024 ** 2;
      if (megabytes > maxMemoryMb) {
        const took = `took ${Math.round(megabytes)} MB of memory, more than the ${maxMemoryMb} MB that it may,`;
        controller.abort(tooMuch(took, "memory"));
      }
      if (performance.now() > end)
        controller.abort(tooMuch(`took longer than ${duration(maxSeconds)}`, "seconds"));
    }, EVERY_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function tooMuch(took: string, what: "memory" | "seconds"): WarehouseError {
  return new WarehouseError(
    "config.sql",
    `The question ${took} and was ended; ask for less. --max-${what} sets the limit.`,
  );
}

/** If the machine runs out of memory, the system ends this process before any other. */
export async function preferOomKill(): Promise<void> {
  await writeFile("/proc/self/oom_score_adj", "1000").catch(() => {
    // Without that file, or the right to write it, the system chooses by itself.
  });
}
