/**
 * From requests to staged parts: the dynamic listing, single items, the full listing with its items paired and
 * transformed on the way; where passes differ, single items and basic passes; then what could not be paired on the way.
 */

import { asWarehouseError } from "../common/errors.ts";
import type { Bounds } from "../storage/id-ranges.ts";
import { type SweepRecord, sweepRecord } from "./run-tables.ts";
import { bucketBounds, vectorBytes } from "../load/range-bounds.ts";
import { Certification, type Step, type SweepMode } from "../extract/passes/certification.ts";
import { type Checkpoint, type SingleStage, type Stage, SWEEP_OF } from "../extract/landing/checkpoint.ts";
import type {
  ListedGroup,
  OpenListedGroup,
  OpenSingleGroup,
  ReadGroup,
  ReadSingles,
  SingleGroup,
} from "../extract/landing/checkpoint-form.ts";
import {
  type Details,
  type DetailsRead,
  groupOfSingles,
  type PagesOfGroup,
  readDetails,
  Wanted,
} from "../extract/passes/single-items.ts";
import { choosePageSize } from "../extract/pages/first-page.ts";
import type { Holdings, Unread } from "../extract/passes/item-versions.ts";
import { isOpen, type Kept, type KeptPass } from "../extract/landing/resume-state.ts";
import { letGo } from "../common/gc.ts";
import type { Missing } from "../warehouse/previous-items.ts";
import { type Answered, OpenGroups } from "../extract/landing/open-groups.ts";
import { type PageKind, PageSizes, type PerPage, type UsedSizes } from "../extract/pages/page-size.ts";
import { RawFiles } from "./raw-files.ts";
import { type AfterPass, askForUnlisted, compare, repair, replayRepaired } from "../extract/passes/repair.ts";
import { afterFailure } from "./resume.ts";
import { isTooLarge, runSweep, type Sweep, type SweepContext, type SweepStaging } from "../extract/passes/listing.ts";
import type { GroupResult, PairedFiles, RestoreTask } from "./tasks.ts";
import { AGAIN, Transformed, transformRest } from "./transformed.ts";

export interface ExtractionOptions {
  readonly details: Details;
  /** The run's staging folder. */
  readonly directory: string;
  /** Folder of the raw files, below `directory`. */
  readonly raw: string;
  readonly temporaryDirectory: string;
  readonly sequence: number;
  readonly perPage: PerPage;
  /** Of the run before. */
  readonly pageSizes: UsedSizes;
  /** What was read before the run was taken up. */
  readonly kept: Kept;
  /** Where it is kept what is read. */
  readonly checkpoint: Checkpoint;
  /** Finds items of the run before that are not `listed`. */
  readonly findMissing: (listed: (contentId: string) => boolean) => Promise<Missing>;
}

export interface Extraction {
  readonly sweeps: readonly SweepRecord[];
  /** All items that any pass listed, and those of `unlisted`. */
  readonly items: number;
  /** Absolute paths of the files of documents. */
  readonly rawFiles: readonly string[];
  /**
   * Listed things that are no items, of the pass that had most of them: without an ID they cannot be told from those of
   * another pass, so there are at least as many.
   */
  readonly rejected: number;
  /** Those of the last pass. */
  readonly rejectedLast: number;
  /** Items of the run before that no pass listed, and that the service has all the same. */
  readonly unlisted: readonly string[];
  /** Items of the run before that no pass listed, and that are gone by the word of a single-item request (404, 410). */
  readonly removed: readonly string[];
  readonly missing: Missing;
  readonly bounds: Bounds;
  /** Of the widest table: what the database holds at once, roughly. */
  readonly vectorBytes: number;
  /** Items that were transformed more than once: their latest generation counts. */
  readonly superseded: ReadonlyMap<string, number>;
  /** Requests for items whose fields only single-item requests give. */
  readonly detailsAsked: number;
  /** Items that the service then said are gone. */
  readonly detailsGone: readonly string[];
  /** And those that could not be had: each is a reject. */
  readonly detailsRejected: readonly string[];
  /** Items that were asked for singly in both shapes, because passes differed. */
  readonly repaired: number;
  /** Items that were listed and are gone, by the word of a single-item request. Ascending. */
  readonly vanished: readonly string[];
  /** Items that were listed, and that there is no document of. */
  readonly unread: Unread;
  /** Items that there is a document of in one mode, and none in the other. */
  readonly inPart: readonly string[];
  /** Whether dynamic and full documents have other times though they are of the same version. */
  readonly modesDiffer: boolean;
  /** Items a page that were asked for in the end: fewer than the configuration says where pages were too large. */
  readonly pageSizes: UsedSizes;
  /** Why the run is unsettled; empty: it is complete. */
  readonly disagreements: readonly string[];
}

export async function extract(context: SweepContext, options: ExtractionOptions): Promise<Extraction> {
  return new Extractor(context, options).run();
}

type AskSingly<Answers> = (
  context: SweepContext,
  after: AfterPass,
  ids: readonly string[],
) => Promise<Answers>;

interface DynamicPass extends PagesOfGroup {
  readonly sweep: number;
}

class Extractor {
  readonly #holdings: Holdings;
  readonly #certification: Certification<Sweep>;
  readonly #context: SweepContext;
  readonly #options: ExtractionOptions;
  readonly #raw: RawFiles;
  readonly #transformed: Transformed;
  readonly #sizes: PageSizes;
  readonly #open: OpenGroups;
  readonly #repaired = new Set<string>();
  /** Groups of items that were asked for after a pass. */
  #groupsAfterPasses = 0;
  /** Of all dynamic passes; of an item that was asked for several times, what came of the last time. */
  #details: DetailsRead = { asked: 0, gone: [], rejected: [] };
  /** Items a page that the latest pass asks for. */
  #perPage = 1;
  /** The latest dynamic pass: the full one is paired with its documents. */
  #latest: DynamicPass | undefined;

  constructor(context: SweepContext, options: ExtractionOptions) {
    this.#context = context;
    this.#options = options;
    this.#transformed = new Transformed(context.catalogue);
    this.#raw = new RawFiles({ ...options, folder: options.raw });
    this.#open = new OpenGroups({ ...context, checkpoint: options.checkpoint });
    this.#sizes = new PageSizes(options.perPage, options.pageSizes);
    this.#holdings = context.holdings;
    this.#certification = new Certification(context.catalogue, context.holdings);
  }

  /** Of a failure after which the run may go on, all that was answered is saved. */
  async run(): Promise<Extraction> {
    try {
      return await this.#run();
    } catch (thrown) {
      // Where that fails too, the run ends as it would have, and those answers are asked for again.
      if (afterFailure(asWarehouseError(thrown).code) === "resume") await this.#open.save().catch(() => {});
      throw thrown;
    }
  }

  async #run(): Promise<Extraction> {
    for (let step = this.#certification.next(); ; step = this.#certification.next()) {
      if (step.kind === "end") return this.#finish(step.disagreements);
      await this.#perform(step);
    }
  }

  async #perform(step: Exclude<Step, { kind: "end" }>): Promise<void> {
    const { clock, signal } = this.#context;
    switch (step.kind) {
      case "wait":
        await clock.sleep(step.milliseconds, signal);
        this.#certification.waited();
        break;
      case "pass":
        this.#certification.passed(await this.#sweep(step.mode, step.documents));
        break;
      case "compare":
        this.#certification.compared(await this.#askSingly(compare, step.ids, this.#afterPass()));
        break;
      case "repair":
        this.#certification.repaired(await this.#askSingly(repair, step.ids, this.#repairing()));
        break;
    }
  }

  /** Passes that were made. */
  get #sweeps(): readonly Sweep[] {
    return this.#certification.passes;
  }

  async #sweep(mode: SweepMode, documents: boolean): Promise<Sweep> {
    const sweep = this.#sweeps.length + 1;
    if (!documents) return this.#pass(sweep, mode, "basic", () => undefined);
    if (mode !== "dynamic") return this.#full(sweep);
    const pass = await this.#dynamic(sweep);
    // Here, where nothing holds the items any more that were asked for singly.
    letGo();
    return pass;
  }

  /**
   * Makes a pass; where a page is too large, anew with half as many items a page. What was kept before counts the first
   * time alone.
   */
  async #pass(
    sweep: number,
    mode: SweepMode,
    kind: PageKind,
    staging: (kept: KeptPass | undefined) => SweepStaging | undefined,
  ): Promise<Sweep> {
    const { journal } = this.#context;
    let kept = mode !== "basic" && sweep === SWEEP_OF[mode] ? this.#options.kept[mode] : undefined;
    const columns = kind === "basic" ? [] : this.#context.settings.columns;
    const multiple = mode === "full" && kind === "full" ? this.#itemsPerGroup() : undefined;
    const known = kept === undefined ? undefined : { perPage: kept.perPage, first: undefined };
    let size =
      known ?? (await choosePageSize(this.#context, this.#sizes, { sweep, mode, kind, columns, multiple }));
    for (;;) {
      this.#perPage = size.perPage;
      this.#sizes.use(kind, size.perPage);
      const mark = journal.mark();
      try {
        const settings = { ...this.#context.settings, columns };
        const page = { perPage: size.perPage, firstPage: size.first?.response };
        const context = { ...this.#context, ...page, settings };
        return await runSweep(context, sweep, mode, staging(kept));
      } catch (thrown) {
        if (!isTooLarge(thrown) || size.perPage === 1) throw thrown;
        journal.backTo(mark);
        if (kind !== "basic") await this.#discard(sweep, kind);
        size = { perPage: Math.floor(size.perPage / 2), first: undefined };
        kept = undefined;
      }
    }
  }

  /** Takes back what was staged of a pass; items that have rows from it are done anew. */
  async #discard(sweep: number, mode: "dynamic" | "full"): Promise<void> {
    await this.#context.workers.drop({ kind: "drop", sweep });
    await this.#options.checkpoint.settled();
    this.#open.forget(mode);
    if (sweep === SWEEP_OF[mode]) await this.#options.checkpoint.forget(mode);
    await this.#raw.remove(mode, sweep);
    if (mode === "full") this.#transformed.redo();
  }

  /** Asks for listed items after the last pass. */
  async #askSingly<Answers>(
    ask: AskSingly<Answers>,
    ids: readonly string[],
    after: AfterPass,
  ): Promise<Answers> {
    for (const id of ids) this.#repaired.add(id);
    return ask(this.#context, after, ids);
  }

  /** For answers that a resumed run asks for anew: they count only together, or right after the last pass. */
  #afterPass(): AfterPass {
    const sweep = this.#sweeps.length;
    return {
      sweep,
      nextGroup: () => this.#groupsAfterPasses++,
      onRead: async () => {},
      closeGroup: async (group) => {
        await this.#write("item", sweep, group);
      },
    };
  }

  /** For answers that a resumed run takes over: the pass that it makes then says whether they are still of today. */
  #repairing(): AfterPass {
    const after = this.#afterPass();
    const { sweep } = after;
    if (sweep !== SWEEP_OF.repair) return after;
    return {
      ...after,
      onRead: (group, read) => this.#note("repair", sweep, group, read),
      closeGroup: (group, read) => this.#closeSingles("repair", group, read),
    };
  }

  /** Takes over items that were repaired before the run was resumed. */
  async #takeRepaired(sweep: number): Promise<void> {
    const { kept } = this.#options;
    for (const group of kept.repaired) {
      const repaired = await kept.singles("repair", group);
      if (repaired === undefined)
        throw new TypeError(`group ${group} of repaired items was there a moment ago`);
      for (const { id } of repaired.answers) this.#repaired.add(id);
      replayRepaired(this.#context, sweep, repaired);
      this.#groupsAfterPasses = group + 1;
      if (!isOpen(repaired)) this.#reopen("repair", group, repaired);
      else {
        await this.#restore("repair", group, repaired);
        await this.#closeSingles("repair", group, repaired);
      }
    }
  }

  async #closeSingles(stage: SingleStage, group: number, { answers }: ReadSingles): Promise<void> {
    this.#open.closed(stage, group);
    const { file, drift } = await this.#write(stage, SWEEP_OF[stage], group);
    await this.#options.checkpoint.single(stage, group, { file: file ?? null, drift, answers });
  }

  /** Has a group written by its thread. */
  async #write(mode: Stage, sweep: number, group: number): Promise<GroupResult> {
    const { workers, journal } = this.#context;
    const rawFile = this.#raw.name(mode, sweep, group);
    const result = await workers.close({ kind: "close", sweep, group, rawFile });
    journal.takeDrift(result.drift);
    return result;
  }

  /** Takes over a group that was written before. */
  #reopen(stage: Stage, group: number, { drift }: ListedGroup | SingleGroup): string {
    this.#context.journal.takeDrift(drift);
    return this.#raw.name(stage, SWEEP_OF[stage], group);
  }

  async #dynamic(sweep: number): Promise<Sweep> {
    // Rows of documents of an earlier dynamic pass are of before.
    this.#transformed.redo();
    const wanted = new Wanted(this.#options.details);
    const pass = await this.#pass(sweep, "dynamic", "dynamic", (kept) => {
      wanted.clear();
      return this.#dynamicStaging(sweep, kept, wanted);
    });
    const latest = { sweep, pagesPerGroup: pass.pagesPerGroup, perPage: this.#perPage };
    this.#latest = latest;
    this.#holdings.holdAll("dynamic", pass);
    await this.#end("dynamic", pass);
    await this.#readDetails(latest, wanted);
    return pass;
  }

  #dynamicStaging(sweep: number, kept: KeptPass | undefined, wanted: Wanted): SweepStaging {
    return {
      pagesPerGroup: undefined,
      kept,
      pairedWith: () => undefined,
      onTransformed: () => {},
      closeGroup: (group, read) => this.#close("dynamic", sweep, group, read),
      onRead: (group, read) => this.#note("dynamic", sweep, group, read),
      reopenGroup: async (group, read) => {
        this.#reopen("dynamic", group, read);
      },
      restoreGroup: (group, open) => this.#restore("dynamic", group, open),
      onItem: (item) => wanted.note(item),
    };
  }

  async #readDetails(pass: DynamicPass, wanted: Wanted): Promise<void> {
    const { sweep } = pass;
    const { kept, checkpoint } = this.#options;
    const first = sweep === SWEEP_OF.item;
    let groups = 0;
    const read = await readDetails(this.#context, sweep, wanted, {
      pages: pass,
      kept: async (group) => (first ? kept.singles("item", group) : undefined),
      onRead: (group, read) => this.#note("item", sweep, group, read),
      closeGroup: async (group, answers) => {
        this.#open.closed("item", group);
        const { file, drift } = await this.#write("item", sweep, group);
        groups += 1;
        if (first) await checkpoint.single("item", group, { file: file ?? null, drift, answers });
      },
      reopenGroup: (group, single) => {
        this.#reopen("item", group, single);
        groups += 1;
      },
      restoreGroup: (group, open) => this.#restore("item", group, open),
    });
    if (first) await checkpoint.end("item", { groups, endedMs: this.#context.clock.now() });
    const { asked, gone, rejected } = this.#details;
    const notAskedAgain = (id: string) => !wanted.has(id);
    this.#details = {
      asked: asked + read.asked,
      gone: [...gone.filter(notAskedAgain), ...read.gone],
      rejected: [...rejected.filter(notAskedAgain), ...read.rejected],
    };
  }

  async #full(sweep: number): Promise<Sweep> {
    // What an earlier full pass made rows of is of before, also where this one cannot pair it on the way.
    this.#transformed.redo();
    const pass = await this.#pass(sweep, "full", "full", (kept) => this.#fullStaging(sweep, kept));
    this.#holdings.holdAll("full", pass);
    await this.#end("full", pass);
    if (sweep === SWEEP_OF.repair) await this.#takeRepaired(sweep);
    return pass;
  }

  #fullStaging(sweep: number, kept: KeptPass | undefined): SweepStaging {
    return {
      pagesPerGroup: this.#pairedPages(),
      kept,
      pairedWith: (group) => this.#pairedWith(group),
      onTransformed: (contentIds) => this.#transformed.add(contentIds),
      closeGroup: (group, read) => this.#close("full", sweep, group, read),
      onRead: (group, read) => this.#note("full", sweep, group, read),
      restoreGroup: async (group, open, firstPage) => {
        const pairing = { firstPage, pairWith: this.#pairedWith(group) };
        this.#transformed.add(await this.#restore("full", group, open, pairing));
      },
      reopenGroup: async (group, read) => {
        const rawFile = this.#reopen("full", group, read);
        const pairWith = this.#pairedWith(group);
        if (read.file === null || pairWith === undefined) return;
        const task = { kind: "pair", group, rawFile, pairWith } as const;
        this.#transformed.add((await this.#context.workers.pair(task)).transformed);
      },
    };
  }

  /** Pages of a group that has as many items as one of the dynamic pass. */
  #pairedPages(): number | undefined {
    const items = this.#itemsPerGroup();
    return items === undefined ? undefined : Math.ceil(items / this.#perPage);
  }

  /** Of the latest dynamic pass. */
  #itemsPerGroup(): number | undefined {
    return this.#latest === undefined ? undefined : this.#latest.pagesPerGroup * this.#latest.perPage;
  }

  /** Undefined: the other listing has no documents there. */
  #pairedWith(group: number): PairedFiles | undefined {
    const latest = this.#latest;
    if (latest === undefined) return undefined;
    const [listed] = this.#raw.existing([this.#raw.name("dynamic", latest.sweep, group)]);
    if (listed === undefined) return undefined;
    const singles = this.#raw.name("item", latest.sweep, groupOfSingles(group, latest));
    return { listed, singles: this.#raw.existing([singles]) };
  }

  async #close(stage: "dynamic" | "full", sweep: number, group: number, read: ReadGroup): Promise<void> {
    this.#open.closed(stage, group);
    const { file, drift } = await this.#write(stage, sweep, group);
    if (sweep !== SWEEP_OF[stage]) return;
    await this.#options.checkpoint.listed(stage, group, { ...read, file: file ?? null, drift });
  }

  async #note(stage: Stage, sweep: number, group: number, answered: Answered): Promise<void> {
    if (sweep === SWEEP_OF[stage]) await this.#open.note(stage, group, answered);
  }

  /** Gives a group that was answered in part back to its thread. */
  async #restore(
    stage: Stage,
    group: number,
    { landed }: OpenListedGroup | OpenSingleGroup,
    pairing: Pick<RestoreTask, "firstPage" | "pairWith"> = { firstPage: 1, pairWith: undefined },
  ): Promise<readonly string[]> {
    const task = { kind: "restore", sweep: SWEEP_OF[stage], group, landed, ...pairing } as const;
    return (await this.#context.workers.restore(task)).transformed;
  }

  async #end(stage: "dynamic" | "full", { sweep, pages, pagesPerGroup, endedMs }: Sweep): Promise<void> {
    if (sweep !== SWEEP_OF[stage]) return;
    await this.#options.checkpoint.end(stage, { groups: Math.ceil(pages / pagesPerGroup), endedMs });
  }

  /** Transforms what is left, and what is to be done anew; takes over what the threads hold. */
  async #finish(disagreements: readonly string[]): Promise<Extraction> {
    const { workers, catalogue, journal } = this.#context;
    const sweeps = this.#sweeps;
    const last = sweeps.at(-1);
    const gone = new Set(this.#holdings.gone(sweeps).map((number) => catalogue.idOf(number)));
    const unread = this.#holdings.unread(sweeps);
    const inPart = this.#holdings.inPart(sweeps).map((number) => catalogue.idOf(number));
    const missing = await this.#options.findMissing((id) => catalogue.has(id));
    const unlisted =
      missing.ids.length === 0
        ? { found: [], removed: [] }
        : await askForUnlisted(this.#context, this.#afterPass(), missing.ids);
    for (const id of unlisted.found) catalogue.numberOf(id);
    const sorted = catalogue.sorted();
    const again = this.#transformed.again([
      ...sweeps.flatMap((sweep) => [...sweep.sightings.repeated]),
      ...this.#repaired,
      ...gone,
    ]);
    await transformRest(this.#context, this.#options, {
      rawFiles: this.#raw.all(),
      left: this.#transformed.left(sorted).filter((id) => !gone.has(id)),
      again: again.filter((id) => !gone.has(id)),
    });
    for (const result of await workers.flush()) journal.take(result);
    const weighing = {
      weights: Float32Array.from(sorted, (number) => catalogue.weightAt(number)),
      idAt: (place: number) => catalogue.idOf(sorted[place] ?? 0),
      widestTableBytes: journal.widestTableBytes(),
    };
    return {
      sweeps: sweeps.map((sweep) => sweepRecord(sweep, sorted)),
      items: sorted.length,
      rawFiles: this.#raw.all(),
      rejected: Math.max(0, ...sweeps.map(({ rejected }) => rejected)),
      rejectedLast: last?.rejected ?? 0,
      unlisted: unlisted.found,
      removed: unlisted.removed,
      missing,
      bounds: bucketBounds(weighing),
      vectorBytes: vectorBytes(weighing),
      superseded: new Map(again.map((id) => [id, AGAIN])),
      detailsAsked: this.#details.asked,
      detailsGone: this.#details.gone,
      detailsRejected: this.#details.rejected,
      repaired: this.#repaired.size,
      vanished: [...gone].sort(),
      unread,
      inPart,
      modesDiffer: this.#certification.modesDiffer,
      pageSizes: this.#sizes.used,
      disagreements,
    };
  }
}
