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

const MODULE = new URL(`./land-page${extname(import.meta.url)}`, import.meta.url);

/** Threads that read responses and land their documents. The documents of a group wait in one thread. */
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
  readonly resumeState: ResumeState;
  /** Number of listings of the pipeline. Their passes come first and get checkpoints; a resumed run repeats later ones. */
  readonly listings: number;
  readonly journal: Journal;
  readonly clock: Clock;
}

export class Landing {
  readonly config: LandingConfig;
  /** Names of the custom fields in the documents. */
  readonly fieldNames = new Set<string>();
  /** Stages with checkpoints. */
  readonly stages: StageLanding<PageResponse | ItemResponse>[] = [];
  /** Number of the next group, by stage and pass. */
  readonly numbers = new Map<string, number>();
  /** Slots that were reserved. */
  units = 0;

  constructor(config: LandingConfig) {
    this.config = config;
  }

  pages(mode: Shape, pass: number): StageLanding<PageResponse> {
    return new StageLanding<PageResponse>(this, mode, pass);
  }

  /** Single items of a pass (`item`), or those requested after it (`after`), which a resumed run requests again. */
  singles(stage: "item" | "after", pass: number): StageLanding<ItemResponse> {
    return new StageLanding<ItemResponse>(this, stage, pass);
  }

  /** Reads a page without landing it. */
  async look(task: Omit<PageTask, "kind" | "lands" | "unit">): Promise<PageResult> {
    return this.config.threads.askAny({ ...task, kind: "page", lands: false, unit: 0 }, [
      task.body.bytes.buffer,
    ]);
  }

  /** Writes all responses that are not written yet. No request may be under way. */
  async save(): Promise<void> {
    const saved = await Promise.allSettled(this.stages.map((stage) => stage.finish()));
    for (const each of saved) if (each.status === "rejected") throw each.reason;
  }
}

/** Responses that are written together. */
export interface ResponseGroup {
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
export const SINGLES_PER_GROUP = 200;
/** A group is written after this time, however small it is: a run that is killed loses no more. */
const WRITE_EVERY_MS = 10_000;

/** Lands the responses of one stage, group by group. */
export class StageLanding<Response extends PageResponse | ItemResponse> {
  readonly pass: number;
  /** Responses of a group; `undefined`: not known yet. */
  groupSize: number | undefined;
  /** For listings only. */
  passStart: PassStart | null;
  readonly #stage: Shape | "item" | "after";
  readonly #hasCheckpoints: boolean;
  readonly #landing: Landing;
  /** Of this stage and pass, of the interrupted run. */
  readonly #checkpoints: readonly CheckpointFile[];
  /** The last group that was opened. */
  #group: ResponseGroup | undefined;
  readonly #groups: ResponseGroup[] = [];

  constructor(landing: Landing, stage: Shape | "item" | "after", pass: number) {
    this.#landing = landing;
    this.#stage = stage;
    this.pass = pass;
    this.#hasCheckpoints = stage !== "after" && pass <= landing.config.listings;
    const { groups } = landing.config.resumeState;
    this.#checkpoints = groups.filter((group) => group.stage === stage && group.pass === pass);
    this.passStart = this.#checkpoints[0]?.passStart ?? null;
    if (stage === "item" || stage === "after") this.groupSize = SINGLES_PER_GROUP;
    if (this.#hasCheckpoints) landing.stages.push(this);
  }

  /** Responses that the interrupted run got, group by group. Their documents count as landed. */
  async *resumed(): AsyncGenerator<readonly Response[]> {
    for (const { rawFile } of this.#checkpoints) {
      const group = await readCheckpoint<Response>(checkpointPath(this.#landing.config.directory, rawFile));
      if (group === undefined) throw new TypeError(`the checkpoint of ${rawFile} is gone`);
      this.#record(rawFile, { ...group, indexed: group.file === null ? null : indexFile(rawFile) });
      yield group.responses;
    }
  }

  /** Reserves the slot of the next response. */
  reserveSlot(): ResponseSlot {
    const group = this.#openGroup();
    group.reserved += 1;
    this.#landing.units += 1;
    return { group, position: group.reserved - 1, unit: this.#landing.units };
  }

  #openGroup(): ResponseGroup {
    if (this.#group !== undefined && this.#group.reserved !== this.groupSize) return this.#group;
    const number = this.#nextNumber();
    const writtenMs = this.#landing.config.clock.elapsedMs();
    this.#group = { first: number, number, reserved: 0, answered: 0, waiting: [], writtenMs };
    this.#groups.push(this.#group);
    return this.#group;
  }

  #nextNumber(): number {
    const { numbers } = this.#landing;
    const key = `${this.#stage} ${this.pass}`;
    const number = numbers.get(key) ?? Math.max(-1, ...this.#checkpoints.map((group) => group.number)) + 1;
    numbers.set(key, number + 1);
    return number;
  }

  /** Reads a page in the thread of its group. Its bytes move there. */
  async page(
    { group, unit }: ResponseSlot,
    task: Omit<PageTask, "kind" | "pass" | "lands" | "unit">,
  ): Promise<PageResult> {
    const whole = { ...task, kind: "page", pass: this.pass, lands: true, unit } as const;
    return this.#landing.config.threads.ask(group.first, whole, [task.body.bytes.buffer]);
  }

  async item(
    { group, unit }: ResponseSlot,
    task: Omit<ItemTask, "kind" | "pass" | "unit">,
  ): Promise<ItemResult> {
    const whole = { ...task, kind: "item", pass: this.pass, unit } as const;
    return this.#landing.config.threads.ask(group.first, whole, [task.body.bytes.buffer]);
  }

  /** Lands documents of an earlier run in place of responses. */
  async copy({ first }: ResponseGroup, task: Omit<CopyTask, "kind" | "pass">): Promise<void> {
    await this.#landing.config.threads.ask(first, { ...task, kind: "copy", pass: this.pass });
  }

  /** Takes a complete response. Writes its group if that is due, and resolves then. */
  async add({ group, unit }: ResponseSlot, response: Response): Promise<void> {
    group.answered += 1;
    group.waiting.push({ unit, response });
    const isFull = group.answered === this.groupSize;
    const isDue = this.#landing.config.clock.elapsedMs() - group.writtenMs >= WRITE_EVERY_MS;
    if (isFull || (isDue && this.#hasCheckpoints)) await this.#write(group);
  }

  /** Writes all responses that are not written yet. */
  async finish(): Promise<void> {
    await Promise.all(this.#groups.map((group) => this.#write(group)));
  }

  async #write(group: ResponseGroup): Promise<void> {
    const { waiting } = group;
    if (waiting.length === 0) return;
    const { threads, directory, files, clock } = this.#landing.config;
    const number = group.number ?? this.#nextNumber();
    Object.assign(group, { waiting: [], number: undefined, writtenMs: clock.elapsedMs() });
    const rawFile = files.of(this.#stage, this.pass, number);
    const units = waiting.map(({ unit }) => unit);
    const result = await threads.ask(group.first, { kind: "write", units, rawFile });
    this.#record(rawFile, result);
    if (!this.#hasCheckpoints) return;
    const { file, drift, fieldNames } = result;
    const responses = waiting.map(({ response }) => response);
    const position = { stage: this.#stage, pass: this.pass, number, passStart: this.passStart };
    await writeCheckpoint(directory, rawFile, { ...position, responses, file, drift, fieldNames });
  }

  #record(
    rawFile: string,
    { indexed, drift, fieldNames }: Pick<GroupResult, "indexed" | "drift" | "fieldNames">,
  ) {
    const { index, journal } = this.#landing.config;
    if (indexed !== null) index.add(rawFile, indexed);
    journal.takeDrift(drift);
    for (const name of fieldNames) this.#landing.fieldNames.add(name);
  }
}

function indexFile(file: string): FileIndex {
  using rows = new RawFileReader(file);
  return indexRows(rows);
}
