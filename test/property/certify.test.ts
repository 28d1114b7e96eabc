import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Catalogue, Holdings, Sightings } from "../../src/run/catalogue.ts";
import { certify, type SweepMode } from "../../src/run/certify.ts";
import { type ComparedPass, type PageMark, uncleanReasons } from "../../src/run/verdict.ts";

/**
 * A listing that is edited while it is read: before each request some edits happen, as the schedule says. Every state
 * that the listing was ever in is kept, so that a verdict can be held against what really was.
 */

type Edit =
  | { readonly kind: "update" | "remove"; readonly place: number }
  | { readonly kind: "add" }
  /** One goes and one comes, so that the total does not tell. */
  | { readonly kind: "exchange"; readonly place: number };

type Order = "created" | "updated" | "id";

interface Schedule {
  readonly items: number;
  readonly perPage: number;
  readonly order: Order;
  /** Edits before each request; none after the last. */
  readonly edits: readonly (readonly Edit[])[];
  /** Requests after which the run is killed, each time that many after it began or was taken up; then it goes on. */
  readonly kills: readonly number[];
  /** Pages that are kept together. */
  readonly pagesPerGroup: number;
}

interface WorldItem {
  readonly id: string;
  readonly created: number;
  updated: number;
}

class World {
  #items: WorldItem[] = [];
  #clock = 0;
  #request = 0;
  #left = Number.POSITIVE_INFINITY;
  readonly pagesPerGroup: number;
  readonly #kills: number[];
  readonly #schedule: Schedule;
  /** Each state since the run began or was taken up, as a text: IDs with their times, sorted. */
  readonly states = new Set<string>();

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#kills = [...schedule.kills];
    this.pagesPerGroup = schedule.pagesPerGroup;
    for (let i = 0; i < schedule.items; i++) this.#add();
    this.start();
  }

  /** A run begins, or is taken up. */
  start(): void {
    this.#left = this.#kills.shift() ?? Number.POSITIVE_INFINITY;
    this.states.clear();
    this.states.add(this.#state());
  }

  #add(): void {
    this.#clock += 1;
    const id = `item-${String((this.#clock * 7919) % 1009).padStart(4, "0")}-${this.#clock}`;
    this.#items.push({ id, created: this.#clock, updated: this.#clock });
  }

  #apply(edit: Edit): void {
    this.#clock += 1;
    const place = "place" in edit ? edit.place % Math.max(1, this.#items.length) : 0;
    const item = this.#items[place];
    if (edit.kind === "update" && item !== undefined) item.updated = this.#clock;
    if ((edit.kind === "remove" || edit.kind === "exchange") && item !== undefined)
      this.#items.splice(place, 1);
    if (edit.kind === "add" || edit.kind === "exchange") this.#add();
    this.states.add(this.#state());
  }

  #state(): string {
    return stateOf(this.#items.map(({ id, updated }) => [id, instant(updated)]));
  }

  /** Edits that come before the next request. */
  #tick(): void {
    if (this.#left === 0) throw new Killed();
    this.#left -= 1;
    for (const edit of this.#schedule.edits[this.#request] ?? []) this.#apply(edit);
    this.#request += 1;
  }

  page(page: number): { rows: WorldItem[]; mark: PageMark } {
    this.#tick();
    const { perPage, order } = this.#schedule;
    const sorted = this.#items.toSorted((a, b) => {
      if (order === "created") return a.created - b.created;
      if (order === "updated") return b.updated - a.updated;
      return a.id < b.id ? -1 : 1;
    });
    const rows = sorted.slice((page - 1) * perPage, page * perPage);
    const count = sorted.length;
    const pages = Math.ceil(count / perPage);
    const next = page < pages ? page + 1 : null;
    return {
      rows,
      mark: { rows: rows.length, pagination: { current: page, next, per_page: perPage, count, pages } },
    };
  }

  single(id: string): WorldItem | undefined {
    this.#tick();
    return this.#items.find((item) => item.id === id);
  }
}

const instant = (clock: number): string => new Date(clock * 1000).toISOString().slice(0, 19);

function stateOf(items: Iterable<readonly [string, string]>): string {
  return [...items]
    .map(([id, updated]) => `${id} ${updated}`)
    .sort()
    .join("\n");
}

class Killed extends Error {}

interface Row {
  readonly id: string;
  readonly updated: string;
}

interface Page {
  readonly rows: readonly Row[];
  readonly mark: PageMark;
}

/** What is kept of the first two passes: pages of whole groups. */
type KeptPages = Record<"dynamic" | "full", Page[]>;

interface Outcome {
  readonly complete: boolean;
  readonly published: string;
  readonly passes: readonly ComparedPass[];
}

/** A run that is taken up whenever it was killed. */
async function read(world: World): Promise<Outcome> {
  const kept: KeptPages = { dynamic: [], full: [] };
  for (;;) {
    try {
      return await certifyOnce(world, kept);
    } catch (thrown) {
      if (!(thrown instanceof Killed)) throw thrown;
      world.start();
    }
  }
}

/** Runs the certification over a world, and says what the run would publish. */
async function certifyOnce(world: World, kept: KeptPages): Promise<Outcome> {
  const catalogue = new Catalogue();
  const holdings = new Holdings(catalogue);
  const published = new Map<string, string>();
  const { sweeps, disagreements } = await certify<ComparedPass>({
    holdings,
    sweep: async (sweep, mode) => {
      const pages = sweep <= 2 && mode !== "basic" ? kept[mode] : [];
      const pass = await passOver(world, { catalogue, mode, kept: pages }, ({ id, updated }) => {
        if (mode !== "basic") published.set(id, updated);
      });
      if (mode !== "basic") holdings.holdAll(mode, pass.sightings);
      return pass;
    },
    repair: async (_sweep, ids) => {
      for (const id of ids) {
        for (const shape of ["dynamic", "full"] as const) {
          const item = world.single(id);
          holdings.answered(id, item === undefined ? "gone" : "there");
          if (item === undefined) continue;
          holdings.hold(shape, id, instant(item.updated));
          published.set(id, instant(item.updated));
        }
      }
    },
  });
  const last = sweeps.at(-1);
  if (last !== undefined) for (const id of holdings.gone(last.sightings)) published.delete(id);
  return { complete: disagreements.length === 0, published: stateOf(published), passes: sweeps };
}

interface Passing {
  readonly catalogue: Catalogue;
  readonly mode: SweepMode;
  /** Read again instead of asked for; what is asked for joins it, a group at a time. */
  readonly kept: Page[];
}

function passOver(world: World, { catalogue, mode, kept }: Passing, take: (row: Row) => void): ComparedPass {
  const sightings = new Sightings(catalogue);
  const marks = new Map<number, PageMark>();
  const keptPages = kept.length;
  const group: Page[] = [];
  for (let page = 1, next: number | null = 1; next !== null; page++) {
    const read = kept[page - 1] ?? pageOf(world, page);
    const { rows, mark } = read;
    marks.set(page, mark);
    for (const row of rows) {
      sightings.add(row.id, row.updated);
      take(row);
    }
    const announced = marks.get(1)?.pagination.pages ?? 1;
    next = page < announced ? page + 1 : (mark.pagination.next ?? null);
    if (page <= keptPages) continue;
    group.push(read);
    if (group.length === world.pagesPerGroup || next === null) kept.push(...group.splice(0));
  }
  const first = marks.get(1)?.pagination.count ?? 0;
  const countAfter = marks.get(marks.size)?.pagination.count ?? 0;
  const reasons = uncleanReasons({ marks, sightings, rejected: 0 });
  return { sweep: 1, mode, sightings, countBefore: first, countAfter, reasons, keptPages };
}

function pageOf(world: World, page: number): Page {
  const { rows, mark } = world.page(page);
  return { rows: rows.map(({ id, updated }) => ({ id, updated: instant(updated) })), mark };
}

const place = fc.nat(40);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("update" as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("add" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("exchange" as const), place }) },
);
/** Before most requests nothing is edited; in some schedules the edits come to an end, in others they hardly do. */
const quiet = fc.oneof(
  { weight: 9, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(edit, { minLength: 1, maxLength: 2 }) },
);
const edits = fc.oneof(
  { weight: 6, arbitrary: fc.array(quiet, { maxLength: 60, size: "max" }) },
  { weight: 1, arbitrary: fc.array(quiet, { minLength: 60, maxLength: 200, size: "max" }) },
);
const schedule: fc.Arbitrary<Schedule> = fc.record({
  items: fc.integer({ min: 0, max: 24 }),
  perPage: fc.integer({ min: 1, max: 7 }),
  order: fc.constantFrom<Order>("created", "updated", "id"),
  edits,
  kills: fc.oneof(fc.constant([]), fc.array(fc.nat(20), { maxLength: 3 })),
  pagesPerGroup: fc.integer({ min: 1, max: 3 }),
});

/** More of them, and others, where the long suite asks for it. */
const SCHEDULES = Number(process.env.SCHEDULES ?? 20_000);

test(`D11, D12, D13, D14: no run says complete wrongly, in ${SCHEDULES} schedules of random edits and kills`, async () => {
  const tally = { complete: 0, unsettled: 0, repaired: 0, resumed: 0 };
  await fc.assert(
    fc.asyncProperty(schedule, async (each) => {
      const world = new World(each);
      const result = await read(world);
      tally[result.complete ? "complete" : "unsettled"] += 1;
      if (result.complete && result.passes.length > 2) tally.repaired += 1;
      if (result.complete && result.passes.some(({ keptPages }) => keptPages > 0)) tally.resumed += 1;
      if (result.complete)
        assert.ok(world.states.has(result.published), "published what is not, or never was");
    }),
    { numRuns: SCHEDULES },
  );
  // The model is no test where it never changes, and none where it never settles.
  assert.ok(tally.unsettled > 100, `${tally.unsettled} unsettled`);
  assert.ok(tally.repaired > 1000, `${tally.repaired} settled by repair`);
  assert.ok(tally.resumed > 1000, `${tally.resumed} complete after they were taken up`);
});

const QUIET = { items: 10, perPage: 3, kills: [], pagesPerGroup: 1 };

test("a listing that does not change is complete after two passes", async () => {
  const result = await read(new World({ ...QUIET, order: "created", edits: [] }));
  assert.deepEqual(
    { complete: result.complete, sweeps: result.passes.length },
    { complete: true, sweeps: 2 },
  );
});

test("D19: a listing that changes with every request is unsettled after six passes", async () => {
  const edits = Array.from({ length: 500 }, (_, place): Edit[] => [{ kind: "update", place }]);
  const result = await read(new World({ ...QUIET, order: "updated", edits }));
  assert.deepEqual(
    { complete: result.complete, sweeps: result.passes.length },
    { complete: false, sweeps: 6 },
  );
});
