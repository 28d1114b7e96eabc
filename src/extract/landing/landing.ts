/**
 * Where the documents of a run land: threads read the answers, raw files get their documents, the index says which there
 * are, and each group of answers is kept when it is written, so that a run that was ended early goes on from there.
 */
import { rm } from "node:fs/promises";
import { extname } from "node:path";
import type { Clock } from "../../common/clock.ts";
import { ThreadPool } from "../../common/threads/thread-pool.ts";
import type { Shape } from "../../raw/document.ts";
import { indexFile, type RawIndex } from "../../raw/raw-index.ts";
import type { RawPaths } from "../../raw/raw-paths.ts";
import { SourceError } from "../http/source-error.ts";
import type {
  CopyTask,
  GroupResult,
  ItemResult,
  ItemTask,
  LandingTask,
  PageResult,
  PageTask,
} from "../pages/tasks.ts";
import {
  type CheckpointFile,
  checkpointPath,
  type ItemResponse,
  type PageResponse,
  type PassStart,
  type ResumeState,
  readCheckpoint,
  writeCheckpoint,
} from "./checkpoint.ts";
import type { Journal } from "./journal.ts";
import type { Lander, LanderConfig } from "./land-page.ts";

const MODULE = new URL(`./land-page.worker${extname(import.meta.url)}`, import.meta.url);

/** Threads that read answers and land their documents. A group stays with one thread: its documents wait there. */
export class LandingThreads extends ThreadPool<
  LandingTask,
  { readonly [Kind in LandingTask["kind"]]: ReturnType<Lander[Kind]> }
> {
  constructor(threads: number, options: LanderConfig) {
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

export interface LandingConfig {
  readonly threads: LandingThreads;
  readonly files: RawPaths;
  readonly index: RawIndex;
  /** The run's staging folder. */
  readonly directory: string;
  /** What was read before the run was resumed. */
  readonly kept: ResumeState;
  /** How many the pipeline reads. Their passes come first and are kept; a resumed run makes the later ones anew. */
  readonly listings: number;
  readonly journal: Journal;
  readonly clock: Clock;
}

interface LandingState extends LandingConfig {
  readonly fieldNames: Set<string>;
  readonly stages: StageLanding<PageResponse | ItemResponse>[];
  /** By stage and pass: the number of the next group. */
  readonly numbers: Map<string, number>;
  /** Answers that were given a place. */
  units: number;
}

export class Landing {
  readonly #shared: LandingState;

  constructor(options: LandingConfig) {
    this.#shared = { ...options, fieldNames: new Set(), stages: [], numbers: new Map(), units: 0 };
  }

  /** Names of the custom fields that documents carry. */
  get fieldNames(): ReadonlySet<string> {
    return this.#shared.fieldNames;
  }

  pages(mode: Shape, pass: number): StageLanding<PageResponse> {
    return new StageLanding<PageResponse>(this.#shared, mode, pass, true);
  }

  /** `after`: what is asked for after the pass. `isKept`: for a resumed run, if its pass is. */
  singles(stage: "item" | "after", pass: number, isKept: boolean): StageLanding<ItemResponse> {
    return new StageLanding<ItemResponse>(this.#shared, stage, pass, isKept);
  }

  /** Reads a page without landing it. */
  async look(task: Omit<PageTask, "kind" | "lands" | "unit">): Promise<PageResult> {
    const { threads } = this.#shared;
    return threads.askAny({ ...task, kind: "page", lands: false, unit: 0 }, [task.body.bytes.buffer]);
  }

  /** Writes all that was answered and is not written. Only while nothing is asked for. */
  async save(): Promise<void> {
    const saved = await Promise.allSettled(this.#shared.stages.map((stage) => stage.finish()));
    for (const each of saved) if (each.status === "rejected") throw each.reason;
  }
}

/** Answers that are written together. */
export interface AnswerGroup {
  /** Of its first file. Its thread, which goes by it, has the documents until they are written. */
  readonly first: number;
  /** Of its next file; undefined: none is reserved. */
  number: number | undefined;
  places: number;
  /** Places whose answers came. */
  answered: number;
  /** What came and is not written. */
  waiting: { readonly unit: number; readonly answer: PageResponse | ItemResponse }[];
  writtenMs: number;
}

/** Where an answer lands. */
export interface ResponseSlot {
  readonly group: AnswerGroup;
  /** Place in the group, from 0. */
  readonly position: number;
  /** Its documents are written together, once it is known whole. */
  readonly unit: number;
}

/** Single items of a group. */
export const SINGLES_PER_GROUP = 200;
/** A group is written after so long, however short it is: a run that is killed loses no more. */
const WRITE_EVERY_MS = 10_000;

/** Where the answers of one stage land, group by group. */
export class StageLanding<Answer extends PageResponse | ItemResponse> {
  readonly pass: number;
  /** How many answers a group has; undefined: it is not known yet. */
  groupSize: number | undefined;
  /** Of a listing. */
  passStart: PassStart | null;
  readonly #stage: Shape | "item" | "after";
  readonly #isKept: boolean;
  readonly #shared: LandingState;
  #kept: readonly CheckpointFile[];
  /** The last one that was opened. */
  #group: AnswerGroup | undefined;
  readonly #groups: AnswerGroup[] = [];
  /** Paths of the raw files of all groups that are written. */
  readonly #written: string[] = [];

  constructor(shared: LandingState, stage: Shape | "item" | "after", pass: number, isKept: boolean) {
    this.#shared = shared;
    this.#stage = stage;
    this.pass = pass;
    this.#isKept = isKept && pass <= shared.listings;
    this.#kept = this.#isKept
      ? shared.kept.groups.filter((group) => group.stage === stage && group.pass === pass)
      : [];
    this.passStart = this.#kept[0]?.passStart ?? null;
    if (stage === "item" || stage === "after") this.groupSize = SINGLES_PER_GROUP;
    if (this.#isKept) shared.stages.push(this);
  }

  /** Answers that were kept before the run was resumed, group by group; their documents are taken over. */
  async *kept(): AsyncGenerator<readonly Answer[]> {
    for (const { rawFile } of this.#kept) {
      const group = await readCheckpoint<Answer>(checkpointPath(this.#shared.directory, rawFile));
      if (group === undefined) throw new TypeError(`${rawFile} was kept a moment ago`);
      this.#written.push(rawFile);
      this.#take(rawFile, { ...group, indexed: group.file === null ? null : indexFile(rawFile) });
      yield group.answers;
    }
  }

  /** For the next answer that is asked for. */
  reserveSlot(): ResponseSlot {
    const group = this.#groupWithRoom();
    group.places += 1;
    this.#shared.units += 1;
    return { group, position: group.places - 1, unit: this.#shared.units };
  }

  #groupWithRoom(): AnswerGroup {
    if (this.#group !== undefined && this.#group.places !== this.groupSize) return this.#group;
    const number = this.#nextNumber();
    const writtenMs = this.#shared.clock.elapsedMs();
    this.#group = { first: number, number, places: 0, answered: 0, waiting: [], writtenMs };
    this.#groups.push(this.#group);
    return this.#group;
  }

  #nextNumber(): number {
    const { numbers, kept } = this.#shared;
    const key = `${this.#stage} ${this.pass}`;
    const isOfThis = ({ stage, pass }: CheckpointFile) => stage === this.#stage && pass === this.pass;
    const before = kept.groups.filter(isOfThis).map((group) => group.number);
    const number = numbers.get(key) ?? Math.max(-1, ...before) + 1;
    numbers.set(key, number + 1);
    return number;
  }

  /** Sends a page to the thread of its group; its bytes move there. */
  async page(
    { group, unit }: ResponseSlot,
    task: Omit<PageTask, "kind" | "pass" | "lands" | "unit">,
  ): Promise<PageResult> {
    const whole = { ...task, kind: "page", pass: this.pass, lands: true, unit } as const;
    return this.#shared.threads.ask(group.first, whole, [task.body.bytes.buffer]);
  }

  async item(
    { group, unit }: ResponseSlot,
    task: Omit<ItemTask, "kind" | "pass" | "unit">,
  ): Promise<ItemResult> {
    const whole = { ...task, kind: "item", pass: this.pass, unit } as const;
    return this.#shared.threads.ask(group.first, whole, [task.body.bytes.buffer]);
  }

  /** Documents of the run before land in the place of answers. */
  async copy({ first }: AnswerGroup, task: Omit<CopyTask, "kind" | "pass">): Promise<void> {
    await this.#shared.threads.ask(first, { ...task, kind: "copy", pass: this.pass });
  }

  /** An answer is whole. Resolves when it is written, where that is due. */
  async add({ group, unit }: ResponseSlot, answer: Answer): Promise<void> {
    group.answered += 1;
    group.waiting.push({ unit, answer });
    const isFull = group.answered === this.groupSize;
    const isDue = this.#shared.clock.elapsedMs() - group.writtenMs >= WRITE_EVERY_MS;
    if (isFull || (isDue && this.#isKept)) await this.#write(group);
  }

  /** Writes what is not written. */
  async finish(): Promise<void> {
    await Promise.all(this.#groups.map((group) => this.#write(group)));
  }

  async #write(group: AnswerGroup): Promise<void> {
    const { waiting } = group;
    if (waiting.length === 0) return;
    const { threads, directory, files, clock } = this.#shared;
    const number = group.number ?? this.#nextNumber();
    Object.assign(group, { waiting: [], number: undefined, writtenMs: clock.elapsedMs() });
    const rawFile = files.of(this.#stage, this.pass, number);
    this.#written.push(rawFile);
    const units = waiting.map(({ unit }) => unit);
    const result = await threads.ask(group.first, { kind: "write", units, rawFile });
    this.#take(rawFile, result);
    if (!this.#isKept) return;
    const { file, drift, fieldNames } = result;
    const answers = waiting.map(({ answer }) => answer);
    const of = { stage: this.#stage, pass: this.pass, number, passStart: this.passStart };
    await writeCheckpoint(directory, rawFile, { ...of, answers, file, drift, fieldNames });
  }

  #take(
    rawFile: string,
    { indexed, drift, fieldNames }: Pick<GroupResult, "indexed" | "drift" | "fieldNames">,
  ) {
    const { index, journal, fieldNames: all } = this.#shared;
    if (indexed !== null) index.add(rawFile, indexed);
    journal.takeDrift(drift);
    for (const name of fieldNames) all.add(name);
  }

  /** Takes back what has landed: the pass is made anew. Only while nothing is asked for. */
  async discard(): Promise<void> {
    const { threads, directory, index } = this.#shared;
    await threads.askAll({ kind: "drop" });
    for (const rawFile of this.#written) {
      await rm(checkpointPath(directory, rawFile), { force: true });
      await rm(rawFile, { force: true });
    }
    const written = new Set(this.#written.splice(0));
    index.remove((path) => written.has(path));
    this.#groups.length = 0;
    this.#group = undefined;
    this.groupSize = undefined;
    this.#kept = [];
    this.passStart = null;
  }
}
