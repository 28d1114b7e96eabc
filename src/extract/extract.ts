/** Reads all items of a service: passes over the listings and single items, until two passes agree. */
import { asWarehouseError, type ErrorCode, WarehouseError } from "../common/errors.ts";
import type { Extraction, PassRecord } from "../raw/extract-record.ts";
import type { MissingItems } from "../warehouse/missing-items.ts";
import type { ListMode } from "./http/request.ts";
import { onlyId } from "./pages/instance-ids.ts";
import { isInScope, type ListEntry, type SingleItemScope } from "./pages/tasks.ts";
import { Certification } from "./passes/certification.ts";
import type { ExtractContext } from "./passes/context.ts";
import { compareModes, repairItems, requestUnlisted, restoreGone } from "./passes/item-requests.ts";
import type { ItemVersions } from "./passes/item-versions.ts";
import { type ListingPass, PassReader } from "./passes/listing.ts";
import type { PassPlan } from "./passes/page-reader.ts";
import { PageSizeChooser } from "./passes/page-size.ts";
import { type ReuseSource, SingleItemsReader, type SingleItemTotals } from "./passes/single-items.ts";

interface ExtractPlan {
  /** Which items are requested singly after the dynamic listing. */
  readonly details: SingleItemScope;
  readonly perPage: number | "auto";
  /** Page sizes of the run before. */
  readonly pageSizes: Extraction["reading"]["pageSizes"];
  /** Reads the documents of the run before that may be used instead of requests. */
  readonly reuse: () => Promise<ReuseSource>;
  /** Finds the items of the run before that are not `listed`. */
  readonly findMissing: (listed: (contentId: string) => boolean) => Promise<MissingItems>;
}

/** Failures after which the run can be resumed: they say nothing against what has landed. */
export const RESUMABLE: ReadonlySet<ErrorCode> = new Set([
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

/** Throws errors of the service and of the disk. If the run can be resumed, all responses are written before that. */
export async function extract(context: ExtractContext, options: ExtractPlan): Promise<Extraction> {
  try {
    return await new ExtractionRun(context, options).run();
  } catch (thrown) {
    const failure = asWarehouseError(thrown);
    if (RESUMABLE.has(failure.code)) {
      await context.landing.save().catch((unsaved: unknown) => {
        const { code, message } = asWarehouseError(unsaved);
        throw new WarehouseError(code, `${message} Before that: ${failure.message}`, { cause: unsaved });
      });
    }
    throw thrown;
  }
}

class ExtractionRun {
  readonly #context: ExtractContext;
  readonly #options: ExtractPlan;
  readonly #certification: Certification<ListingPass>;
  readonly #sizes: PageSizeChooser;
  readonly #repaired = new Set<string>();
  /** Single items of all dynamic passes; of an item that was requested several times, the last response. */
  #singleItems: SingleItemTotals = { requested: 0, reused: 0, gone: [], rejected: [] };
  #reuse: Promise<ReuseSource> | undefined;
  /** IDs of the items of a limited run: those that the first pass listed first. */
  #first: ReadonlySet<string> | undefined;
  /** The first instance that all documents of a pass named. */
  #instanceId: string | null = null;
  /** The last pass whose documents landed. */
  #landed: ListingPass | undefined;

  constructor(context: ExtractContext, options: ExtractPlan) {
    this.#context = context;
    this.#options = options;
    this.#sizes = new PageSizeChooser(options.perPage, options.pageSizes, context.settings.limit);
    this.#certification = new Certification(context.itemIndex, context.versions, context.settings.shapes);
  }

  async run(): Promise<Extraction> {
    const { settings, clock, signal } = this.#context;
    if (settings.limit !== null) return this.#readFirst();
    await restoreGone(this.#context);
    const certification = this.#certification;
    for (;;) {
      const step = certification.next();
      const after = this.#passes.length;
      if ("ids" in step) for (const id of step.ids) this.#repaired.add(id);
      switch (step.kind) {
        case "end":
          return this.#finish(step.disagreements);
        case "wait":
          await clock.sleep(step.milliseconds, signal);
          certification.waited();
          break;
        case "pass":
          certification.passed(await this.#pass(step.mode, step.documents));
          break;
        case "compare":
          certification.compared(await compareModes(this.#context, after, step.ids));
          break;
        case "repair":
          certification.repaired(await repairItems(this.#context, after, step.ids));
          break;
      }
    }
  }

  /** Reads the items of a limited run, each in all shapes. Nothing is certified. */
  async #readFirst(): Promise<Extraction> {
    for (const shape of this.#context.settings.shapes)
      this.#certification.passed(await this.#pass(shape, true));
    const { notAsked } = this.#inPart();
    const ids = notAsked.map((number) => this.#context.itemIndex.idOf(number));
    for (const id of ids) this.#repaired.add(id);
    if (ids.length > 0) await repairItems(this.#context, this.#passes.length, ids);
    return this.#finish([]);
  }

  get #passes(): readonly ListingPass[] {
    return this.#certification.passes;
  }

  /** Makes a pass; the single items that it wants follow a pass whose documents land. */
  async #pass(mode: ListMode, documents: boolean): Promise<ListingPass> {
    const { landing, settings, versions } = this.#context;
    const number = this.#passes.length + 1;
    if (mode === "basic" || !documents)
      return this.#read({ pass: number, mode, landing: undefined }, "basic");
    const stage = landing.of(mode, number);
    const pass = await this.#read({ pass: number, mode, landing: stage }, mode);
    this.#assertSameInstance(onlyId(stage.instanceIds), number);
    versions.recordPass(mode, pass);
    this.#landed = pass;
    this.#first ??= settings.limit === null ? undefined : pass.first;
    if (mode === "dynamic") await this.#readSingleItems(pass);
    return pass;
  }

  /** Throws `config.other_instance` if the documents of this pass name one instance, and those of an earlier pass another. */
  #assertSameInstance(id: string | null, pass: number): void {
    this.#instanceId ??= id;
    if (id === this.#instanceId || id === null) return;
    throw new WarehouseError(
      "config.other_instance",
      `The service changed during the run: pass ${pass} read the instance ${id}, and an earlier pass the instance ${this.#instanceId}; find out which of them answers at this address, and run again.`,
    );
  }

  async #read(request: Pick<PassPlan, "pass" | "mode" | "landing">, kind: ListMode): Promise<ListingPass> {
    const columns = kind === "basic" ? [] : this.#context.settings.columns;
    const resumed = request.landing?.passStart?.perPage;
    const first = await this.#sizes.chooseFor(this.#context, { ...request, kind, columns, resumed });
    // If the other listing landed last, its groups and those of this one have the same items.
    const before = request.landing && this.#landed?.mode !== kind ? this.#landed : undefined;
    const pagesPerGroup = before && Math.ceil(before.itemsPerGroup / first.perPage);
    const scope = kind === "dynamic" ? this.#options.details : "none";
    const wants = (item: ListEntry) => isInScope(scope, item);
    return new PassReader(this.#context, { ...request, ...first, columns, pagesPerGroup, wants }).read();
  }

  async #readSingleItems({ wanted, ...pass }: ListingPass): Promise<void> {
    const counting = wanted.filter(({ id }) => this.#counts(id));
    // Once, so that damage is reported once.
    this.#reuse ??= this.#options.reuse();
    const reader = new SingleItemsReader(this.#context, { ...pass, wanted: counting }, await this.#reuse);
    const read = await reader.read();
    const asked = new Set(wanted.map(({ id }) => id));
    const before = this.#singleItems;
    const renewed = (ids: readonly string[], anew: readonly string[]) =>
      [...ids.filter((id) => !asked.has(id)), ...anew].sort();
    this.#singleItems = {
      requested: before.requested + read.requested,
      reused: before.reused + read.reused,
      gone: renewed(before.gone, read.gone),
      rejected: renewed(before.rejected, read.rejected),
    };
  }

  /** Whether the documents of the item count. In a limited run only those of the first items do. */
  #counts(id: string): boolean {
    return this.#first?.has(id) ?? true;
  }

  /** Items that have a document in one mode only. */
  #inPart(): ReturnType<ItemVersions["inPart"]> {
    const { itemIndex, versions, settings } = this.#context;
    if (settings.shapes.length < 2) return { rejected: [], notAsked: [] };
    const { rejected, notAsked } = versions.inPart(this.#passes);
    const counts = (number: number) => this.#counts(itemIndex.idOf(number));
    return { rejected: rejected.filter(counts), notAsked: notAsked.filter(counts) };
  }

  async #finish(disagreements: readonly string[]): Promise<Extraction> {
    const { itemIndex, versions } = this.#context;
    const passes = this.#passes;
    const ids = (numbers: Iterable<number>) => Array.from(numbers, (number) => itemIndex.idOf(number));
    const vanished = ids(versions.gone(passes)).sort();
    const inPart = this.#inPart();
    const unread = versions.unread(passes);
    const hasDocument = (number: number) => versions.hasDocument(number);
    // What a limited run has read, and does not count.
    const beyond =
      this.#first === undefined
        ? []
        : ids(itemIndex.sorted().filter(hasDocument)).filter((id) => !this.#counts(id));
    const { ids: missing, ...notListed } = await this.#options.findMissing((id) => itemIndex.has(id));
    const unlisted = await requestUnlisted(this.#context, passes.length, missing);
    for (const id of unlisted.found) itemIndex.numberOf(id);
    const sorted = itemIndex.sorted();
    // An item may have been removed between two requests for it: then one document of it landed.
    const count = sorted.length - unlisted.removed.filter((id) => itemIndex.has(id)).length - beyond.length;
    const { requested, reused, gone, rejected } = this.#singleItems;
    return {
      reading: {
        passes: passes.map((pass) => passRecord(pass, sorted)),
        disagreements,
        modesDiffer: this.#certification.modesDiffer,
        singleItems: { requested, reused },
        reuseDamage: (await this.#reuse)?.damage ?? null,
        pageSizes: this.#sizes.used,
      },
      items: {
        count,
        rejected: Math.max(0, ...passes.map((pass) => pass.rejected)),
        rejectedLast: passes.at(-1)?.rejected ?? 0,
        vanished,
        beyond,
        removed: unlisted.removed,
        unlisted: unlisted.found,
        missing: { ...notListed, skipped: unlisted.skipped },
        singlyGone: gone,
        singlyRejected: rejected,
        repaired: this.#repaired.size,
        unread: { rejected: unread.rejected.length, notAsked: unread.notAsked.length },
        inPartRejected: [...ids(inPart.rejected), ...unlisted.inPart],
        inPartNotAsked: ids(inPart.notAsked),
      },
    };
  }
}

/** A pass as it stands in `run_passes`. `sorted`: the numbers of all items in the order of their IDs. */
export function passRecord({ snapshot, reasons, ...pass }: ListingPass, sorted: Uint32Array): PassRecord {
  return {
    pass: pass.pass,
    mode: pass.mode,
    pages: pass.pages,
    perPage: pass.perPage,
    pagesAnnounced: pass.pagesAnnounced,
    rows: pass.rows,
    distinctItems: snapshot.distinct,
    duplicates: snapshot.duplicates,
    countBefore: pass.countBefore,
    countAfter: pass.countAfter,
    digest: snapshot.digest(sorted),
    clean: reasons.length === 0,
    reason: reasons.length === 0 ? null : reasons.join("; "),
    startedMs: pass.startedMs,
    endedMs: pass.endedMs,
  };
}
