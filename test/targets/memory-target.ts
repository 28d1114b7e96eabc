/** A target of a test's own, in this process: what it holds, and what it is to fail at. */
import type { DeliveredRun, Target, TargetRun } from "../../src/pipeline.ts";

export interface MemoryTarget extends Target {
  /** Runs that readers have seen, in order, with the rows of their tables. */
  readonly seen: (TargetRun & { readonly rows: Readonly<Record<string, number>> })[];
  /** What was called, in order. */
  readonly calls: string[];
  /** Thrown by the step of that name, until it is taken out. */
  readonly failures: Map<"last" | "stage" | "commit", unknown>;
}

export function memoryTarget(name = "memory"): MemoryTarget {
  const seen: MemoryTarget["seen"] = [];
  const calls: string[] = [];
  const failures: MemoryTarget["failures"] = new Map();
  const step = (what: "last" | "stage" | "commit") => {
    calls.push(what);
    if (failures.has(what)) throw failures.get(what);
  };
  return {
    name,
    seen,
    calls,
    failures,
    last: async () => {
      step("last");
      const last = seen.at(-1);
      return last === undefined ? null : { run: last.run, sequence: last.sequence };
    },
    stage: async (run: DeliveredRun) => {
      step("stage");
      const rows: Record<string, number> = {};
      for (const [at, { table, cells }] of run.tables.entries()) {
        run.onProgress(at, run.tables.length);
        rows[table.name] = 0;
        for await (const _row of cells()) rows[table.name] = (rows[table.name] ?? 0) + 1;
      }
      const commit = async () => {
        step("commit");
        seen.push({ run: run.run, sequence: run.sequence, rows });
      };
      return { commit, abort: async () => void calls.push("abort") };
    },
  };
}
