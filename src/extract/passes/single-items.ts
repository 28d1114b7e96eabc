/** Single-item requests after the dynamic listing, for the fields that only such answers give. */
import { WarehouseError } from "../../common/errors.ts";
import { WorkQueue } from "../../common/threads/work-queue.ts";
import { isDue, type Reusable, type ReusableItems } from "../../raw/reusable.ts";
import type { ExtractContext } from "../context.ts";
import { isOpen, type ReadSingles, type SingleRead } from "../landing/checkpoint-form.ts";
import type { StageLanding } from "../landing/landing.ts";
import type { Listed, Pass } from "./listing.ts";
import { FailureBudget, isRejected, putOnRecord, readSingle } from "./single-item.ts";

/** Groups of pages whose single items are one group: a few alone would make a file of a few small documents. */
const GROUPS_TOGETHER = 4;
/** Pages, and items that they list, where it is more than one. */
const PAGES_TOGETHER = 64;
const LISTED_TOGETHER = 1000;

/** Group of the single items that a group of pages listed. */
export function groupOfSingles(
  group: number,
  { pagesPerGroup, askedPerPage }: Pick<Pass, "pagesPerGroup" | "askedPerPage">,
): number {
  const pages = Math.min(PAGES_TOGETHER, LISTED_TOGETHER / askedPerPage);
  return Math.floor(group / Math.min(GROUPS_TOGETHER, Math.max(1, Math.floor(pages / pagesPerGroup))));
}

/** Items under way for each connection: while a thread reads the answer of one, the next is asked for. */
const UNDER_WAY = 2;

export interface DetailsRead {
  /** Items that are gone, by the service's word. */
  readonly gone: readonly string[];
  /** Items that could not be had singly: each is a reject, and its listed views count. */
  readonly rejected: readonly string[];
  readonly asked: number;
  /** Documents of earlier runs that stood in for requests. */
  readonly reused: number;
}

/** What may stand in for requests. */
export interface Reuse extends ReusableItems {
  readonly rereadDays: number;
  /** What is wrong with the run before, in a clause; null: nothing, or there is none. */
  readonly damage: string | null;
}

/**
 * Asks for the items that a pass listed and that are wanted, group by group. Errors: those of the service, and of too
 * many that are gone or rejected.
 */
export async function readDetails(context: ExtractContext, pass: Pass, reuse: Reuse): Promise<DetailsRead> {
  return new DetailsReader(context, pass, reuse).run(pass);
}

class DetailsReader {
  readonly #context: ExtractContext;
  readonly #total: number;
  readonly #landing: StageLanding;
  readonly #queue: WorkQueue;
  readonly #budget: FailureBudget;
  readonly #run: string;
  /** By ID: what stands in for a request. */
  readonly #reusable = new Map<string, Reusable>();
  #reused = 0;
  readonly #gone: string[] = [];
  readonly #rejected: string[] = [];
  #done = 0;
  #bytes = 0;

  constructor(context: ExtractContext, { pass, wanted }: Pass, reuse: Reuse) {
    const { landing, settings, signal } = context;
    this.#context = context;
    this.#total = wanted.length;
    this.#landing = landing.stage("item", pass);
    this.#queue = new WorkQueue(UNDER_WAY * settings.concurrency, signal);
    this.#run = reuse.run;
    for (const item of wanted) {
      const document = reuse.documents.get(item.fingerprint);
      if (document !== undefined && !isItemDue(item, document, reuse)) this.#reusable.set(item.id, document);
    }
    const asked = wanted.filter(({ id }) => !this.#reusable.has(id) && !reuse.failed.has(id)).length;
    this.#budget = new FailureBudget(
      { total: asked, few: this.#reusable.size > 0, excused: reuse.failed, wanted: wanted.length },
      settings.singlesLimits,
    );
  }

  async run(pass: Pass): Promise<DetailsRead> {
    const wanted = pass.wanted.toSorted((a, b) => a.page - b.page || a.position - b.position);
    const groups = Map.groupBy(wanted, ({ group }) => groupOfSingles(group, pass));
    try {
      for (const [group, items] of groups) await this.#group(group, items);
      await this.#queue.done();
    } finally {
      // What has come is taken before it is saved.
      await this.#queue.settled();
    }
    await this.#landing.end(groups.size, this.#context.clock.now());
    const reused = this.#reused;
    return { gone: this.#gone, rejected: this.#rejected, asked: this.#total - reused, reused };
  }

  async #group(group: number, items: readonly Listed[]): Promise<void> {
    const resumed = await this.#landing.resumedSingles(group);
    const answers = resumed === undefined ? new Map() : this.#replay(items, resumed);
    if (resumed !== undefined && !isOpen(resumed)) {
      if (answers.size < items.length) throw doesNotFit();
      this.#queue.follow(this.#landing.resume(group, resumed));
      return;
    }
    if (resumed !== undefined) await this.#landing.resume(group, resumed);
    await this.#reuse(group, items, answers);
    if (answers.size === items.length) this.#close(group, items, answers);
    else await this.#ask(group, items, answers);
  }

  /** Copies what stands in for requests that are still to be made. */
  async #reuse(group: number, items: readonly Listed[], answers: Answers): Promise<void> {
    const found = items.flatMap((item) => {
      const document = answers.has(item.id) ? undefined : this.#reusable.get(item.id);
      return document === undefined ? [] : { item, document };
    });
    for (const [rawFile, ofFile] of Map.groupBy(found, ({ document }) => document.file)) {
      const copied = ofFile.map(({ item: { id: contentId, page, position }, document: { row } }) => {
        return { contentId, page, position, row };
      });
      await this.#landing.copy({ group, rawFile, run: this.#run, items: copied });
    }
    for (const { item, document } of found) {
      const { id, updatedAt } = item;
      const answer = { id, shape: "dynamic", gone: false, read: { updatedAt }, rejects: [] } as const;
      const reused = { ...answer, record: null, reusedFrom: document.observedAt };
      answers.set(id, reused);
      this.#count(item, reused);
    }
  }

  async #ask(group: number, items: readonly Listed[], answers: Answers): Promise<void> {
    const { itemColumns: columns } = this.#context.settings;
    for (const item of items.filter(({ id }) => !answers.has(id))) {
      await this.#queue.add(async () => {
        const landing = this.#landing;
        const single = {
          ...item,
          listed: item,
          landing,
          group,
          shape: "dynamic",
          columns,
          whole: false,
        } as const;
        const answer = await readSingle(this.#context, single, this.#budget, this.#queue.signal);
        answers.set(item.id, answer);
        this.#count(item, answer);
        if (answers.size === items.length) this.#close(group, items, answers);
        else this.#queue.follow(landing.note(group, () => inOrder(items, answers)));
      });
    }
  }

  #close(group: number, items: readonly Listed[], answers: Answers): void {
    this.#queue.follow(this.#landing.close(group, inOrder(items, answers)));
  }

  /** Takes answers that were given before as if they were given now. */
  #replay(items: readonly Listed[], resumed: ReadSingles): Answers {
    const listed = new Map(items.map((item) => [item.id, item]));
    const answers: Answers = new Map();
    for (const answer of resumed.answers) {
      const item = listed.get(answer.id);
      if (item === undefined) throw doesNotFit();
      answers.set(item.id, answer);
      putOnRecord(this.#context, answer);
      if (isRejected(answer)) this.#budget.note(item.id);
      this.#count(item, answer);
    }
    return answers;
  }

  #count(item: Listed, answer: SingleRead): void {
    const { gone, read, record, reusedFrom } = answer;
    const { versions, onProgress } = this.#context;
    this.#done += 1;
    this.#bytes += record?.bytes ?? 0;
    if (isRejected(answer)) this.#rejected.push(item.id);
    if (reusedFrom !== null) this.#reused += 1;
    if (gone) {
      this.#gone.push(item.id);
      this.#budget.assertFewGone(item.id);
    }
    // Only a few columns were asked for: where the item was edited since it was listed, the rest is of before.
    if (read !== null && read.updatedAt !== item.updatedAt) versions.forget("dynamic", item.id);
    const done = this.#done;
    onProgress({ stage: "items", done, total: this.#total, items: done, bytes: this.#bytes });
  }
}

/** Whether it is asked for though there is a document that could stand in. */
function isItemDue(item: Listed, { observedAt: readAt }: Reusable, { rereadDays: days }: Reuse): boolean {
  return isDue(item.id, { readAt, now: item.observedAt, days });
}

type Answers = Map<string, SingleRead>;

function inOrder(items: readonly Listed[], answers: Answers): ReadSingles {
  return { answers: items.flatMap(({ id }) => answers.get(id) ?? []) };
}

function doesNotFit(): WarehouseError {
  return new WarehouseError(
    "internal",
    "What was staged of single items does not fit the listing; it is removed, so run again.",
  );
}
