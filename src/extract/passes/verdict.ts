/** Whether a pass is clean, whether two passes agree, and why a run is not complete. */
import type { Pagination } from "../../api/envelope.ts";
import { pluralize } from "../../common/figures.ts";
import type { Shape } from "../../raw/document.ts";
import type { ItemIndex } from "../../raw/item-index.ts";
import type { ItemVersions, PassListing, PassSnapshot } from "./item-versions.ts";

export interface PageSummary {
  readonly pagination: Pagination;
  readonly rows: number;
}

/**
 * Reasons why a pass is not clean; empty if its pages fit together without a gap, a repeated item or a changed total.
 * `summaries`: by page, from 1. `rejected`: number of listed documents that are not items.
 */
export function uncleanReasons(
  summaries: ReadonlyMap<number, PageSummary>,
  { distinct, duplicates }: Pick<PassSnapshot, "distinct" | "duplicates">,
  rejected: number,
): string[] {
  const pages = [...summaries]
    .sort(([a], [b]) => a - b)
    .map(([page, { pagination, rows }]) => ({ ...pagination, page, rows }));
  const [first] = pages;
  if (first === undefined) return ["no page was read"];
  const { count, pages: announced } = first;
  const listed = distinct + rejected;
  const beforeLast = pages.slice(0, -1);
  const end = beforeLast.find(({ next }) => (next ?? null) === null);
  const otherCount = pages.find((page) => page.count !== count);
  const otherSize = pages.find((page) => page.per_page !== first.per_page);
  // Compare rows, because some services send fewer rows than `per_page` says.
  const short = beforeLast.find(({ rows }) => rows !== first.rows);
  return [
    duplicates > 0 && pluralize(duplicates, "repeated row"),
    otherCount && `the total changed from ${count} to ${otherCount.count} on page ${otherCount.page}`,
    otherSize &&
      `the page size changed from ${first.per_page} to ${otherSize.per_page} on page ${otherSize.page}`,
    pages.length !== announced &&
      count > 0 &&
      `${pluralize(pages.length, "page")} read, ${announced} announced`,
    short && `page ${short.page} has ${pluralize(short.rows, "item")}, the first ${first.rows}`,
    end && `page ${end.page} of ${pages.length} says that no page follows`,
    listed !== count && `${pluralize(listed, "item")} listed, the service counts ${count}`,
  ].filter((reason) => typeof reason === "string");
}

/** What certification knows of a pass. */
export interface PassEvidence extends PassListing {
  readonly mode: string;
  readonly pages: number;
  /** The service's own total, on the first and on the last page. */
  readonly countBefore: number;
  readonly countAfter: number;
  /** Why the pass is not clean; empty if it is. */
  readonly reasons: readonly string[];
  /** Pages that were read before the run was resumed. */
  readonly resumedPages: number;
}

/** Shape whose times a pass gives: `basic` gives those of `full`. */
function shapeOf({ mode }: PassEvidence): Shape {
  return mode === "dynamic" ? "dynamic" : "full";
}

/** The passes of a run with the versions of its documents, and what they do not agree in. */
export class Evidence<Pass extends PassEvidence> {
  readonly #itemIndex: ItemIndex;
  readonly #versions: ItemVersions;
  /** Shapes whose documents the run reads, in the order of the first passes. */
  readonly listings: readonly Shape[];
  readonly passes: Pass[] = [];
  /** Whether documents of the same version have different times in the two modes. */
  modesDiffer = false;

  constructor(itemIndex: ItemIndex, versions: ItemVersions, listings: readonly Shape[]) {
    this.#itemIndex = itemIndex;
    this.#versions = versions;
    this.listings = listings;
  }

  ids(numbers: readonly number[]): string[] {
    return numbers.map((number) => this.#itemIndex.idOf(number));
  }

  /** Shapes whose documents can be compared with the times of the pass. */
  shapes(pass: Pass): readonly Shape[] {
    return this.modesDiffer ? this.listings.filter((shape) => shape === shapeOf(pass)) : this.listings;
  }

  /** Items whose two documents have different times. */
  ofTwoTimes(last: Pass): number[] {
    if (this.listings.length === 2) return this.#versions.ofTwoTimes(last);
    return this.listings.flatMap((shape) =>
      shape === shapeOf(last) ? [] : this.#versions.differing(shape, last),
    );
  }

  /** Items to request again after the last pass. */
  stale(last: Pass): number[] {
    const differing = this.shapes(last).flatMap((shape) => this.#versions.differing(shape, last));
    return [...new Set([...differing, ...Object.values(this.#unlisted()).flat()])];
  }

  /** Whether dynamic passes give the times of no document that counts. */
  needsDynamic(last: Pass): boolean {
    return this.modesDiffer && (shapeOf(last) === "full" || !this.listings.includes("full"));
  }

  /** Why the run is not complete after its last pass; empty if it is. */
  reasons(last: Pass): string[] {
    const { unaccounted, ofTwoTimes, inPart } = this.#unlisted();
    const goneSince = this.#versions.gone(this.passes).filter((number) => last.snapshot.has(number));
    return [
      ...(this.modesDiffer ? this.#reasonsOfEitherMode() : this.#reasonsOfBothModes(last)),
      ...this.#counted("earlier passes listed", unaccounted, " that the last one did not"),
      ...this.#counted("", inPart, " in only one mode"),
      ...this.#counted("", ofTwoTimes, " that the last pass did not list, read at two times"),
      ...this.#counted("", goneSince, " of the last pass returned 404 or 410 when requested singly"),
    ];
  }

  /** The reason if some documents are of an older state of the service. */
  laggingReasons(last: Pass): string[] {
    return this.#counted(
      "dynamic and full answers give different updated_at for",
      this.ofTwoTimes(last),
      ", as if some came from an older state of the service",
    );
  }

  /** Items that the last pass did not list and that make it doubtful. */
  #unlisted(): ReturnType<ItemVersions["unlisted"]> {
    const unlisted = this.#versions.unlisted(this.passes);
    if (this.listings.length === 1) return { ...unlisted, ofTwoTimes: [], inPart: [] };
    return this.modesDiffer ? { ...unlisted, ofTwoTimes: [] } : unlisted;
  }

  #reasonsOfBothModes(last: Pass): string[] {
    const before = this.passes.at(-2);
    return [
      ...(before === undefined ? [] : disagreements(before, last)),
      ...this.#loadedReasons(last, this.listings),
      ...resumedReasons(last),
    ];
  }

  /** The last two passes that give the times of a shape certify its documents. */
  #reasonsOfEitherMode(): string[] {
    const pairs: PassPair<Pass>[] = [];
    for (const shape of this.listings) {
      const [last, before] = this.passes.filter((pass) => shapeOf(pass) === shape).toReversed();
      if (last === undefined || before === undefined)
        return [`updated_at differs between the modes, and only one pass read ${shape}`];
      pairs.push([before, last]);
    }
    const [one, other] = pairs;
    return [
      ...pairs.flatMap(([before, last]) => [...disagreements(before, last), ...resumedReasons(last)]),
      ...pairs.flatMap(([, last]) => this.#loadedReasons(last, [shapeOf(last)])),
      ...(one === undefined || other === undefined ? [] : pairReasons(one, other)),
    ];
  }

  #loadedReasons(pass: Pass, shapes: readonly Shape[]): string[] {
    const differing = new Set(shapes.flatMap((shape) => this.#versions.differing(shape, pass)));
    return this.#counted(`the loaded documents differ from ${passName(pass)} in`, [...differing]);
  }

  #counted(before: string, numbers: readonly number[], after = ""): string[] {
    return counted(before, this.ids(numbers), after);
  }
}

/** Two passes that give the times of one shape, the earlier one first. */
type PassPair<Pass> = readonly [Pass, Pass];

/** Pages that were read before the run was resumed say nothing about the list of now. */
function resumedReasons({ mode, resumedPages }: PassEvidence): string[] {
  return resumedPages === 0 ? [] : [`the ${mode} pass began before the run was resumed`];
}

/** The documents of a kind are what there was between its two passes. Both kinds need a moment in common. */
function pairReasons(dynamic: PassPair<PassEvidence>, full: PassPair<PassEvidence>): string[] {
  const since = Math.max(dynamic[0].pass, full[0].pass);
  const until = Math.min(dynamic[1].pass, full[1].pass);
  const which = `only one of ${passName(dynamic[1])} and ${passName(full[1])} lists`;
  return [
    ...counted(which, dynamic[1].snapshot.listedOnce(full[1].snapshot)),
    ...(since < until ? [] : ["the last two passes of both modes do not share a moment"]),
  ];
}

/**
 * Reasons why two passes, the earlier one first, do not make a run complete. Empty if both are clean and list the same
 * items with the same times, and if the service's total was the same in between.
 */
function disagreements(earlier: PassEvidence, later: PassEvidence): string[] {
  const unclean = [earlier, later].flatMap((pass) =>
    pass.reasons.map((reason) => `${passName(pass)} is not clean: ${reason}`),
  );
  const { countAfter } = earlier;
  const { countBefore } = later;
  const differences = earlier.snapshot.differences(later.snapshot);
  return [
    ...unclean,
    ...(countAfter === countBefore ? [] : [`the service counted ${countAfter} items, then ${countBefore}`]),
    ...counted(`${passName(earlier)} and ${passName(later)} differ in`, differences),
    // The time of a fresh item may name several versions, and the later pass may have seen another one.
    ...counted(`${passName(earlier)} read`, earlier.fresh, " in the second of an edit"),
  ];
}

function passName({ pass, mode }: PassEvidence): string {
  return `pass ${pass} (${mode})`;
}

const MAX_EXAMPLES = 3;

/** One reason with the number of items and examples, or none if there are no items. */
function counted(before: string, ids: readonly string[], after = ""): string[] {
  if (ids.length === 0) return [];
  const examples = ids.slice(0, MAX_EXAMPLES).join(", ") + (ids.length > MAX_EXAMPLES ? ", ..." : "");
  return [`${before} ${pluralize(ids.length, "item")}${after} (${examples})`.trimStart()];
}
