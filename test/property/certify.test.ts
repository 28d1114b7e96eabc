import assert from "node:assert/strict";
import { test } from "node:test";
import { either } from "../long.ts";
import fc from "../properties.ts";
import { type Certified, certify } from "./certify-model.ts";
import { DAY_QUARTERS, type Edit, type Mode, type Replica, type Schedule, World } from "./certify-world.ts";

const place = fc.nat(40);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("update" as const), place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("touch" as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("add" as const, "restore" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("exchange" as const), place }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("bulk" as const), nth: fc.integer({ min: 1, max: 3 }) }),
  },
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
const kill = fc.record({
  after: fc.nat(20),
  edits: fc.oneof(fc.constant([]), fc.array(edit, { maxLength: 3 })),
});
const schedule: fc.Arbitrary<Schedule> = fc.record({
  items: fc.integer({ min: 0, max: 24 }),
  perPage: fc.integer({ min: 1, max: 7 }),
  order: fc.constantFrom("created", "updated", "id"),
  times: fc.constantFrom("same", "same", "precision", "other"),
  quartersPerRequest: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 9 })),
  edits,
  kills: fc.oneof(fc.constant([]), fc.array(kill, { maxLength: 3 })),
  pagesPerGroup: fc.integer({ min: 1, max: 3 }),
  refused: fc.constantFrom(0, 0, 0, 5),
  repairLimit: fc.constantFrom(1, 3, 200),
  listings: fc.constant(["dynamic", "full"]),
  replica: fc.constant(null),
  early: fc.constant([]),
});

/** The long suite asks for more of them, and others, in either form. */
const SCHEDULES = Number(process.env.SCHEDULES ?? either(1500, 4000));

/** Figures of the schedules, of which the model is no test where they are too few. */
type Tally = Record<
  /** Complete after more than two passes. */
  | "repaired"
  /** Complete after a resume. */
  | "resumed"
  /** Complete where the modes mean different times. */
  | "ofTwoTimes"
  /** Complete though most items were edited at once. */
  | "bulk"
  | "unsettled",
  number
>;

function count(tally: Tally, each: Schedule, { complete, passes }: Certified): void {
  if (!complete) {
    tally.unsettled += 1;
    return;
  }
  if (passes.length > 2) tally.repaired += 1;
  if (passes.some(({ resumedPages }) => resumedPages > 0)) tally.resumed += 1;
  if (each.times === "other" && each.items > 0) tally.ofTwoTimes += 1;
  if (each.edits.flat().some(({ kind }) => kind === "bulk") && passes.length > 2) tally.bulk += 1;
}

/** `least`: the share of the schedules that each figure must have. */
function assertNeverWrong(listings: readonly Mode[], schedules: number, least: Partial<Tally>): void {
  const tally: Tally = { repaired: 0, resumed: 0, ofTwoTimes: 0, bulk: 0, unsettled: 0 };
  fc.assert(
    fc.property(schedule, (each) => {
      const world = new World({ ...each, listings });
      const result = certify(world);
      count(tally, each, result);
      const { listed, loaded, vanished, rejected, unread } = result;
      assert.equal(loaded + vanished + rejected + unread, listed, "not all that was listed is accounted for");
      if (!result.complete) return;
      assert.equal(unread, 0);
      assert.ok(world.states.has(result.published), "published what is not, or never was");
    }),
    { numRuns: schedules },
  );
  for (const [name, share] of Object.entries(least)) {
    const figure = tally[name as keyof Tally];
    assert.ok(figure > share * schedules, `${figure} ${name}`);
  }
}

const LEAST = { repaired: 0.1, resumed: 0.1, ofTwoTimes: 0.05 };

test(`D11, D12, D13, D14: no run says complete wrongly, in ${SCHEDULES} schedules of edits, bulk edits, kills and modes of other times, and all that was listed is accounted for`, () => {
  const least = { ...LEAST, unsettled: 0.02, bulk: 0.05 };
  assertNeverWrong(["dynamic", "full"], SCHEDULES, least);
});

const LISTINGS: readonly (readonly Mode[])[] = [["full"], ["dynamic"], ["full", "dynamic"]];
const SCHEDULES_OF_EACH = Math.ceil(SCHEDULES / 4);

for (const listings of LISTINGS) {
  test(`D11, D12, D13, D14: nor does one of ${listings.join(" and ")}, in ${SCHEDULES_OF_EACH} schedules`, () =>
    assertNeverWrong(listings, SCHEDULES_OF_EACH, { ...LEAST, unsettled: 0.01 }));
}

const replica: fc.Arbitrary<Replica> = fc.record({
  answers: fc.constantFrom("dynamic", "full", "turns", "chance"),
  chance: fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
  // Shorter than a pass, than what is waited for it, longer than that, and longer than what is taken for a lag.
  lagQuarters: fc.constantFrom(8, 240, 900, 3000, 9.5 * DAY_QUARTERS),
});
const replicated: fc.Arbitrary<Schedule> = fc
  .tuple(schedule, replica, fc.array(fc.nat(20), { maxLength: 6 }))
  .map(([each, behind, early]) => ({ ...each, ...allInBoth(each, behind), replica: behind, early }));

/** Edits of fields of one mode alone are not found out behind a replica that lags for longer than is taken for a lag. */
function allInBoth({ edits, kills }: Schedule, { lagQuarters }: Replica): Partial<Schedule> {
  if (lagQuarters < 7 * DAY_QUARTERS) return {};
  const inBoth = (some: readonly Edit[]) =>
    some.map((each): Edit => (each.kind === "touch" ? { ...each, kind: "update" } : each));
  return {
    edits: edits.map(inBoth),
    kills: kills.map((each) => ({ ...each, edits: inBoth(each.edits) })),
  };
}

const BEHIND: readonly Replica["answers"][] = ["dynamic", "full", "turns", "chance"];

test(`D12: nor does a run behind a replica that lags, by mode, by turns or by chance, in ${SCHEDULES} schedules`, () => {
  const complete: Record<string, number> = {};
  const waited: Record<string, number> = {};
  fc.assert(
    fc.property(replicated, (each) => {
      const world = new World(each);
      const result = certify(world);
      const answers = each.replica?.answers ?? "none";
      if (!result.complete) return;
      complete[answers] = (complete[answers] ?? 0) + 1;
      if (world.waited >= 10_000) waited[answers] = (waited[answers] ?? 0) + 1;
      assert.equal(result.modesDiffer && each.times !== "other", false, "takes a lag for another meaning");
      for (const version of result.published.split("\n").filter((line) => line !== ""))
        assert.ok(world.versions.has(version), `published ${version}, which the item never was`);
      // Where one pass is of two states, an item may move past it on the page of either, each time the same.
      if (answers === "dynamic" || answers === "full")
        for (const id of world.always) assert.ok(result.publishedIds.has(id), `${id} is missing`);
    }),
    { numRuns: SCHEDULES },
  );
  for (const answers of BEHIND) {
    assert.ok((complete[answers] ?? 0) > 0.05 * SCHEDULES, `${complete[answers]} complete by ${answers}`);
    assert.ok((waited[answers] ?? 0) > 0.001 * SCHEDULES, `${waited[answers]} waited for by ${answers}`);
  }
});

const QUIET: Schedule = {
  items: 10,
  perPage: 3,
  order: "created",
  times: "same",
  quartersPerRequest: 40,
  edits: [],
  kills: [],
  pagesPerGroup: 1,
  refused: 0,
  repairLimit: 200,
  listings: ["dynamic", "full"],
  replica: null,
  early: [],
};

const UPDATE: Edit[] = [{ kind: "update", place: 0 }];

function outcome(each: Partial<Schedule>): { complete: boolean; modes: string[] } {
  const { complete, passes } = certify(new World({ ...QUIET, ...each }));
  return { complete, modes: passes.map(({ mode }) => mode) };
}

test("E1: an item that is there in one mode and gone in the other was answered from two states, and is not published", () => {
  const edits: Edit[][] = [[], [{ kind: "exchange", place: 0 }], [{ kind: "bulk", nth: 1 }]];
  const behind: Replica = { answers: "chance", chance: [true, true, false], lagQuarters: 9.5 * DAY_QUARTERS };
  const each = { ...QUIET, items: 3, quartersPerRequest: 0, repairLimit: 3, edits, replica: behind };
  const world = new World(each);
  const { complete, reasons, published } = certify(world);
  assert.equal(complete, false);
  assert.match(reasons.join("\n"), /1 item in only one mode/);
  assert.match(published, /undefined/);
});

test("E1: an item that no pass lists any more, gone in one mode and there in the other, is not of one state", () => {
  const behind: Replica = { answers: "turns", chance: [false], lagQuarters: 240 };
  const kills = [
    { after: 0, edits: [{ kind: "add" }] },
    { after: 3, edits: [] },
  ] satisfies Schedule["kills"];
  const each = { ...QUIET, items: 0, perPage: 1, quartersPerRequest: 0, repairLimit: 1, kills };
  const edits: Edit[][] = [[], [], [], [{ kind: "touch", place: 0 }]];
  const world = new World({ ...each, edits, replica: behind });
  const { complete, published } = certify(world);
  assert.ok(!complete || published === "" || world.versions.has(published), published);
});

test("what does not change is complete: both listings certify each other, where the modes mean one time, and one alone is certified by a basic pass", () => {
  const cases: readonly (readonly [each: Partial<Schedule>, ...modes: string[]])[] = [
    [{}, "dynamic", "full"],
    [{ times: "other" }, "dynamic", "full", "dynamic", "basic"],
    [{ listings: ["full"] }, "full", "basic"],
    [{ listings: ["full"], times: "other" }, "full", "basic"],
    [{ listings: ["dynamic"] }, "dynamic", "basic"],
    [{ listings: ["dynamic"], times: "other" }, "dynamic", "basic", "dynamic"],
    [{ listings: ["full", "dynamic"] }, "full", "dynamic"],
  ];
  for (const [each, ...modes] of cases) assert.deepEqual(outcome(each), { complete: true, modes });
});

test("a bulk edit between the first two passes is read again, however many items it changed", () => {
  const edits: Edit[][] = [[], [], [], [], [{ kind: "bulk", nth: 1 }]];
  const { complete, modes } = outcome({ items: 1000, perPage: 250, edits });
  assert.deepEqual({ complete, modes }, { complete: true, modes: ["dynamic", "full", "dynamic"] });
});

test("D19: a listing that changes with every request is unsettled after six passes", () => {
  const edits = Array.from({ length: 500 }, (_, place): Edit[] => [{ kind: "update", place }]);
  const { complete, modes } = outcome({ order: "updated", edits });
  assert.deepEqual({ complete, passes: modes.length }, { complete: false, passes: 6 });
});

test("items that come before the last pass are asked for singly, or unread where they are too many, and the run is unsettled", () => {
  for (const [added, unread] of [
    [1, 0],
    [300, 300],
  ] as const) {
    // A pass is one request here; after the second, one item is compared, after the next three it is repaired.
    const edits: Edit[][] = Array.from({ length: 15 }, (_, request) =>
      [1, 5, 8, 11].includes(request) ? UPDATE : [],
    );
    edits[14] = Array.from({ length: added }, (): Edit => ({ kind: "add" }));
    const found = certify(new World({ ...QUIET, perPage: 400, items: 5, edits }));
    assert.deepEqual([found.complete, found.passes.length, found.listed], [false, 6, 5 + added]);
    assert.deepEqual([found.loaded, found.unread], [5 + added - unread, unread]);
  }
});

test("two edits in one second, one before each pass, are not taken for one", () => {
  const edits: Edit[][] = [
    [{ kind: "touch", place: 1 }],
    [],
    [],
    [],
    [
      { kind: "update", place: 0 },
      { kind: "update", place: 1 },
    ],
  ];
  const world = new World({ ...QUIET, items: 3, perPage: 1, quartersPerRequest: 0, edits });
  const { complete, published } = certify(world);
  assert.deepEqual([complete, world.states.has(published)], [true, true]);
});
