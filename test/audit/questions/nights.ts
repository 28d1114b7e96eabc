import { runName } from "../../../src/warehouse/layout.ts";
import { Nights } from "../../load/history-world.ts";
import type { MappingWorld } from "../../load/mapping-tables.ts";

const startOf = (sequence: number): Date => new Date(Date.UTC(2026, 0, sequence, 2));

/** The run of a night, by its number. */
export const runOf = (sequence: number) => ({
  run: runName(sequence, startOf(sequence)),
  sequence,
  verdict: "complete" as const,
});

/** Nights, each from the history of the one before. */
export async function nightsOf(worlds: readonly MappingWorld[]): Promise<Nights> {
  const nights = await Nights.open();
  for (const [at, world] of worlds.entries()) {
    const { sequence, verdict } = runOf(at + 1);
    const previous = at === 0 ? undefined : runOf(at).run;
    await nights.run({ world, sequence, startedAt: startOf(sequence), verdict, previous });
  }
  return nights;
}
