/**
 * Where the documents of a run land: threads read the answers, raw files get their documents, the index says which there
 * are, and the checkpoint keeps what else was learned, so that a run that was ended early goes on from there.
 */
import { rm } from "node:fs/promises";
import type { Clock } from "../../common/clock.ts";
import type { RawFiles, RawStage } from "../../raw/raw-files.ts";
import type { RawIndex } from "../../raw/raw-index.ts";
import type { Journal } from "../journal.ts";
import { type Checkpoint, isListStage, type PassOfStage, type Stage } from "./checkpoint.ts";
import type {
  ListedGroup,
  OpenListedGroup,
  OpenSingleGroup,
  ReadGroup,
  ReadSingles,
  SingleGroup,
} from "./checkpoint-form.ts";
import type { LandingThreads } from "./landing-threads.ts";
import { OpenGroups } from "./open-groups.ts";
import type { ResumedPass, ResumeState } from "./resume-state.ts";
import type { GroupResult, ItemResult, ItemTask, PageResult, PageTask } from "./tasks.ts";

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

export class Landing {
  readonly #options: LandingOptions;
  readonly #open: OpenGroups;
  /** Names of the custom fields that documents carry. */
  readonly fieldNames = new Set<string>();

  constructor(options: LandingOptions) {
    this.#options = options;
    this.#open = new OpenGroups(options);
  }

  /** A stage of a pass. `after`: what is asked for after the pass, and not kept for a resumed run. */
  stage(stage: Stage | "after", pass: number): StageLanding {
    return new StageLanding(this.#options, this.#open, this.fieldNames, stage, pass);
  }

  /** Reads a page without landing it. */
  async look(task: Omit<PageTask, "kind" | "lands" | "group">): Promise<PageResult> {
    const { threads } = this.#options;
    return threads.askAny({ ...task, kind: "page", lands: false, group: 0 }, bufferOf(task));
  }

  /** Saves all that was answered and is not saved. */
  async save(): Promise<void> {
    await this.#open.save();
  }
}

function bufferOf({ body }: Pick<PageTask | ItemTask, "body">): ArrayBuffer[] {
  return body.bytes.buffer instanceof ArrayBuffer ? [body.bytes.buffer] : [];
}

/** Where the documents of one stage land, group by group. */
export class StageLanding {
  readonly pass: number;
  /** Undefined: the checkpoint does not keep what lands here. */
  readonly #kept: Stage | undefined;
  readonly #raw: RawStage;
  readonly #options: LandingOptions;
  readonly #open: OpenGroups;
  readonly #fieldNames: Set<string>;

  constructor(
    options: LandingOptions,
    open: OpenGroups,
    fieldNames: Set<string>,
    stage: Stage | "after",
    pass: number,
  ) {
    this.#options = options;
    this.#open = open;
    this.#fieldNames = fieldNames;
    this.pass = pass;
    this.#kept = stage !== "after" && pass === options.passOf[stage] ? stage : undefined;
    this.#raw = stage === "repair" ? "after" : stage;
  }

  /** What was read of this pass before the run was resumed; undefined: nothing. */
  get resumedPass(): ResumedPass | undefined {
    const stage = this.#kept;
    return stage !== undefined && isListStage(stage) ? this.#options.resumed[stage] : undefined;
  }

  /** What was answered of a group of single items before the run was resumed; undefined: nothing. */
  async resumedSingles(group: number): Promise<SingleGroup | OpenSingleGroup | undefined> {
    const stage = this.#kept;
    return stage === undefined || isListStage(stage)
      ? undefined
      : this.#options.resumed.singles(stage, group);
  }

  /** Sends a page to the thread of its group; its bytes move there. */
  async page(task: Omit<PageTask, "kind" | "pass" | "lands">): Promise<PageResult> {
    const whole = { ...task, kind: "page", pass: this.pass, lands: true } as const;
    return this.#options.threads.ask(task.group, whole, bufferOf(task));
  }

  async item(task: Omit<ItemTask, "kind" | "pass">): Promise<ItemResult> {
    const whole = { ...task, kind: "item", pass: this.pass } as const;
    return this.#options.threads.ask(task.group, whole, bufferOf(task));
  }

  /** There is another answer of a group. Resolves when all is saved that is due. */
  async note(group: number, answered: () => ReadGroup | ReadSingles): Promise<void> {
    if (this.#kept !== undefined) await this.#open.note(this.#kept, group, answered);
  }

  /** All pages, or single items, of a group are read. Resolves when its documents are written. */
  async close(group: number, read: ReadGroup | ReadSingles): Promise<void> {
    const { threads, checkpoint } = this.#options;
    if (this.#kept !== undefined) this.#open.closed(this.#kept, group);
    const rawFile = this.#fileOf(group);
    const result = await threads.ask(group, { kind: "close", pass: this.pass, group, rawFile });
    this.#take(rawFile, result);
    const { file = null, drift, fieldNames } = result;
    if (this.#kept !== undefined)
      await checkpoint.close(this.#kept, group, { ...read, file, drift, fieldNames });
  }

  #fileOf(group: number): string {
    return this.#options.files.of(this.#raw, this.pass, group);
  }

  #take(
    rawFile: string,
    { indexed, drift, fieldNames }: Pick<GroupResult, "indexed" | "drift" | "fieldNames">,
  ): void {
    const { index, journal } = this.#options;
    if (indexed.ids.length > 0) index.add(rawFile, indexed);
    journal.takeDrift(drift);
    for (const name of fieldNames) this.#fieldNames.add(name);
  }

  /** Takes over a group that was written before the run was resumed. */
  async reopen(group: number, { file, drift, fieldNames }: ListedGroup | SingleGroup): Promise<void> {
    const rawFile = this.#fileOf(group);
    const indexed = file === null ? NOTHING : await this.#options.threads.askAny({ kind: "index", rawFile });
    this.#take(rawFile, { indexed, drift, fieldNames });
  }

  /** Gives a group that was answered in part before the run was resumed back to its thread. */
  async restore(group: number, { landed }: OpenListedGroup | OpenSingleGroup): Promise<void> {
    await this.#options.threads.ask(group, { kind: "restore", pass: this.pass, group, landed });
  }

  /** All groups of the stage are written. */
  async end(groups: number, endedMs: number): Promise<void> {
    if (this.#kept !== undefined) await this.#options.checkpoint.end(this.#kept, { groups, endedMs });
  }

  /** Takes back what has landed: the pass is made anew. */
  async discard(): Promise<void> {
    const { threads, checkpoint, files, index } = this.#options;
    await threads.askAll({ kind: "drop", pass: this.pass });
    await checkpoint.settled();
    if (this.#kept !== undefined) {
      this.#open.forget(this.#kept);
      await checkpoint.forget(this.#kept);
    }
    const isOfThis = (path: string) => files.isOf(path, this.#raw, this.pass);
    for (const path of index.files) if (isOfThis(path)) await rm(path, { force: true });
    index.remove(isOfThis);
  }
}

const NOTHING: GroupResult["indexed"] = {
  ids: [],
  codes: new Uint8Array(),
  orders: new Float64Array(),
};
