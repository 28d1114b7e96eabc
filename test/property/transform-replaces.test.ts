/**
 * A key that an answer lacks never overwrites; a key that it has replaces everything below it. Several answers give what
 * one document gives that is put together by this rule alone.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject, type JsonObject } from "../../src/common/json.ts";
import type { Shape } from "../../src/raw/document.ts";
import type { Cell } from "../../src/storage/table-builder.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";
import fc from "../properties.ts";
import { type Answer, type Transformed, transform } from "../transform/harness.ts";
import { richWorld } from "../transform/rich.ts";

/** Which tables describe items, and not what many items describe: of that, an earlier description still counts. */
const OF_ITEMS = DATA_TABLES.filter(({ key, stage }) => stage === "item" && key[0] === "content_id").map(
  ({ name }) => name,
);

/** What a later answer may make of a key: nothing, everything as it was, emptied, cut down, or of another inside. */
type Change = "absent" | "same" | "null" | "emptied" | "cut" | "other";
const CHANGES: readonly Change[] = ["absent", "same", "null", "emptied", "cut", "other"];

function changed(value: unknown, change: Change): unknown {
  if (change === "same" || change === "absent") return value;
  if (change === "null") return null;
  if (Array.isArray(value)) return changedList(value, change);
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  if (change === "emptied") return {};
  if (change === "cut") return Object.fromEntries(entries.filter((_, i) => i % 2 === 0));
  return Object.fromEntries([...entries.map(([key, inner]) => [key, otherOf(inner)]), ["novelty", 1]]);
}

function changedList(list: readonly unknown[], change: Change): unknown {
  if (change === "emptied") return [];
  if (change === "cut") return list.slice(0, 1);
  return list.toReversed();
}

function otherOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(1);
  if (isObject(value)) return {};
  return value;
}

/** Keys that spell one fact twice: the later answer wins with either, so each answer has all of them here. */
const SPELLED_TWICE = new Set([
  "next_task",
  "next_task_owner",
  "instance",
  "newsroom_id",
  "last_updated_by",
  "last_updated_by_details",
  "categories",
  "categories_array",
]);

/** Changes of some keys; others are absent. */
type Changes = Readonly<Record<string, Change>>;

function documentOf(whole: JsonObject, changes: Changes): JsonObject {
  const given = Object.entries(changes).flatMap(([key, change]): [string, unknown][] => {
    const nested = typeof whole[key] === "object" && whole[key] !== null;
    // The later observation of a plain value is another test's; here it is given or not.
    if (change === "absent" && !SPELLED_TWICE.has(key)) return [];
    return [[key, nested ? changed(whole[key], change) : whole[key]]];
  });
  return { id: whole.id, ...Object.fromEntries(given) };
}

/** The rule, and nothing else: key by key the last document that has it. */
function put(documents: readonly JsonObject[]): JsonObject {
  return Object.assign({}, ...documents);
}

/** Several documents that all give some keys, each in its own way. */
function several(shape: Shape): fc.Arbitrary<Changes[]> {
  const keys = Object.keys(richWorld()[shape]).filter((key) => key !== "id");
  return fc.subarray(keys, { minLength: 1, maxLength: Math.min(30, keys.length) }).chain((some) => {
    const given = [...new Set([...some, ...keys.filter((key) => SPELLED_TWICE.has(key))])];
    const one = fc.record(Object.fromEntries(given.map((key) => [key, fc.constantFrom(...CHANGES)])));
    return fc.array(one, { minLength: 1, maxLength: 4 });
  });
}

function parsed(extra: Cell | undefined): unknown {
  return typeof extra === "string" ? JSON.parse(extra) : null;
}

/** Rows of the items. */
function rowsOf({ rows }: Transformed): Record<string, object[]> {
  const entries = OF_ITEMS.map((table): [string, object[]] => [
    table,
    // What has no column stands in the order in which it was found.
    (rows.get(table) ?? []).map(({ extra, ...row }) => ({ ...row, extra: parsed(extra) })),
  ]);
  return Object.fromEntries(entries.filter(([, found]) => found.length > 0));
}

function answersOf(shape: Shape, all: readonly Changes[]): Answer[] {
  const whole = richWorld()[shape];
  return all.map((each) => ({ shape, document: documentOf(whole, each) }));
}

function assertSame(answers: readonly Answer[], merged: readonly Answer[]): void {
  assert.deepEqual(rowsOf(transform([answers])), rowsOf(transform([merged])));
}

const mergedOf = (answers: readonly Answer[], shape: Shape): Answer[] => {
  const documents = answers.filter((each) => each.shape === shape).map(({ document }) => document);
  return documents.length === 0 ? [] : [{ shape, document: put(documents.filter(isObject)) }];
};

for (const shape of ["dynamic", "full"] as const) {
  test(`of several ${shape} documents, each key is as the last one that has it says`, () => {
    fc.assert(
      fc.property(several(shape), (all) => {
        const answers = answersOf(shape, all);
        assertSame(answers, mergedOf(answers, shape));
      }),
      { numRuns: 300 },
    );
  });
}

test("so it is where all documents of one mode come before all of the other", () => {
  fc.assert(
    fc.property(several("dynamic"), several("full"), fc.boolean(), (dynamic, full, dynamicFirst) => {
      const halves = [answersOf("dynamic", dynamic), answersOf("full", full)];
      const answers = (dynamicFirst ? halves : halves.toReversed()).flat();
      const shapes: Shape[] = dynamicFirst ? ["dynamic", "full"] : ["full", "dynamic"];
      assertSame(
        answers,
        shapes.flatMap((shape) => mergedOf(answers, shape)),
      );
    }),
    { numRuns: 300 },
  );
});
