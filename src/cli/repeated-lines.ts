import type { Clock } from "../common/clock.ts";
import { counted, duration } from "../common/figures.ts";
import type { Log, LogFields } from "../common/log.ts";

const COUNTED_MS = 30_000;

interface Repeated {
  readonly level: "warn" | "error";
  readonly message: string;
  /** When it was last written; by `elapsedMs` of the clock. */
  writtenMs: number;
  /** How often it came since. */
  count: number;
  /** As it came last. */
  fields: LogFields;
}

/**
 * The log, with one line a cause: a warning or error is written as it comes, and what comes again is counted, until half a
 * minute is over, another line is written, or the log is disposed of. Then one line says how often it came, as `20 times
 * in the last 30 s` and in `count`. A line comes again if its message and the texts of its fields do; figures, such as
 * those of attempts, are of its last time.
 */
export function countRepeatedLines(log: Log, clock: Pick<Clock, "elapsedMs">): Log & Disposable {
  const lines = new Map<string, Repeated>();

  function writeCounts(): void {
    const nowMs = clock.elapsedMs();
    for (const [key, line] of lines) {
      const { level, message, count, fields } = line;
      const sinceMs = nowMs - line.writtenMs;
      if (count === 0) {
        if (sinceMs >= COUNTED_MS) lines.delete(key);
        continue;
      }
      const often = `${counted(count, "time")} in the last ${duration(sinceMs / 1000)}`;
      if (count === 1) log[level](message, fields);
      else log[level](`${message} (${often})`, { ...fields, count });
      line.writtenMs = nowMs;
      line.count = 0;
    }
  }

  function counting(level: Repeated["level"]): Log["warn"] {
    return (message, fields = {}) => {
      const texts = Object.entries(fields).filter(([, value]) => typeof value === "string");
      const key = JSON.stringify([level, message, texts]);
      const line = lines.get(key);
      if (line !== undefined) {
        line.count += 1;
        line.fields = fields;
        if (clock.elapsedMs() - line.writtenMs >= COUNTED_MS) writeCounts();
        return;
      }
      writeCounts();
      lines.set(key, { level, message, writtenMs: clock.elapsedMs(), count: 0, fields });
      log[level](message, fields);
    };
  }

  return { ...log, warn: counting("warn"), error: counting("error"), [Symbol.dispose]: writeCounts };
}
