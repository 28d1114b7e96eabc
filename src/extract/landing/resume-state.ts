/** Reads what a run that was ended early has kept. Nothing is believed that does not fit: it counts as not there. */
import { hash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { z } from "zod";
import type { ErrorCode } from "../../common/errors.ts";
import { bytesOf, readSealed } from "../../common/sealed-file.ts";
import type { Shape } from "../../raw/document.ts";
import type { RawFiles } from "../../raw/raw-files.ts";
import {
  checkpointFile,
  isListStage,
  openFile,
  type PassOfStage,
  type SingleStage,
  type Stage,
  stagesInOrder,
} from "./checkpoint.ts";
import {
  type Closed,
  forms,
  isOpen,
  type ListedGroup,
  type Open,
  type SingleGroup,
  type StageEnd,
} from "./checkpoint-form.ts";

/** Failures after which the same run may go on: they say nothing against what has landed. */
const RESUMABLE: ReadonlySet<ErrorCode> = new Set([
  "run.interrupted",
  "run.terminated",
  "source.credentials",
  "source.unreachable",
  "source.timeout",
  "source.unavailable",
  "source.damaged",
  "load.failed",
  "disk.full",
]);

export function isResumable(code: ErrorCode): boolean {
  return RESUMABLE.has(code);
}

/** Groups of a pass that were answered, completely or in part. */
export interface ResumedPass {
  readonly groups: readonly { readonly group: number; readonly read: () => Promise<ListedGroup> }[];
  readonly pages: number;
  /** Of the pass; milliseconds since 1970. */
  readonly startedMs: number;
  /** Undefined: the pass was not at its end. */
  readonly endedMs: number | undefined;
  readonly perPage: number;
  readonly pagesPerGroup: number;
}

export interface ResumeState {
  readonly dynamic?: ResumedPass;
  readonly full?: ResumedPass;
  /** Of a group of single items; undefined: they are to be asked for. */
  singles(stage: SingleStage, group: number): Promise<SingleGroup | undefined>;
  /** Groups of items that were repaired, ascending. */
  readonly repaired: readonly number[];
  /** Pages of listings that were read; none: there is nothing to go on from. */
  readonly pages: number;
  /** Single items. */
  readonly items: number;
  /** Absolute paths of the files that it consists of. */
  readonly files: ReadonlySet<string>;
}

export const EMPTY_RESUME: ResumeState = {
  singles: async () => undefined,
  repaired: [],
  pages: 0,
  items: 0,
  files: new Set(),
};

/** Reads and proves what is kept in a run's staging folder. A stage counts only where the ones before it are whole. */
export class ResumeReader {
  readonly #directory: string;
  readonly #raw: RawFiles;
  readonly #passOf: PassOfStage;
  readonly #files = new Set<string>();

  constructor(directory: string, raw: RawFiles, passOf: PassOfStage) {
    this.#directory = directory;
    this.#raw = raw;
    this.#passOf = passOf;
  }

  async read(): Promise<ResumeState> {
    const passes: Partial<Record<Shape, ResumedPass>> = {};
    const groups: Record<SingleStage, readonly number[]> = { item: [], repair: [] };
    let items = 0;
    for (const stage of stagesInOrder(this.#passOf)) {
      if (isListStage(stage)) {
        const pass = await this.#pass(stage);
        if (pass !== undefined) passes[stage] = pass;
        if (pass?.endedMs === undefined) break;
      } else {
        const singles = await this.#groups(stage, (group) => this.#single(stage, group));
        groups[stage] = singles.groups;
        items += singles.answers;
        if (singles.endedMs === undefined) break;
      }
    }
    return {
      ...passes,
      singles: async (stage, group) =>
        groups[stage].includes(group) ? this.#single(stage, group) : undefined,
      repaired: groups.repair,
      pages: Object.values(passes).reduce((sum, { pages }) => sum + pages, 0),
      items,
      files: this.#files,
    };
  }

  async #single(stage: SingleStage, group: number): Promise<SingleGroup | undefined> {
    return this.#sound(stage, group, forms.single, forms.openSingle);
  }

  async #pass(stage: Shape): Promise<ResumedPass | undefined> {
    const read = (group: number) => this.#sound(stage, group, forms.listed, forms.openListed);
    const first = await read(0);
    if (first?.pages[0]?.page !== 1) return undefined;
    const { startedMs, perPage, pagesPerGroup } = first;
    const { groups, answers, endedMs } = await this.#groups(stage, async (group, isLast) => {
      const found = await read(group);
      return found !== undefined && belongs(found, first, group, isLast) ? found : undefined;
    });
    return {
      groups: groups.map((group) => {
        return { group, read: async () => (await read(group)) ?? lost(stage, group) };
      }),
      pages: answers,
      startedMs,
      endedMs,
      perPage,
      pagesPerGroup,
    };
  }

  /** The groups of a stage that count, with how many answers they have. `endedMs`: all that were wanted are there. */
  async #groups(
    stage: Stage,
    read: (group: number, isLast: boolean) => Promise<ListedGroup | SingleGroup | undefined>,
  ) {
    const numbers = await this.#numbersOf(stage);
    const groups: number[] = [];
    let answers = 0;
    let whole = true;
    for (const group of numbers) {
      const found = await read(group, group === numbers.at(-1));
      if (found === undefined) continue;
      this.#vouch(stage, group, found);
      groups.push(group);
      answers += "pages" in found ? found.pages.length : found.answers.length;
      whole &&= !isOpen(found);
    }
    const end = whole ? await this.#end(stage, groups.length) : undefined;
    return { groups, answers, endedMs: end?.endedMs };
  }

  /** Numbers of all groups that there are files of, ascending. */
  async #numbersOf(stage: Stage): Promise<number[]> {
    const folder = dirname(checkpointFile(this.#directory, stage, 0));
    const groups = (await readdir(folder)).flatMap((name) => {
      const [, of, group] = /^([a-z]+)-(\d+)(?:-open)?\.json$/.exec(name) ?? [];
      return of === stage ? [Number(group)] : [];
    });
    return [...new Set(groups)].sort((a, b) => a - b);
  }

  #vouch(stage: Stage, group: number, kept: Open | Closed): void {
    if (isOpen(kept)) {
      this.#files.add(openFile(this.#directory, stage, group));
      return;
    }
    this.#files.add(checkpointFile(this.#directory, stage, group));
    if (kept.file !== null) this.#files.add(this.#rawFile(stage, group));
  }

  #rawFile(stage: Stage, group: number): string {
    return this.#raw.of(stage === "repair" ? "after" : stage, this.#passOf[stage], group);
  }

  /** What is whole wins over what was saved before; each counts only with what was written with it. */
  async #sound<Whole extends Closed, Partial extends Open>(
    stage: Stage,
    group: number,
    closedForm: z.ZodType<Whole>,
    openForm: z.ZodType<Partial>,
  ): Promise<Whole | Partial | undefined> {
    const closed = await readSealed(checkpointFile(this.#directory, stage, group), closedForm);
    if (closed !== undefined && (await this.#hasFile(stage, group, closed))) return closed;
    return readSealed(openFile(this.#directory, stage, group), openForm);
  }

  /** Whether the raw file is the one that was written with the group. */
  async #hasFile(stage: Stage, group: number, { file }: Closed): Promise<boolean> {
    if (file === null) return true;
    const bytes = await bytesOf(this.#rawFile(stage, group));
    return bytes !== undefined && bytes.length === file.bytes && hash("sha256", bytes) === file.sha256;
  }

  async #end(stage: Stage, groups: number): Promise<StageEnd | undefined> {
    const file = checkpointFile(this.#directory, stage, "end");
    const end = await readSealed(file, forms.end);
    if (end?.groups !== groups) return undefined;
    this.#files.add(file);
    return end;
  }
}

function lost(stage: Stage, group: number): never {
  throw new TypeError(`${stage} group ${group} was there a moment ago`);
}

/** Whether a group is of the same pass as the first, with its own pages: all of them, unless it is open or the last. */
function belongs(found: ListedGroup, first: ListedGroup, group: number, last: boolean): boolean {
  const samePass =
    found.startedMs === first.startedMs &&
    found.perPage === first.perPage &&
    found.pagesPerGroup === first.pagesPerGroup;
  const numbers = found.pages.map(({ page }) => page - group * first.pagesPerGroup);
  const ascending = numbers.every((number, i) => number > (numbers[i - 1] ?? 0));
  const own = ascending && (numbers.at(-1) ?? 0) <= first.pagesPerGroup;
  const withoutGap = numbers.at(-1) === numbers.length && (last || numbers.length === first.pagesPerGroup);
  return samePass && own && (isOpen(found) || withoutGap);
}
