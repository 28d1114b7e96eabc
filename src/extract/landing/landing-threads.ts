import { extname } from "node:path";
import { ThreadPool } from "../../common/threads/thread-pool.ts";
import { SourceError } from "../http/source-error.ts";
import type { LanderOptions } from "./land-page.ts";
import type { LandingResults, LandingTask } from "./tasks.ts";

const MODULE = new URL(`./land-page.worker${extname(import.meta.url)}`, import.meta.url);

/** Threads that read answers and land their documents. A group stays with one thread: its documents wait there. */
export class LandingThreads extends ThreadPool<LandingTask, LandingResults> {
  constructor(threads: number, options: LanderOptions) {
    super({
      module: MODULE,
      threads,
      setup: () => options,
      revive: ({ code, message, facts }, more) => {
        const { attemptsAtMost } = facts;
        return typeof attemptsAtMost === "number"
          ? new SourceError(code, message, { ...more, attemptsAtMost })
          : undefined;
      },
    });
  }
}
