import { availableParallelism, cpus, totalmem } from "node:os";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import type { Case } from "./cases.ts";
import type { Measured } from "./measured.ts";

export interface Took extends Measured {
  readonly seconds: number;
}

export interface Exported extends Took {
  readonly summary: RunSummary;
  /** Of the rows of all data tables. */
  readonly digest: string;
}

/** What each program took, by round. */
export interface Rounds {
  readonly floor: Took[];
  readonly nightly: Exported[];
}

export interface Benched {
  readonly name: string;
  readonly chosen: Case;
  readonly items: number;
  readonly rounds: Rounds;
  /** An export of the documents that the items are copies of, each once. */
  readonly sample: RunSummary;
}

export function reportOf(benched: Benched) {
  const { name, chosen, items, rounds } = benched;
  const nightly = medianRound(rounds.nightly);
  const seconds = (took: readonly Took[]) => medianRound(took)?.seconds;
  return {
    case: name,
    items,
    perPage: chosen.perPage,
    machine: `${availableParallelism()} x ${cpus()[0]?.model.trim() ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.versions.node,
    floor: figures(rounds.floor),
    nightly: figures(rounds.nightly),
    timesTheFloor: ratio(nightly?.seconds, seconds(rounds.floor)),
    perSecond: nightly && perSecond(nightly, items),
    digest: nightly?.digest,
    correct: isCorrect(benched),
  };
}

/** The round of median length, of three the second. */
function medianRound<Each extends Took>(rounds: readonly Each[]): Each | undefined {
  return rounds.toSorted((a, b) => a.seconds - b.seconds)[Math.floor((rounds.length - 1) / 2)];
}

function figures(rounds: readonly Took[]) {
  const median = medianRound(rounds);
  return (
    median && {
      seconds: round(median.seconds, 2),
      allSeconds: rounds.map(({ seconds }) => round(seconds, 2)),
      cpuSeconds: round(median.cpuSeconds, 1),
      peakMemoryMb: Math.round(Math.max(...rounds.map(({ peakMemoryMb }) => peakMemoryMb))),
    }
  );
}

function perSecond({ seconds, summary }: Exported, items: number) {
  const rows = Object.values(summary.rows).reduce((sum, each) => sum + each, 0);
  return {
    items: Math.round(items / seconds),
    rows: Math.round(rows / seconds),
    receivedMb: Math.round(summary.found.requests.bytes / 1e6 / seconds),
  };
}

/**
 * Whether each export was complete, had as many rows as the copies of the documents have together (what many items
 * share has as many as in the documents), and the same rows as the others.
 */
function isCorrect({ items, chosen, rounds, sample }: Benched): boolean {
  const copies = items / chosen.templates;
  return rounds.nightly.every(({ summary, digest }) => {
    const counted = Object.entries(summary.rows)
      .filter(([table]) => !/^run(_|$)/.test(table))
      .every(([table, rows]) => [copies, 1].some((times) => rows === (sample.rows[table] ?? 0) * times));
    const loaded = summary.verdict === "complete" && summary.items.loaded === items;
    return counted && loaded && digest === rounds.nightly[0]?.digest;
  });
}

function ratio(value: number | undefined, by: number | undefined): number | undefined {
  return value === undefined || by === undefined ? undefined : round(value / by, 2);
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
