/** Reads what a run that was ended early has kept. Nothing is believed that does not fit: it counts as not there. */
import { hash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { checkpointFile, type Stage, SWEEP_OF } from "./checkpoint.ts";
import { forms, type ListedGroup, type SingleGroup, type StageEnd } from "./checkpoint-form.ts";
import type { WrittenFile } from "./raw.ts";
import type { RawFiles } from "./raw-files.ts";
import { bytesOf, readSealed } from "./sealed-file.ts";

/** Groups of a pass, from the first on and without a gap. */
export interface KeptPass {
  readonly groups: number;
  readonly pages: number;
  /** Of the pass; milliseconds since 1970. */
  readonly startedMs: number;
  /** Undefined: the pass was not at its end. */
  readonly endedMs: number | undefined;
  readonly perPage: number;
  readonly pagesPerGroup: number;
  read(group: number): Promise<ListedGroup>;
}

/** What can be used again. */
export interface Kept {
  readonly dynamic: KeptPass | undefined;
  readonly full: KeptPass | undefined;
  /** Of a group of single items; undefined: they are to be asked for. */
  singles(group: number): Promise<SingleGroup | undefined>;
  readonly items: number;
  /** Absolute paths of the files that it consists of. */
  readonly files: ReadonlySet<string>;
}

export const NOTHING_KEPT: Kept = {
  dynamic: undefined,
  full: undefined,
  singles: async () => undefined,
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
    const singles = dynamic?.endedMs === undefined ? NO_SINGLES : await this.#singles();
    const full = singles.whole ? await this.#pass("full") : undefined;
    return {
      dynamic,
      full,
      singles: async (group) => (singles.groups.has(group) ? await this.#group("item", group) : undefined),
      items: singles.items,
      files: this.#files,
    };
  }

  async #pass(stage: "dynamic" | "full"): Promise<KeptPass | undefined> {
    const first = await this.#sound(stage, 0);
    if (first === undefined) return undefined;
    let groups = 0;
    let pages = 0;
    for (let group: ListedGroup | undefined = first; group !== undefined; ) {
      if (!follows(group, first, pages)) break;
      this.#vouch(stage, groups, group.file);
      groups += 1;
      pages += group.pages.length;
      group = await this.#sound(stage, groups);
    }
    if (groups === 0) return undefined;
    const { startedMs, perPage, pagesPerGroup } = first;
    const end = await this.#end(stage, groups);
    return {
      groups,
      pages,
      startedMs,
      endedMs: end?.endedMs,
      perPage,
      pagesPerGroup,
      read: async (group) => {
        const read = await this.#group(stage, group);
        if (read === undefined) throw new TypeError(`${stage} group ${group} was there a moment ago`);
        return read;
      },
    };
  }

  async #singles(): Promise<Singles> {
    const groups = new Set<number>();
    let items = 0;
    for (const group of await this.#singleGroups()) {
      const single = await this.#sound("item", group);
      if (single === undefined) continue;
      this.#vouch("item", group, single.file);
      groups.add(group);
      items += single.answers.length;
    }
    return { groups, items, whole: (await this.#end("item", groups.size)) !== undefined };
  }

  async #singleGroups(): Promise<number[]> {
    const names = await readdir(join(checkpointFile(this.#directory, "item", 0), ".."));
    return names.flatMap((name) => {
      const [, group] = /^item-(\d+)\.json$/.exec(name) ?? [];
      return group === undefined ? [] : [Number(group)];
    });
  }

  #vouch(stage: Stage, group: number, file: WrittenFile | null): void {
    this.#files.add(checkpointFile(this.#directory, stage, group));
    if (file !== null) this.#files.add(this.#rawFile(stage, group));
  }

  #rawFile(stage: Stage, group: number): string {
    return join(this.#directory, this.#raw.name(stage, SWEEP_OF[stage], group));
  }

  /** A group that can be read, and whose raw file is the one that was written with it. */
  async #sound(stage: "dynamic" | "full", group: number): Promise<ListedGroup | undefined>;
  async #sound(stage: "item", group: number): Promise<SingleGroup | undefined>;
  async #sound(stage: Stage, group: number): Promise<ListedGroup | SingleGroup | undefined> {
    const read = stage === "item" ? await this.#group(stage, group) : await this.#group(stage, group);
    if (read === undefined || read.file === null) return read;
    const bytes = await bytesOf(this.#rawFile(stage, group));
    const same =
      bytes !== undefined && bytes.length === read.file.bytes && hash("sha256", bytes) === read.file.sha256;
    return same ? read : undefined;
  }

  async #group(stage: "dynamic" | "full", group: number): Promise<ListedGroup | undefined>;
  async #group(stage: "item", group: number): Promise<SingleGroup | undefined>;
  async #group(stage: Stage, group: number): Promise<ListedGroup | SingleGroup | undefined> {
    const file = checkpointFile(this.#directory, stage, group);
    return stage === "item" ? await readSealed(file, forms.single) : await readSealed(file, forms.listed);
  }

  async #end(stage: Stage, groups: number): Promise<StageEnd | undefined> {
    const file = checkpointFile(this.#directory, stage, "end");
    const end = await readSealed(file, forms.end);
    if (end?.groups !== groups) return undefined;
    this.#files.add(file);
    return end;
  }
}

interface Singles {
  readonly groups: ReadonlySet<number>;
  readonly items: number;
  /** Whether all that were wanted are there. */
  readonly whole: boolean;
}

const NO_SINGLES: Singles = { groups: new Set(), items: 0, whole: false };

/** Whether a group is of the same pass as the first, and has the pages that come after the first `pages`. */
function follows(group: ListedGroup, first: ListedGroup, pages: number): boolean {
  const samePass =
    group.startedMs === first.startedMs &&
    group.perPage === first.perPage &&
    group.pagesPerGroup === first.pagesPerGroup;
  const inOrder = group.pages.every(({ page }, place) => page === pages + place + 1);
  // Only the last group of a pass has fewer pages.
  return samePass && inOrder && pages % first.pagesPerGroup === 0;
}
