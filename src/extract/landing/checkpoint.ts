/**
 * What a run keeps of its answers, so that it can be resumed after it was interrupted: for each closed group of the
 * first two passes and of the single items after either, the raw file of its documents and, written after it, a file with all else
 * that was learned from the answers; for an open group, one file with both. All later steps are made from these alone.
 */
import { glob, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeSealed } from "../../common/sealed-file.ts";
import type { Shape } from "../../raw/document.ts";
import {
  CHECKPOINT_VERSION,
  isOpen,
  type ListedGroup,
  type SingleGroup,
  type StageEnd,
} from "./checkpoint-form.ts";

/** In this order: a stage is begun when the ones before it are whole. */
export type Stage = Shape | SingleStage;
/** `item`: what the first pass listed; `repair`: where the first two differ. */
export type SingleStage = "item" | "repair";
/**
 * The pass of each stage that is kept: the one that is read, or after which items are asked for. The passes that are
 * kept are the first two: a run that is resumed makes the later ones anew.
 */
export type PassOfStage = Readonly<Record<Stage, number>>;

export function isListStage(stage: Stage): stage is Shape {
  return stage === "dynamic" || stage === "full";
}

/**
 * `listings`: those of the pipeline, in the order of their passes. Of one listing alone nothing is kept after its pass:
 * the pass that certifies it is made anew.
 */
export function passOfStages(listings: readonly Shape[]): PassOfStage {
  const dynamic = listings.indexOf("dynamic") + 1;
  const full = listings.indexOf("full") + 1;
  return { dynamic, item: dynamic, full, repair: listings.length === 2 ? 2 : 0 };
}

/** Stages that are kept, in the order in which they are read. */
export function stagesInOrder(passOf: PassOfStage): Stage[] {
  const stages = (["dynamic", "item", "full", "repair"] as const).filter((stage) => passOf[stage] > 0);
  return stages.toSorted((a, b) => passOf[a] - passOf[b]);
}

/** Absolute path of what is kept of a group, or of the end of a stage. `directory`: the run's staging folder. */
export function checkpointFile(directory: string, stage: Stage, group: number | "end"): string {
  const name = typeof group === "number" ? String(group).padStart(5, "0") : group;
  return join(directory, "checkpoint", `${stage}-${name}.json`);
}

/** Absolute path of what is kept of a group that is not closed. */
export function openFile(directory: string, stage: Stage, group: number): string {
  return checkpointFile(directory, stage, group).replace(/\.json$/, "-open.json");
}

export class Checkpoint {
  readonly #directory: string;
  readonly #underWay = new Set<Promise<void>>();
  /** Groups that were written by this process, an open one each time. */
  groups = 0;

  /** `directory`: the run's staging folder. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** All that a group has, or what an open one has so far: takes the place of what it had before. */
  async keep(stage: Stage, group: number, kept: ListedGroup | SingleGroup): Promise<void> {
    const open = openFile(this.#directory, stage, group);
    await this.#write(isOpen(kept) ? open : checkpointFile(this.#directory, stage, group), kept);
    this.groups += 1;
    if (!isOpen(kept)) await rm(open, { force: true });
  }

  async end(stage: Stage, end: StageEnd): Promise<void> {
    await this.#write(checkpointFile(this.#directory, stage, "end"), end);
  }

  /** Takes back what was written of a stage. */
  async forget(stage: Stage): Promise<void> {
    const cwd = dirname(checkpointFile(this.#directory, stage, 0));
    for await (const name of glob(`${stage}-*`, { cwd })) await rm(join(cwd, name), { force: true });
  }

  /** Resolves when nothing is being written any more; failures are those of who wrote. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #write(file: string, content: object): Promise<void> {
    const written = writeSealed(file, { version: CHECKPOINT_VERSION, ...content });
    this.#underWay.add(written);
    await written.finally(() => this.#underWay.delete(written));
  }
}
