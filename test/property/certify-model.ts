/** Carries out what the certification asks for over a world, as a run does, and says what the run would publish. */

import type { ListMode } from "../../src/extract/http/request.ts";
import { isFresh, secondsOf } from "../../src/extract/pages/updated-at.ts";
import {
  Certification,
  type CertificationStep,
  type ModeComparison,
} from "../../src/extract/passes/certification.ts";
import { ItemVersions, type PassListing, PassSnapshot } from "../../src/extract/passes/item-versions.ts";
import { type PageSummary, type PassEvidence, uncleanReasons } from "../../src/extract/passes/verdict.ts";
import { ItemIndex } from "../../src/raw/item-index.ts";
import { truncateToSecond } from "../../src/raw/values.ts";
import { Killed, type Mode, stateOf, type World, type WorldDocument } from "./certify-world.ts";

interface Page {
  readonly rows: readonly WorldDocument[];
  readonly mark: PageSummary;
  readonly observedAt: number;
}

/** What is kept of the first two passes: pages of whole groups. */
type ResumeState = Record<Mode, Page[]>;

/** What came of a single-item request. */
interface Answer extends ReturnType<World["single"]> {
  readonly id: string;
  readonly mode: Mode;
}

export interface Certified {
  readonly complete: boolean;
  readonly modesDiffer: boolean;
  readonly reasons: readonly string[];
  /** The published items with the versions of their documents; as {@link World.states}. */
  readonly published: string;
  readonly publishedIds: ReadonlySet<string>;
  readonly passes: readonly PassEvidence[];
  readonly listed: number;
  readonly loaded: number;
  readonly vanished: number;
  readonly rejected: number;
  readonly unread: number;
}

/** A run that is resumed whenever it was killed. */
export function certify(world: World): Certified {
  const kept: ResumeState = { dynamic: [], full: [] };
  for (;;) {
    try {
      return new Run(world, kept).certify();
    } catch (thrown) {
      if (!(thrown instanceof Killed)) throw thrown;
      world.resume();
    }
  }
}

class Run {
  readonly #world: World;
  readonly #kept: ResumeState;
  readonly #itemIndex = new ItemIndex();
  readonly #versions = new ItemVersions(this.#itemIndex);
  readonly #certification: Certification<PassEvidence>;
  readonly #documents = new Map<string, Partial<Record<Mode, WorldDocument>>>();

  constructor(world: World, kept: ResumeState) {
    this.#world = world;
    this.#kept = kept;
    this.#certification = new Certification(
      this.#itemIndex,
      this.#versions,
      world.listings,
      world.repairLimit,
    );
  }

  certify(): Certified {
    for (let step = this.#certification.next(); ; step = this.#certification.next()) {
      if (step.kind === "end") return this.#certified(step.disagreements);
      this.#perform(step);
    }
  }

  #perform(step: Exclude<CertificationStep, { kind: "end" }>): void {
    switch (step.kind) {
      case "wait":
        this.#world.wait(step.milliseconds);
        this.#certification.waited();
        break;
      case "pass":
        this.#certification.passed(this.#pass(step.mode, step.documents));
        break;
      case "compare":
        this.#certification.compared(this.#compare(step.ids));
        break;
      case "repair":
        this.#certification.repaired(this.#repair(step.ids));
        break;
    }
  }

  #repair(ids: readonly string[]): Pick<ModeComparison, "fresh"> {
    const answers = this.#askSingly(ids, this.#world.listings).flat();
    return { fresh: answers.some(({ fresh }) => fresh) };
  }

  #certified(disagreements: readonly string[]): Certified {
    const { passes } = this.#certification;
    const gone = this.#versions.gone(passes).map((number) => this.#itemIndex.idOf(number));
    for (const id of gone) this.#documents.delete(id);
    const { rejected, notAsked } = this.#versions.unread(passes);
    const published = [...this.#documents].map(([id, { dynamic, full }]) => {
      return [id, { dynamic: dynamic?.version, full: full?.version }] as const;
    });
    const reasons = [...disagreements, ...this.#contradictions()];
    return {
      complete: reasons.length === 0,
      modesDiffer: this.#certification.modesDiffer,
      reasons,
      published: stateOf(published),
      publishedIds: new Set(published.map(([id]) => id)),
      passes,
      listed: this.#itemIndex.size,
      loaded: published.length,
      vanished: gone.length,
      rejected: rejected.length,
      unread: notAsked.length,
    };
  }

  /** As the transform finds them: documents of different times that differ in a field that both modes give. */
  #contradictions(): string[] {
    return [...this.#documents].flatMap(([id, { dynamic, full }]) => {
      if (dynamic === undefined || full === undefined || dynamic.common === full.common) return [];
      return dynamic.updatedAt.slice(0, 19) === full.updatedAt.slice(0, 19)
        ? []
        : [`${id} contradicts itself`];
    });
  }

  #pass(mode: ListMode, documents: boolean): PassEvidence {
    const pass = this.#certification.passes.length + 1;
    const shape = mode === "dynamic" ? "dynamic" : "full";
    const kept = documents && pass <= this.#world.listings.length ? this.#kept[shape] : [];
    const resumedPages = kept.length;
    const pages = this.#read(shape, kept);
    const snapshot = new PassSnapshot(this.#itemIndex);
    const marks = new Map(pages.map(({ mark }, i) => [i + 1, mark]));
    for (const { rows } of pages)
      for (const row of rows) snapshot.add(row.id, truncateToSecond(row.updatedAt));
    const fresh = pages.flatMap(({ rows, observedAt }) =>
      rows.filter((row) => isFreshRow(row, observedAt)).map(({ id }) => id),
    );
    if (documents) this.#land(shape, pages, { pass, snapshot, fresh, unread: [] });
    const countBefore = pages[0]?.mark.pagination.count ?? 0;
    const countAfter = pages.at(-1)?.mark.pagination.count ?? 0;
    const reasons = uncleanReasons(marks, snapshot, 0);
    return {
      pass,
      mode,
      pages: pages.length,
      snapshot,
      countBefore,
      countAfter,
      reasons,
      resumedPages,
      fresh,
      unread: [],
    };
  }

  /** Pages that were kept are read again in place of being asked for; what is asked for joins them, a group at a time. */
  #read(mode: Mode, kept: Page[]): Page[] {
    const pages: Page[] = [];
    const group: Page[] = [];
    const known = kept.length;
    for (let page = 1, next: number | null = 1; next !== null; page++) {
      const read = kept[page - 1] ?? this.#ask(page, mode);
      pages.push(read);
      const announced = pages[0]?.mark.pagination.pages ?? 1;
      next = page < announced ? page + 1 : (read.mark.pagination.next ?? null);
      if (page <= known) continue;
      group.push(read);
      if (group.length === this.#world.pagesPerGroup || next === null) kept.push(...group.splice(0));
    }
    return pages;
  }

  #ask(page: number, mode: Mode): Page {
    const { value, observedAt } = this.#world.page(page, mode);
    return { ...value, observedAt };
  }

  #land(shape: Mode, pages: readonly Page[], pass: PassListing): void {
    this.#versions.recordPass(shape, pass);
    for (const { rows } of pages) {
      for (const row of rows) this.#documents.set(row.id, { ...this.#documents.get(row.id), [shape]: row });
    }
  }

  #compare(ids: readonly string[]): ModeComparison[] {
    return this.#askSingly(ids, ["dynamic", "full", "dynamic"]).map((answers) => {
      const [dynamic, full, dynamicAgain] = answers.map(({ updatedAt }) =>
        updatedAt === undefined ? undefined : secondsOf(updatedAt),
      );
      const answeredAt = Math.max(...answers.map(({ observedAt }) => observedAt)) / 1_000_000;
      const fresh = answers.some((answer) => answer.fresh);
      return { dynamic, full, dynamicAgain, answeredAt, fresh };
    });
  }

  /** The answers for each item. */
  #askSingly(ids: readonly string[], modes: readonly Mode[]): Single[][] {
    return ids.map((id) =>
      modes.map((mode) => {
        const answer = { ...this.#world.single(id, mode), id, mode };
        return this.#take(answer, this.#certification.passes.length);
      }),
    );
  }

  #take({ id, mode, value, observedAt }: Answer, pass: number): Single {
    if (value === "gone" || value === "refused") {
      this.#versions.recordResponse(id, value === "gone" ? "gone" : "rejected", pass);
      return { updatedAt: undefined, observedAt, fresh: false };
    }
    const updatedAt = truncateToSecond(value.updatedAt);
    this.#versions.recordResponse(id, "there", pass);
    // Of a shape that does not land there is a time, and no document.
    if (!this.#world.listings.includes(mode))
      return { updatedAt, observedAt, fresh: isFreshRow(value, observedAt) };
    this.#versions.recordDocument(mode, id, updatedAt);
    this.#documents.set(id, { ...this.#documents.get(id), [mode]: value });
    const fresh = isFreshRow(value, observedAt);
    if (fresh) this.#versions.invalidate(mode, id);
    return { updatedAt, observedAt, fresh };
  }
}

interface Single {
  readonly updatedAt: string | undefined;
  readonly observedAt: number;
  readonly fresh: boolean;
}

function isFreshRow({ updatedAt }: WorldDocument, observedAt: number): boolean {
  return isFresh(secondsOf(truncateToSecond(updatedAt)), { observedAt, milliseconds: 0 });
}
