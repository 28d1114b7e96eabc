/**
 * What the step of the history costs, over made-up tables: 30 mapped fields at 3 destinations. Four nights, each in a
 * process that does nothing else, so that the memory is that of the step; the tables that it is given are made in
 * another.
 */
import { mkdir } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { join } from "node:path";
import { DIFFERENCES, FIELDS, type HistoryNight, type WrittenHistory } from "./history-nights.ts";
import type { HistoryTook } from "./history-step.ts";
import { run } from "./programs.ts";

export interface HistoryBench {
  readonly items: number;
  /** Fields of a hundred that have a value. */
  readonly share: number;
  /** Where it works. */
  readonly folder: string;
}

export async function benchHistory({ items, share, folder }: HistoryBench) {
  const nights: ReturnType<typeof figures>[] = [];
  let previous: WrittenHistory | undefined;
  for (const [at, difference] of DIFFERENCES.entries()) {
    const sequence = at + 1;
    const directory = join(folder, String(sequence));
    const temporaryDirectory = join(directory, "tmp");
    await mkdir(temporaryDirectory, { recursive: true });
    const database = join(directory, "warehouse.duckdb");
    const night: HistoryNight = {
      ...difference,
      ...{ sequence, items, share, directory, temporaryDirectory, database, previous },
    };
    const args = [JSON.stringify(night)];
    await run({ script: "history-tables.ts", args });
    const took = await run<HistoryTook>({ script: "history-step.ts", args });
    previous = took.written;
    nights.push(figures(night, took));
    process.stderr.write(`${JSON.stringify(nights.at(-1))}\n`);
  }
  return {
    case: "history",
    items,
    fields: FIELDS,
    share,
    machine: `${availableParallelism()} x ${cpus()[0]?.model.trim() ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.versions.node,
    nights,
    correct: nights.every(({ correct }) => correct),
  };
}

function figures({ night }: HistoryNight, took: HistoryTook) {
  const { ledgerRows, historyRows, causes, correct } = took;
  return {
    night,
    ledgerRows,
    historyRows,
    seconds: round(took.fillSeconds + took.writeSeconds),
    fillSeconds: round(took.fillSeconds),
    writeSeconds: round(took.writeSeconds),
    cpuSeconds: round(took.cpuSeconds),
    peakMemoryMb: Math.round(took.peakMemoryMb),
    causes,
    correct,
  };
}

function round(seconds: number): number {
  return Number(seconds.toFixed(2));
}
