import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { definePipeline, type OwnTable, type Pipeline } from "../../src/pipeline.ts";
import { watchedOwnRows } from "../../src/run/own-tables.ts";
import {
  bigint,
  boolean,
  type Column,
  date,
  double,
  integer,
  json,
  text,
  timestamp,
} from "../../src/tables/declare.ts";
import type { OwnRows } from "../../src/transform/item.ts";

const REQUIRED = { required: true } as const;

function pipelineWith(own: Partial<OwnTable>): Pipeline {
  return definePipeline({
    name: "own",
    description: "x",
    extract: { listings: ["dynamic", "full"] },
    tables: [],
    ownTables: [{ name: "lengths", comment: "x", key: ["content_id"], columns: [], rows: () => [], ...own }],
    load: ["parquet"],
  });
}

const ITEM = { contentId: "c-1", dynamic: { title: "One" }, full: undefined };

/** Rows that the table's program gives, once they are watched. */
function rowsOf(columns: readonly Column[], rows: OwnRows): unknown[] {
  return [...(watchedOwnRows(pipelineWith({ columns, rows })).lengths?.(ITEM) ?? [])];
}

suite("rows of an own table", () => {
  test("may have a value of every type, or none, and get their content_id", () => {
    const columns = [
      text("t", "", "x"),
      json("j", "", "x"),
      boolean("b", "", "x"),
      integer("i", "", "x"),
      bigint("l", "", "x"),
      double("d", "", "x"),
      timestamp("at", "", "x"),
      date("on", "", "x"),
    ];
    const row = { t: "", j: "{}", b: false, i: -5, l: 2n ** 60n, d: 1.5, at: 0, on: 20_000 };
    assert.deepEqual(
      rowsOf(columns, () => [row, { t: null }, {}]),
      [{ content_id: "c-1", ...row }, { content_id: "c-1", t: null }, { content_id: "c-1" }],
    );
  });

  test("are asked for once", () => {
    let asked = 0;
    rowsOf([integer("i", "", "x")], () => {
      asked += 1;
      return [{ i: asked }];
    });
    assert.equal(asked, 1);
  });

  const length = integer("length", "", "x", REQUIRED);
  const cases: readonly (readonly [string, OwnRows, string])[] = [
    [
      "a program that throws on the way",
      function* () {
        yield { length: 1 };
        throw new Error("no luck");
      },
      "its program failed: no luck",
    ],
    [
      "a program that changes the document",
      ({ dynamic }) => [{ length: Object.assign(dynamic ?? {}, { title: "Two" }).title.length }],
      "its program failed: Cannot assign to read only property 'title' of object '#<Object>'",
    ],
    ["a column that the table has not", () => [{ length: 1, width: 2 }], "it has no column width"],
    [
      "a text for a number",
      () => [{ length: "3" }],
      'column length takes a whole number of 32 bits, not "3"',
    ],
    ["a fraction", () => [{ length: 1.5 }], "column length takes a whole number of 32 bits, not 1.5"],
    [
      "what is too large",
      () => [{ length: 2 ** 31 }],
      "column length takes a whole number of 32 bits, not 2147483648",
    ],
    ["no number", () => [{ length: Number.NaN }], "column length takes a whole number of 32 bits, not NaN"],
    [
      "a required value that is missing",
      () => [{}],
      "column length takes a whole number of 32 bits, not null",
    ],
  ];
  for (const [what, rows, sentence] of cases) {
    test(`end the run where there is ${what}`, () => {
      assert.throws(() => rowsOf([length], rows), {
        code: "config.invalid",
        message: `The table lengths of the pipeline cannot be made of item c-1: ${sentence}.`,
      });
    });
  }
});

suite("a pipeline cannot be defined", () => {
  const refused: readonly (readonly [string, Partial<OwnTable>, RegExp])[] = [
    ["with a table of the package's name", { name: "content" }, /cannot be called "content"/],
    ["with a table of the run's names", { name: "run_mine" }, /cannot be called "run_mine"/],
    ["with a table whose name is no name", { name: "My Table" }, /cannot be called "My Table"/],
    ["with a key that does not begin with content_id", { key: ["length"] }, /does not begin with content_id/],
    ["with a key column that does not exist", { key: ["content_id", "nothing"] }, /bad key column nothing/],
  ];
  for (const [what, own, message] of refused) {
    test(what, () => assert.throws(() => pipelineWith(own), { message }));
  }

  const spec = { name: "x", description: "x", tables: [], load: ["parquet"] } as const;
  test("without both listings", () => {
    const extract = { listings: ["full"] } as const;
    assert.throws(() => definePipeline({ ...spec, extract }), { code: "config.invalid" });
  });
  test("without a loader", () => {
    const extract = { listings: ["dynamic", "full"] } as const;
    assert.throws(() => definePipeline({ ...spec, extract, load: [] }), { code: "config.invalid" });
  });
  test("under a name that is none", () => {
    const extract = { listings: ["dynamic", "full"] } as const;
    assert.throws(() => definePipeline({ ...spec, extract, name: "My Export" }), { code: "config.invalid" });
  });
});
