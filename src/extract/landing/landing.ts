/**
 * Lands the documents of a run: threads read the responses and write raw files, the index says what is in them, and each
 * group of responses that is written gets a checkpoint, so that an interrupted run can resume.
 */
import { extname } from "node:path";
import type { Clock } from "../../common/clock.ts";
import { ThreadPool } from "../../common/threads/threads.ts";
import type { Shape } from "../../raw/document.ts";
import { RawFileReader } from "../../raw/raw-file.ts";
import type { RawPaths } from "../../raw/raw-folder.ts";
import { type FileIndex, indexRows, type RawIndex } from "../../raw/raw-index.ts";
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
  type ItemResponse,
  type PageResponse,
  type ResumeState,
  readCheckpoint,
  writeCheckpoint,
} from "./checkpoint.ts";
import type { Journal } from "./journal.ts";
import type { LanderConfig } from "./land-page.ts";

const MODULE = new URL(`./land-page${extname(import.meta.url)}`, import.meta.url);

/** Threads that read responses and land their documents. The documents of a group wait in one thread. */
type LandingThreads = ThreadPool<
  LandingTask,
  {
    readonly page: PageResult;
    readonly item: ItemResult;
    readonly copy: undefined;
    readonly write: GroupResult;
  }
>;

interface LandingConfig {
  /** Number of threads; 0: this thread. */
  readonly threads: number;
  readonly lander: LanderConfig;
  readonly files: RawPaths;
  readonly index: RawIndex;
  /** The run's staging folder. */
  readonly directory: string;
  readonly resumeState: ResumeState;
  /** Number of listings of the pipeline. Their passes come first and get checkpoints; a resumed run repeats later ones. */
  readonly listings: number;
  readonly journal: Journal;
  readonly clock: Clock;
}

export class Landing implements AsyncDisposable {
  readonly #config: LandingConfig;
  readonly #threads: LandingThreads;
  /** By stage and pass. */
  readonly #stages = new Map<string, StageLanding>();
  /** Slots that were reserved. */
  #units = 0;

  constructor(config: LandingConfig) {
    this.#config = config;
    this.#threads = new ThreadPool({
      module: MODULE,
      threads: config.threads,
      leavesThreads: true,
      setup: () => config.lander,
      revive: ({ code, message, facts: { attemptsAtMost } }, more) =>
        typeof attemptsAtMost === "number"
          ? new SourceError(code, message, { ...more, attemptsAtMost })
          : undefined,
    });
  }

  /** Aborted when a thread ends early. */
  get failure(): AbortSignal {
    return this.#threads.failure;
  }

  /**
   * `stage`: a listing, single items of a pass (`item`), or those requested after it (`after`), which a resumed run repeats,
   * unless they are gone (`gone`).
   */
  of(stage: StageConfig["stage"], pass: number): StageLanding {
    const key = `${stage} ${pass}`;
    const known = this.#stages.get(key);
    if (known !== undefined) return known;
    const reserve = () => ++this.#units;
    const made = new StageLanding({ ...this.#config, stage, pass, reserve }, this.#threads);
    this.#stages.set(key, made);
    return made;
  }

  /** Reads a page without landing it. */
  async look(task: Omit<PageTask, "kind" | "lands" | "unit">): Promise<PageResult> {
    return this.#threads.askAny({ ...task, kind: "page", lands: false, unit: 0 }, [task.body.bytes.buffer]);
  }

  /** Writes all responses of stages with checkpoints that are not written yet. No request may be under way. */
  async save(): Promise<void> {
    const stages = [...this.#stages.values()].filter(({ hasCheckpoints }) => hasCheckpoints);
    const saved = await Promise.allSettled(stages.map((stage) => stage.finish()));
    for (const each of saved) if (each.status === "rejected") throw each.reason;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#threads[Symbol.asyncDispose]();
  }
}

/** Responses that are written together. */
interface ResponseGroup {
  /** Number of its first file. It selects the thread that has the documents until they are written. */
  readonly first: number;
  /** Number of its next file; `undefined`: none is reserved. */
  number: number | undefined;
  reserved: number;
  answered: number;
  /** Responses that are not written yet. */
  waiting: { readonly unit: number; readonly response: PageResponse | ItemResponse }[];
  writtenMs: number;
}

/** Where the response to a request will land. */
export interface ResponseSlot {
  readonly group: ResponseGroup;
  /** Position in the group, from 0. */
  readonly position: number;
  /** Documents of a unit are written together, when the response is complete. */
  readonly unit: number;
}

/** Single items of a group. */
const SINGLES_PER_GROUP = 64;
/** A group is written after this time, however small it is: a run that is killed loses no more. */
const WRITE_EVERY_MS = 10_000;

interface StageConfig extends LandingConfig {
  readonly stage: Shape | "item" | "after" | "gone";
  readonly pass: number;
  /** Returns the number of a new unit. */
  readonly reserve: () => number;
}

/** Lands the responses of one stage, group by group. */
export class StageLanding {
  readonly pass: number;
  /** Whether a resumed run knows what landed. */
  readonly hasCheckpoints: boolean;
  /** Responses of a group; `undefined`: not known yet. */
  groupSize: number | undefined;
  /** For listings only. */
  passStart: ResumeState["groups"][number]["passStart"];
  /** IDs of the instances that documents which landed name. */
  readonly instanceIds = new Set<string>();
  readonly #config: StageConfig;
  readonly #threads: LandingThreads;
  /** Of this stage and pass, of the interrupted run. */
  readonly #checkpoints: ResumeState["groups"];
  /** The group that takes the next response. */
  #group: ResponseGroup | undefined;
  readonly #groups: ResponseGroup[] = [];
  #nextNumber: number;

  constructor(config: StageConfig, threads: LandingThreads) {
    const { stage, pass, listings, resumeState } = config;
    this.#config = config;
    this.#threads = threads;
    this.pass = pass;
    this.hasCheckpoints = stage !== "after" && pass <= listings;
    this.#checkpoints = resumeState.groups.filter((group) => group.stage === stage && group.pass === pass);
    this.#nextNumber = Math.max(-1, ...this.#checkpoints.map(({ number }) => number)) + 1;
    this.passStart = this.#checkpoints[0]?.passStart ?? null;
    if (stage !== "dynamic" && stage !== "full") this.groupSize = SINGLES_PER_GROUP;
  }

  /** Responses that the interrupted run got, group by group. Their documents count as landed. */
  async *resumed<Response extends PageResponse | ItemResponse>(): AsyncGenerator<readonly Response[]> {
    for (const { rawFile } of this.#checkpoints) {
      const group = await readCheckpoint<Response>(this.#config.directory, rawFile);
      this.#record(rawFile, { ...group, indexed: group.file === null ? null : indexFile(rawFile) });
      yield group.responses;
    }
  }

  /** Reserves the slot of the next response. */
  reserveSlot(): ResponseSlot {
    const group = this.#openGroup();
    group.reserved += 1;
    return { group, position: group.reserved - 1, unit: this.#config.reserve() };
  }

  #openGroup(): ResponseGroup {
    if (this.#group !== undefined && this.#group.reserved !== this.groupSize) return this.#group;
    const number = this.#nextNumber++;
    const writtenMs = this.#config.clock.elapsedMs();
    this.#group = { first: number, number, reserved: 0, answered: 0, waiting: [], writtenMs };
    this.#groups.push(this.#group);
    return this.#group;
  }

  /** Reads a page in the thread of its group. Its bytes move there. */
  async page(
    { group, unit }: ResponseSlot,
    task: Omit<PageTask, "kind" | "pass" | "lands" | "unit">,
  ): Promise<PageResult> {
    const whole = { ...task, kind: "page", pass: this.pass, lands: true, unit } as const;
    return this.#threads.ask(group.first, whole, [task.body.bytes.buffer]);
  }

  async item(
    { group, unit }: ResponseSlot,
    task: Omit<ItemTask, "kind" | "pass" | "unit">,
  ): Promise<ItemResult> {
    const whole = { ...task, kind: "item", pass: this.pass, unit } as const;
    return this.#threads.ask(group.first, whole, [task.body.bytes.buffer]);
  }

  /** Lands documents of an earlier run in place of responses. */
  async copy({ first }: ResponseGroup, task: Omit<CopyTask, "kind" | "pass">): Promise<void> {
    await this.#threads.ask(first, { ...task, kind: "copy", pass: this.pass });
  }

  /** Takes a complete response. Writes its group if that is due, and resolves then. */
  async add({ group, unit }: ResponseSlot, response: PageResponse | ItemResponse): Promise<void> {
    group.answered += 1;
    group.waiting.push({ unit, response });
    const isFull = group.answered === this.groupSize;
    const isDue = this.#config.clock.elapsedMs() - group.writtenMs >= WRITE_EVERY_MS;
    if (isFull || (isDue && this.hasCheckpoints)) await this.#write(group);
  }

  /** Writes all responses that are not written yet. The next one begins a group. */
  async finish(): Promise<void> {
    this.#group = undefined;
    await Promise.all(this.#groups.map((group) => this.#write(group)));
  }

  async #write(group: ResponseGroup): Promise<void> {
    const { waiting } = group;
    if (waiting.length === 0) return;
    const { directory, files, clock, stage, pass } = this.#config;
    const number = group.number ?? this.#nextNumber++;
    Object.assign(group, { waiting: [], number: undefined, writtenMs: clock.elapsedMs() });
    const rawFile = files.of(stage, pass, number);
    const units = waiting.map(({ unit }) => unit);
    const result = await this.#threads.ask(group.first, { kind: "write", units, rawFile });
    this.#record(rawFile, result);
    if (!this.hasCheckpoints) return;
    const { indexed: _, ...landed } = result;
    const responses = waiting.map(({ response }) => response);
    const position = { stage, pass, number, passStart: this.passStart };
    await writeCheckpoint(directory, rawFile, { ...position, ...landed, responses });
  }

  #record(rawFile: string, { indexed, drift, fieldNames, instanceIds }: Omit<GroupResult, "file">) {
    const { index, journal } = this.#config;
    if (indexed !== null) index.add(rawFile, indexed);
    journal.takeDrift(drift);
    for (const name of fieldNames) journal.fieldNames.add(name);
    for (const id of instanceIds) this.instanceIds.add(id);
  }
}

function indexFile(file: string): FileIndex {
  using rows = new RawFileReader(file);
  return indexRows(rows);
}
