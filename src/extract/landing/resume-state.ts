/** Reads what a run that was ended early has kept. Nothing is believed that does not fit: it counts as not there. */
import { hash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  checkpointFile,
  type ListStage,
  openFile,
  type SingleStage,
  type Stage,
  SWEEP_OF,
} from "./checkpoint.ts";
import {
  type Closed,
  forms,
  type ListedGroup,
  type Open,
  type OpenListedGroup,
  type OpenSingleGroup,
  type SingleGroup,
  type StageEnd,
} from "./checkpoint-form.ts";
import type { RawFiles } from "../../run/raw-files.ts";
import { bytesOf, readSealed } from "../../common/sealed-file.ts";

/** Groups of a pass that were answered, completely or in part. */
export interface KeptPass {
  readonly groups: readonly KeptGroup[];
  readonly pages: number;
  /** Of the pass; milliseconds since 1970. */
  readonly startedMs: number;
  /** Undefined: the pass was not at its end. */
  readonly endedMs: number | undefined;
  readonly perPage: number;
  readonly pagesPerGroup: number;
}

export interface KeptGroup {
  readonly group: number;
  read(): Promise<ListedGroup | OpenListedGroup>;
}

/** What can be used again. */
export interface Kept {
  readonly dynamic: KeptPass | undefined;
  readonly full: KeptPass | undefined;
  /** Of a group of single items; undefined: they are to be asked for. */
  singles(stage: SingleStage, group: number): Promise<SingleGroup | OpenSingleGroup | undefined>;
  /** Groups of items that were repaired, ascending. */
  readonly repaired: readonly number[];
  readonly items: number;
  /** Absolute paths of the files that it consists of. */
  readonly files: ReadonlySet<string>;
}

export const NOTHING_KEPT: Kept = {
  dynamic: undefined,
  full: undefined,
  singles: async () => undefined,
  repaired: [],
  items: 0,
  files: new Set(),
};

/** Reads and proves what is kept in a run's staging folder. A stage counts only where the ones before it are whole. */
export async function readKept(directory: string, raw: RawFiles): Promise<Kept> {
  return new Reader(directory, raw).read();
}

class Reader {
  readonly #directory: string;
  readonly #raw: RawFiles;
  readonly #files = new Set<string>();

  constructor(directory: string, raw: RawFiles) {
    this.#directory = directory;
    this.#raw = raw;
  }

  async read(): Promise<Kept> {
    const dynamic = await this.#pass("dynamic");
    const items = dynamic?.endedMs === undefined ? NO_SINGLES : await this.#singles("item");
    const full = items.whole ? await this.#pass("full") : undefined;
    const repair = full?.endedMs === undefined ? NO_SINGLES : await this.#singles("repair");
    const groups = { item: items.groups, repair: repair.groups };
    return {
      dynamic,
      full,
      singles: async (stage, group) =>
        groups[stage].has(group) ? this.#soundSingles(stage, group) : undefined,
      repaired: [...repair.groups],
      items: items.items + repair.items,
      files: this.#files,
    };
  }

  async #pass(stage: ListStage): Promise<KeptPass | undefined> {
    const first = await this.#soundPages(stage, 0);
    if (first?.pages[0]?.page !== 1) return undefined;
    const { startedMs, perPage, pagesPerGroup } = first;
    const numbers = await this.#groupsOf(stage);
    const groups: KeptGroup[] = [];
    let pages = 0;
    let whole = true;
    for (const group of numbers) {
      const found = group === 0 ? first : await this.#soundPages(stage, group);
      if (found === undefined || !belongs(found, first, group, group === numbers.at(-1))) continue;
      this.#vouch(stage, group, found);
      groups.push({ group, read: async () => this.#again(stage, group) });
      pages += found.pages.length;
      whole &&= !isOpen(found);
    }
    const end = whole ? await this.#end(stage, groups.length) : undefined;
    return { groups, pages, startedMs, endedMs: end?.endedMs, perPage, pagesPerGroup };
  }

  async #again(stage: ListStage, group: number): Promise<ListedGroup | OpenListedGroup> {
    const read = await this.#soundPages(stage, group);
    if (read === undefined) throw new TypeError(`${stage} group ${group} was there a moment ago`);
    return read;
  }

  async #singles(stage: SingleStage): Promise<Singles> {
    const groups = new Set<number>();
    let items = 0;
    let whole = true;
    for (const group of await this.#groupsOf(stage)) {
      const single = await this.#soundSingles(stage, group);
      if (single === undefined) continue;
      this.#vouch(stage, group, single);
      groups.add(group);
      items += single.answers.length;
      whole &&= !isOpen(single);
    }
    return { groups, items, whole: whole && (await this.#end(stage, groups.size)) !== undefined };
  }

  /** Numbers of all groups that there are files of, ascending. */
  async #groupsOf(stage: Stage): Promise<number[]> {
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
    return join(this.#directory, this.#raw.name(stage, SWEEP_OF[stage], group));
  }

  /** What is whole wins over what was saved before; each counts only with what was written with it. */
  async #soundPages(stage: ListStage, group: number): Promise<ReadPages | undefined> {
    const closed = await readSealed(checkpointFile(this.#directory, stage, group), forms.listed);
    if (closed !== undefined && (await this.#hasFile(stage, group, closed))) return closed;
    return readSealed(openFile(this.#directory, stage, group), forms.openListed);
  }

  async #soundSingles(stage: SingleStage, group: number): Promise<SingleGroup | OpenSingleGroup | undefined> {
    const closed = await readSealed(checkpointFile(this.#directory, stage, group), forms.single);
    if (closed !== undefined && (await this.#hasFile(stage, group, closed))) return closed;
    return readSealed(openFile(this.#directory, stage, group), forms.openSingle);
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

type ReadPages = ListedGroup | OpenListedGroup;

interface Singles {
  readonly groups: ReadonlySet<number>;
  readonly items: number;
  /** Whether all that were wanted are there. */
  readonly whole: boolean;
}

const NO_SINGLES: Singles = { groups: new Set(), items: 0, whole: false };

/** Whether the documents of a group wait for further answers. */
export function isOpen<Kept extends Open>(kept: Kept | Closed): kept is Kept {
  return "landed" in kept;
}

/** Whether a group is of the same pass as the first, with its own pages: all of them, unless it is open or the last. */
function belongs(found: ReadPages, first: ReadPages, group: number, last: boolean): boolean {
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
