/** Single decisions of the certification; what it decides in all is in test/property/certify.test.ts. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { secondsOf } from "../../../src/extract/pages/updated-at.ts";
import { Certification, type CertificationStep } from "../../../src/extract/passes/certification.ts";
import { ItemVersions, PassSnapshot } from "../../../src/extract/passes/item-versions.ts";
import type { PassEvidence } from "../../../src/extract/passes/verdict.ts";
import { ItemIndex } from "../../../src/raw/item-index.ts";

const EARLY = "2026-11-02T10:00:00Z";
const LATE = "2026-11-02T11:00:00Z";
const PASS = { kind: "pass", documents: false } as const;

type Times = Readonly<Record<string, string>>;

/** A certification to which a test says what each step brought. */
class Told {
  readonly itemIndex = new ItemIndex();
  readonly versions = new ItemVersions(this.itemIndex);
  readonly certification = new Certification<PassEvidence>(this.itemIndex, this.versions);

  get next(): CertificationStep {
    return this.certification.next();
  }

  /** The step must be a pass; it sees the items at these times. */
  pass(times: Times): void {
    const step = this.next;
    assert.equal(step.kind, "pass");
    if (step.kind !== "pass") return;
    const { mode, documents } = step;
    const snapshot = new PassSnapshot(this.itemIndex);
    for (const [id, time] of Object.entries(times)) snapshot.add(id, time);
    const count = snapshot.distinct;
    const pass = {
      pass: this.certification.passes.length + 1,
      mode,
      pages: 1,
      snapshot,
      countBefore: count,
      countAfter: count,
      reasons: [],
      resumedPages: 0,
      fresh: [],
      unread: [],
    };
    if (documents && mode !== "basic") this.versions.recordPass(mode, pass);
    this.certification.passed(pass);
  }

  single(shape: "dynamic" | "full", id: string, time: string | "gone"): void {
    const pass = this.certification.passes.length;
    this.versions.recordResponse(id, time === "gone" ? "gone" : "there", pass);
    if (time !== "gone") this.versions.recordDocument(shape, id, time);
  }
}

test("where the modes differ, and each lists other items, the run is unsettled and says so", () => {
  const told = new Told();
  told.pass({ a: EARLY, b: EARLY });
  told.pass({ a: LATE });
  told.single("dynamic", "a", EARLY);
  told.single("full", "a", LATE);
  told.certification.compared([
    {
      dynamic: secondsOf(EARLY),
      full: secondsOf(LATE),
      dynamicAgain: secondsOf(EARLY),
      answeredAt: secondsOf("2026-11-20T13:00:00Z"),
      fresh: false,
    },
  ]);
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
    /only one of pass 5 \(dynamic\) and pass 6 \(basic\) lists 1 item \(b\)/,
  );
});

test("an item that is gone after two passes saw it keeps the run from being complete", () => {
  const told = new Told();
  told.pass({ a: EARLY, b: EARLY });
  told.pass({ a: EARLY, b: EARLY });
  told.versions.invalidate("dynamic", "a");
  assert.deepEqual(told.next, { kind: "repair", ids: ["a"] });
  told.single("dynamic", "a", "gone");
  told.certification.repaired({ fresh: false });
  assert.deepEqual(told.next, { ...PASS, mode: "basic" });
  told.pass({ b: EARLY });
  told.pass({ b: EARLY });
  assert.deepEqual(told.next, { kind: "end", disagreements: [] });
  assert.deepEqual(
    told.versions.gone(told.certification.passes).map((n) => told.itemIndex.idOf(n)),
    ["a"],
  );
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
  const snapshot = new PassSnapshot(told.itemIndex);
  snapshot.add("a", LATE);
  told.versions.recordPass("dynamic", { pass: 3, snapshot, fresh: [], unread: ["a"] });
  assert.deepEqual(told.versions.differing("dynamic", { pass: 3, snapshot }), [0]);
});

test("an item that no request ever gave a document of is a reject, and nothing to ask for again", () => {
  const told = new Told();
  const snapshot = new PassSnapshot(told.itemIndex);
  snapshot.add("a", EARLY);
  told.versions.recordPass("dynamic", { pass: 1, snapshot, fresh: [], unread: ["a"] });
  assert.deepEqual(told.versions.differing("dynamic", { pass: 1, snapshot }), []);
  const { rejected, notAsked } = told.versions.unread([]);
  assert.deepEqual([rejected.length, notAsked], [1, []]);
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
    told.versions.recordResponse("a", "rejected", 2);
    told.single(modes[1], "a", LATE);
    told.certification.repaired({ fresh: false });
    told.pass({ b: EARLY });
    assert.notEqual(told.next.kind, "end");
  }
});

test("a digest of a pass has a line for each listed item, by ID, with the time that was seen last", () => {
  const itemIndex = new ItemIndex();
  itemIndex.numberOf("not listed");
  const snapshot = new PassSnapshot(itemIndex);
  for (const [id, time] of [
    ["b", EARLY],
    ["a", LATE],
    ["c", null],
    ["b", LATE],
  ] as const)
    snapshot.add(id, time);
  const seconds = secondsOf(LATE);
  const lines = `a\t${seconds}\nb\t${seconds}\nc\t-1\n`;
  assert.equal(snapshot.digest(itemIndex.sorted()), hash("sha256", lines));
});
