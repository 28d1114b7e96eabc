/**
 * Where the documents of a run land: threads read the answers, raw files get their documents, the index says which there
 * are, and the checkpoint keeps what else was learned, so that a run that was ended early goes on from there.
 */
import { rm } from "node:fs/promises";
import { extname } from "node:path";
import type { Clock } from "../../common/clock.ts";
import { ThreadPool } from "../../common/threads/thread-pool.ts";
import type { RawFiles, RawStage } from "../../raw/raw-files.ts";
import { indexOf, type RawIndex } from "../../raw/raw-index.ts";
import { SourceError } from "../http/source-error.ts";
import type { Journal } from "../journal.ts";
import { type Checkpoint, isListStage, type PassOfStage, type Stage } from "./checkpoint.ts";
import {
  type Closed,
  isOpen,
  type Open,
  type PageResult,
  type ReadGroup,
  type ReadSingles,
  type SavedAnswer,
  type SingleGroup,
  type SingleKey,
} from "./checkpoint-form.ts";
import type { Lander, LanderOptions } from "./land-page.ts";
import type { ResumedPass, ResumeState } from "./resume-state.ts";
import type { CopyTask, GroupResult, ItemResult, ItemTask, LandingTask, PageTask } from "./tasks.ts";

const MODULE = new URL(`./land-page.worker${extname(import.meta.url)}`, import.meta.url);

type LandingResults = { readonly [Kind in LandingTask["kind"]]: ReturnType<Lander[Kind]> };

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

export interface LandingOptions {
  readonly threads: LandingThreads;
  readonly files: RawFiles;
  readonly index: RawIndex;
  readonly checkpoint: Checkpoint;
  /** The pass of each stage that the checkpoint keeps. */
  readonly passOf: PassOfStage;
  /** What was read before the run was resumed. */
  readonly resumed: ResumeState;
  readonly journal: Journal;
  readonly clock: Clock;
}

interface Shared extends LandingOptions {
  readonly open: OpenGroups;
  readonly fieldNames: Set<string>;
}

export class Landing {
  readonly #shared: Shared;

  constructor(options: LandingOptions) {
    this.#shared = { ...options, open: new OpenGroups(options), fieldNames: new Set() };
  }

  /** Names of the custom fields that documents carry. */
  get fieldNames(): ReadonlySet<string> {
    return this.#shared.fieldNames;
  }

  /** A stage of a pass. `after`: what is asked for after the pass, and not kept for a resumed run. */
  stage(stage: Stage | "after", pass: number): StageLanding {
    return new StageLanding(this.#shared, stage, pass);
  }

  /** Reads a page without landing it. */
  async look(task: Omit<PageTask, "kind" | "lands" | "group">): Promise<PageResult> {
    const { threads } = this.#shared;
    return threads.askAny({ ...task, kind: "page", lands: false, group: 0 }, [task.body.bytes.buffer]);
  }

  /** Saves all that was answered and is not saved. */
  async save(): Promise<void> {
    await this.#shared.open.save();
  }
}

/** Where the documents of one stage land, group by group. */
export class StageLanding {
  readonly pass: number;
  /** Undefined: the checkpoint does not keep what lands here. */
  readonly #kept: Stage | undefined;
  readonly #raw: RawStage;
  readonly #shared: Shared;

  constructor(shared: Shared, stage: Stage | "after", pass: number) {
    this.#shared = shared;
    this.pass = pass;
    this.#kept = stage !== "after" && pass === shared.passOf[stage] ? stage : undefined;
    this.#raw = stage === "repair" ? "after" : stage;
  }

  /** What was read of this pass before the run was resumed; undefined: nothing. */
  get resumedPass(): ResumedPass | undefined {
    const stage = this.#kept;
    return stage !== undefined && isListStage(stage) ? this.#shared.resumed[stage] : undefined;
  }

  /** What was answered of a group of single items before the run was resumed; undefined: nothing. */
  async resumedSingles(group: number): Promise<SingleGroup | undefined> {
    const stage = this.#kept;
    return stage === undefined || isListStage(stage) ? undefined : this.#shared.resumed.singles(stage, group);
  }

  /** Sends a page to the thread of its group; its bytes move there. */
  async page(task: Omit<PageTask, "kind" | "pass" | "lands">): Promise<PageResult> {
    const whole = { ...task, kind: "page", pass: this.pass, lands: true } as const;
    return this.#shared.threads.ask(task.group, whole, [task.body.bytes.buffer]);
  }

  async item(task: Omit<ItemTask, "kind" | "pass">): Promise<ItemResult> {
    const whole = { ...task, kind: "item", pass: this.pass } as const;
    return this.#shared.threads.ask(task.group, whole, [task.body.bytes.buffer]);
  }

  /** Documents of the run before land in the place of answers. */
  async copy(task: Omit<CopyTask, "kind" | "pass">): Promise<void> {
    await this.#shared.threads.ask(task.group, { ...task, kind: "copy", pass: this.pass });
  }

  /** There is another answer of a group. Resolves when all is saved that is due. */
  async note(group: number, answered: () => ReadGroup | ReadSingles): Promise<void> {
    if (this.#kept !== undefined) await this.#shared.open.note(this.#kept, group, answered);
  }

  /** All pages, or single items, of a group are read. Resolves when its documents are written. */
  async close(group: number, read: ReadGroup | ReadSingles): Promise<void> {
    const { threads, checkpoint, open } = this.#shared;
    if (this.#kept !== undefined) open.closed(this.#kept, group);
    const rawFile = this.#fileOf(group);
    const result = await threads.ask(group, { kind: "close", pass: this.pass, group, rawFile });
    this.#take(rawFile, result);
    const { file = null, drift, fieldNames } = result;
    if (this.#kept !== undefined)
      await checkpoint.keep(this.#kept, group, { ...read, file, drift, fieldNames });
  }

  #fileOf(group: number): string {
    return this.#shared.files.of(this.#raw, this.pass, group);
  }

  #take(
    rawFile: string,
    { indexed, drift, fieldNames }: Pick<GroupResult, "indexed" | "drift" | "fieldNames">,
  ): void {
    const { index, journal, fieldNames: all } = this.#shared;
    if (indexed.ids.length > 0) index.add(rawFile, indexed);
    journal.takeDrift(drift);
    for (const name of fieldNames) all.add(name);
  }

  /** Takes over a group that was written before the run was resumed, or gives one that was answered in part back to its thread. */
  async resume(group: number, kept: Closed | Open): Promise<void> {
    const { threads } = this.#shared;
    if (isOpen(kept)) {
      await threads.ask(group, { kind: "restore", pass: this.pass, group, landed: kept.landed });
      return;
    }
    const rawFile = this.#fileOf(group);
    const indexed = kept.file === null ? indexOf([]) : await threads.askAny({ kind: "index", rawFile });
    this.#take(rawFile, { ...kept, indexed });
  }

  /** All groups of the stage are written. */
  async end(groups: number, endedMs: number): Promise<void> {
    if (this.#kept !== undefined) await this.#shared.checkpoint.end(this.#kept, { groups, endedMs });
  }

  /** Takes back what has landed: the pass is made anew. */
  async discard(): Promise<void> {
    const { threads, checkpoint, files, index, open } = this.#shared;
    await threads.askAll({ kind: "drop", pass: this.pass });
    await checkpoint.settled();
    if (this.#kept !== undefined) {
      open.forget(this.#kept);
      await checkpoint.forget(this.#kept);
    }
    const isOfThis = (path: string) => files.isOf(path, this.#raw, this.pass);
    for (const path of index.files) if (isOfThis(path)) await rm(path, { force: true });
    index.remove(isOfThis);
  }
}

/** A run that is killed loses what was answered in this time, at most. To save more often would cost more than asking. */
const SAVE_EVERY_MS = 2000;

/** What the answers of a group have said so far, apart from its documents, which its thread has. */
type Answered = () => ReadGroup | ReadSingles;

interface OpenGroup {
  readonly stage: Stage;
  readonly group: number;
  readonly answered: Answered;
}

/**
 * Groups of answers that are not complete yet. What they have is saved every few seconds, and when the run fails, so that
 * a run that goes on asks for nothing that was answered.
 */
class OpenGroups {
  readonly #options: LandingOptions;
  /** Those with answers that are not saved. */
  readonly #unsaved = new Map<string, OpenGroup>();
  #savedMs: number;
  #saving: Promise<void> | undefined;

  constructor(options: LandingOptions) {
    this.#options = options;
    this.#savedMs = options.clock.elapsedMs();
  }

  /** There is another answer. Resolves when all is saved that is due. */
  async note(stage: Stage, group: number, answered: Answered): Promise<void> {
    this.#unsaved.set(keyOf(stage, group), { stage, group, answered });
    const due = this.#options.clock.elapsedMs() - this.#savedMs >= SAVE_EVERY_MS;
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
      this.#savedMs = this.#options.clock.elapsedMs();
    }
  }

  async #saveAll(): Promise<void> {
    const groups = [...this.#unsaved.values()];
    this.#unsaved.clear();
    await Promise.all(groups.map((group) => this.#saveOne(group)));
  }

  async #saveOne({ stage, group, answered }: OpenGroup): Promise<void> {
    const { threads, checkpoint, passOf } = this.#options;
    const read = answered();
    const landed = await threads.ask(group, { kind: "save", pass: passOf[stage], group });
    await checkpoint.keep(stage, group, { ...read, landed: landedOf(read, landed) });
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
