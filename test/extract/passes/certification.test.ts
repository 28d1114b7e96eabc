/** Single decisions of the certification; what it decides in all is in test/property/certify.test.ts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Catalogue, Sightings } from "../../../src/extract/passes/pass-snapshot.ts";
import { Certification, type Step } from "../../../src/extract/passes/certification.ts";
import { Holdings } from "../../../src/extract/passes/item-versions.ts";
import type { ComparedPass } from "../../../src/extract/passes/verdict.ts";

const EARLY = "2026-11-02T10:00:00";
const LATE = "2026-11-02T11:00:00";
const PASS = { kind: "pass", documents: false } as const;

type Times = Readonly<Record<string, string>>;

/** A certification to which a test says what each step brought. */
class Told {
  readonly catalogue = new Catalogue();
  readonly holdings = new Holdings(this.catalogue);
  readonly certification = new Certification<ComparedPass>(this.catalogue, this.holdings);

  get next(): Step {
    return this.certification.next();
  }

  /** The step must be a pass; it sees the items at these times. */
  pass(times: Times): void {
    const step = this.next;
    assert.equal(step.kind, "pass");
    if (step.kind !== "pass") return;
    const { mode, documents } = step;
    const sightings = new Sightings(this.catalogue);
    for (const [id, time] of Object.entries(times)) sightings.add(id, time);
    const count = sightings.distinct;
    const pass = {
      sweep: this.certification.passes.length + 1,
      mode,
      pages: 1,
      sightings,
      countBefore: count,
      countAfter: count,
      reasons: [],
      keptPages: 0,
      fresh: [],
      unread: [],
    };
    if (documents && mode !== "basic") this.holdings.holdAll(mode, pass);
    this.certification.passed(pass);
  }

  single(shape: "dynamic" | "full", id: string, time: string | "gone"): void {
    const sweep = this.certification.passes.length;
    this.holdings.answered(id, time === "gone" ? "gone" : "there", sweep);
    if (time !== "gone") this.holdings.hold(shape, id, time);
  }
}

test("an item that has one time in both modes when it is asked for was edited", () => {
  const told = new Told();
  told.pass({ a: EARLY, b: EARLY });
  told.pass({ a: LATE, b: EARLY });
  assert.deepEqual(told.next, { kind: "compare", ids: ["a"] });
  for (const shape of ["dynamic", "full"] as const) told.single(shape, "a", LATE);
  told.certification.compared([{ dynamic: LATE, full: LATE, dynamicAgain: LATE, fresh: false }]);
  assert.equal(told.certification.modesDiffer, false);
  assert.deepEqual(told.next, { ...PASS, mode: "basic" });
});

test("an item whose dynamic time changes while it is asked for says nothing of the modes", () => {
  const told = new Told();
  told.pass({ a: EARLY });
  told.pass({ a: LATE });
  told.certification.compared([{ dynamic: EARLY, full: LATE, dynamicAgain: LATE, fresh: false }]);
  assert.equal(told.certification.modesDiffer, false);
});

test("where the modes differ, and each lists other items, the run is unsettled and says so", () => {
  const told = new Told();
  told.pass({ a: EARLY, b: EARLY });
  told.pass({ a: LATE });
  told.single("dynamic", "a", EARLY);
  told.single("full", "a", LATE);
  told.certification.compared([{ dynamic: EARLY, full: LATE, dynamicAgain: EARLY, fresh: false }]);
  for (let step = told.next; step.kind !== "end"; step = told.next) {
    if (step.kind === "repair") {
      for (const id of step.ids) told.single("dynamic", id, EARLY);
      told.certification.repaired({ fresh: false });
    } else told.pass(step.kind === "pass" && step.mode === "dynamic" ? { a: EARLY, b: EARLY } : { a: LATE });
  }
  const end = told.next;
  assert.ok(end.kind === "end");
  assert.match(
    end.disagreements.join("\n"),
    /1 item is listed in one of pass 5 \(dynamic\) and pass 6 \(basic\) alone \(b\)/,
  );
});

test("an item that is gone after two passes saw it keeps the run from being complete", () => {
  const told = new Told();
  told.pass({ a: EARLY, b: EARLY });
  told.pass({ a: EARLY, b: EARLY });
  told.holdings.forget("dynamic", "a");
  assert.deepEqual(told.next, { kind: "repair", ids: ["a"] });
  told.single("dynamic", "a", "gone");
  told.certification.repaired({ fresh: false });
  assert.deepEqual(told.next, { ...PASS, mode: "basic" });
  told.pass({ b: EARLY });
  told.pass({ b: EARLY });
  assert.deepEqual(told.next, { kind: "end", disagreements: [] });
  assert.deepEqual(
    told.holdings.gone(told.certification.passes).map((n) => told.catalogue.idOf(n)),
    ["a"],
  );
});

test("an item that was gone when it was asked for, and that a later pass lists, is there", () => {
  const told = new Told();
  told.pass({ a: EARLY });
  told.pass({});
  assert.deepEqual(told.next, { kind: "repair", ids: ["a"] });
  told.single("dynamic", "a", "gone");
  told.certification.repaired({ fresh: false });
  told.pass({ a: EARLY });
  assert.deepEqual(told.holdings.gone(told.certification.passes), []);
});

test("an item that two passes did not list, and that is there when it is asked for, wants a third pass", () => {
  const told = new Told();
  told.pass({ a: EARLY, b: EARLY });
  told.pass({ a: EARLY });
  assert.deepEqual(told.next, { kind: "repair", ids: ["b"] });
  told.certification.repaired({ fresh: false });
  told.pass({ a: EARLY });
  assert.deepEqual(told.next, { kind: "repair", ids: ["b"] });
  for (const shape of ["dynamic", "full"] as const) told.single(shape, "b", EARLY);
  told.certification.repaired({ fresh: false });
  assert.deepEqual(told.next, { ...PASS, mode: "basic" });
});

test("an item whose document cannot be read any more keeps none of before as if it were of now", () => {
  const told = new Told();
  told.pass({ a: EARLY });
  told.pass({ a: EARLY });
  const sightings = new Sightings(told.catalogue);
  sightings.add("a", LATE);
  told.holdings.holdAll("dynamic", { sightings, fresh: [], unread: ["a"] });
  assert.deepEqual(told.holdings.differing("dynamic", { sweep: 3, sightings }), [0]);
});

test("an item that no request ever gave a document of is a reject, and nothing to ask for again", () => {
  const told = new Told();
  const sightings = new Sightings(told.catalogue);
  sightings.add("a", EARLY);
  told.holdings.holdAll("dynamic", { sightings, fresh: [], unread: ["a"] });
  assert.deepEqual(told.holdings.differing("dynamic", { sweep: 1, sightings }), []);
  assert.deepEqual(told.holdings.unread([]), { rejected: 1, notAsked: 0 });
});

test("an item that the last pass does not list, and of which one mode alone is there, is not accounted for", () => {
  for (const modes of [
    ["dynamic", "full"],
    ["full", "dynamic"],
  ] as const) {
    const told = new Told();
    told.pass({ a: EARLY, b: EARLY });
    told.pass({ b: EARLY });
    assert.deepEqual(told.next, { kind: "repair", ids: ["a"] });
    told.single(modes[0], "a", EARLY);
    told.holdings.answered("a", "rejected", 2);
    told.single(modes[1], "a", LATE);
    told.certification.repaired({ fresh: false });
    told.pass({ b: EARLY });
    assert.notEqual(told.next.kind, "end");
  }
});
