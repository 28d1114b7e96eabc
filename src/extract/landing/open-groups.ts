/**
 * Groups of answers that are not complete yet. What they have is saved every few seconds, and when the run fails, so that
 * a run that goes on asks for nothing that was answered.
 */
import type { Clock } from "../../common/clock.ts";
import type { Checkpoint, PassOfStage, Stage } from "./checkpoint.ts";
import type { ReadGroup, ReadSingles } from "./checkpoint-form.ts";
import type { LandingThreads } from "./landing-threads.ts";
import type { SavedAnswer, SingleKey } from "./tasks.ts";

/** A run that is killed loses what was answered in this time, at most. To save more often would cost more than asking. */
const SAVE_EVERY_MS = 2000;

/** What the answers of a group have said so far, apart from its documents, which its thread has. */
export type Answered = () => ReadGroup | ReadSingles;

interface OpenGroup {
  readonly stage: Stage;
  readonly group: number;
  readonly answered: Answered;
}

interface Savers {
  readonly threads: LandingThreads;
  readonly checkpoint: Checkpoint;
  readonly passOf: PassOfStage;
  readonly clock: Clock;
}

export class OpenGroups {
  readonly #savers: Savers;
  /** Those with answers that are not saved. */
  readonly #unsaved = new Map<string, OpenGroup>();
  #savedMs: number;
  #saving: Promise<void> | undefined;

  constructor(savers: Savers) {
    this.#savers = savers;
    this.#savedMs = savers.clock.elapsedMs();
  }

  /** There is another answer. Resolves when all is saved that is due. */
  async note(stage: Stage, group: number, answered: Answered): Promise<void> {
    this.#unsaved.set(keyOf(stage, group), { stage, group, answered });
    const due = this.#savers.clock.elapsedMs() - this.#savedMs >= SAVE_EVERY_MS;
    if (due && this.#saving === undefined) await this.save();
  }

  /** The group is about to be written as a whole. */
  closed(stage: Stage, group: number): void {
    this.#unsaved.delete(keyOf(stage, group));
  }

  /** The stage is read anew. Only while nothing is being saved. */
  forget(stage: Stage): void {
    for (const [key, open] of this.#unsaved) if (open.stage === stage) this.#unsaved.delete(key);
  }

  /** Saves all that is not saved. */
  async save(): Promise<void> {
    await this.#saving;
    this.#saving = this.#saveAll();
    try {
      await this.#saving;
    } finally {
      this.#saving = undefined;
      this.#savedMs = this.#savers.clock.elapsedMs();
    }
  }

  async #saveAll(): Promise<void> {
    const groups = [...this.#unsaved.values()];
    this.#unsaved.clear();
    await Promise.all(groups.map((group) => this.#saveOne(group)));
  }

  async #saveOne({ stage, group, answered }: OpenGroup): Promise<void> {
    const { threads, checkpoint, passOf } = this.#savers;
    const read = answered();
    const landed = await threads.ask(group, { kind: "save", pass: passOf[stage], group });
    await checkpoint.open(stage, group, { ...read, landed: landedOf(read, landed) });
  }
}

/** The thread may be ahead: what landed since `read` is to be asked for again. */
function landedOf(read: ReadGroup | ReadSingles, landed: readonly SavedAnswer[]): SavedAnswer[] {
  if ("answers" in read) {
    const keys = new Set(read.answers.map(singleKey));
    return landed.filter(({ single }) => single !== null && keys.has(singleKey(single)));
  }
  const pages = new Set(read.pages.map(({ page }) => page));
  return landed.filter(({ page }) => pages.has(page)).sort((a, b) => a.page - b.page);
}

function singleKey({ shape, id }: SingleKey): string {
  return `${shape} ${id}`;
}

function keyOf(stage: Stage, group: number): string {
  return `${stage}-${group}`;
}
