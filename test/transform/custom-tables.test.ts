import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import { definePipeline } from "../../src/define-pipeline.ts";
import { listing } from "../../src/extract/stages.ts";
import { parquet } from "../../src/load/stages.ts";
import type { Pipeline, Transformer } from "../../src/pipeline.ts";
import type { Cell } from "../../src/storage/table-builder.ts";
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
import { checkedRows } from "../../src/transform/custom-tables.ts";
import { customTable } from "../../src/transform/stages.ts";

function pipelineOf(table: Transformer): Pipeline {
  return definePipeline({ name: "own", extract: [listing("full")], transform: [table], load: [parquet()] });
}

type RowFunction = Pipeline["rows"][string];

const X = { comment: "x" };
const ITEM = { contentId: "c-1", dynamic: { id: "c-1", title: "One" }, full: undefined };

/** Rows of the only table. */
function rowsIn({ tables: [table], rows }: Pipeline): unknown[] {
  return table === undefined ? [] : [...checkedRows(table, rows[table.name] ?? assert.fail(), ITEM)];
}

/** Rows that the table's function gives, once they are watched. */
function rowsOf(columns: readonly Column[], rows: RowFunction): unknown[] {
  return rowsIn(pipelineOf(customTable({ name: "lengths", comment: "x", columns, rows })));
}

suite("rows of a custom table", () => {
  test("may have a value of every type and size, or none, get their content_id, and are asked for once", () => {
    const columns = [text("t", X), json("j", X), boolean("b", X), integer("i", X), bigint("l", X)];
    const row = { t: "", j: "{}", b: false, i: -5, l: 2n ** 60n, d: 1.5, at: 0, on: 20_000 };
    const rows = [
      row,
      { t: null },
      {},
      { l: 2n ** 63n - 1n, on: -(2 ** 31) + 2, j: '"\\\\ud800"' },
      { l: -(2n ** 63n), on: 2 ** 31 - 2, j: '"\\ud83d\\ude42"' },
      { l: undefined, on: null, j: "null" },
    ];
    let asked = 0;
    const given = rowsOf([...columns, double("d", X), timestamp("at", X), date("on", X)], () => {
      asked += 1;
      return rows;
    });
    assert.deepEqual(
      given,
      rows.map((each) => ({ content_id: "c-1", ...each })),
    );
    assert.equal(asked, 1);
  });

  const length = integer("length", { ...X, required: true });
  const cases: readonly (readonly [string, RowFunction, string | RegExp])[] = [
    [
      "a function that throws on the way",
      function* () {
        yield { length: 1 };
        throw new Error("no luck");
      },
      /^its function failed: no luck, at .*custom-tables\.test\.ts:\d+$/,
    ],
    [
      "a function that changes the document",
      ({ dynamic }) => [{ length: Object.assign(dynamic ?? {}, { title: "Two" }).title.length }],
      /^its function failed: Cannot assign to read only property 'title' of object '#<Object>', at .*:\d+$/,
    ],
    ["a column that the table has not", () => [{ length: 1, width: 2 }], "it has no column width"],
    ["a misspelled column", () => [{ lenght: 1 }], 'it has no column lenght (did you mean "length"?)'],
  ];
  const misfits: readonly (readonly [column: Column, value: unknown, sentence: string])[] = [
    [integer("i", X), "3", 'a whole number of 32 bits, not "3"'],
    [integer("i", X), 1.5, "a whole number of 32 bits, not 1.5"],
    [integer("i", X), 2 ** 31, "a whole number of 32 bits, not 2147483648"],
    [integer("i", X), Number.NaN, "a whole number of 32 bits, not NaN"],
    [length, undefined, "a whole number of 32 bits, not null"],
    [bigint("l", X), 2n ** 63n, "a whole number of 64 bits, not 9223372036854775808"],
    [bigint("l", X), 2 ** 53, "a whole number of 64 bits, not 9007199254740992"],
    [date("on", X), 2 ** 31, "days since 1970 as a whole number, not 2147483648"],
    [date("on", X), 1n, "days since 1970 as a whole number, not 1"],
    [timestamp("at", X), new Date(0), "microseconds since 1970 as a whole number, not an object"],
    [json("j", X), "{", 'JSON as text, not "{"'],
    [json("j", X), { a: 1 }, "JSON as text, not an object"],
    [json("j", X), JSON.stringify("half \ud83d"), "JSON as text, not"],
    [json("j", X), '"half \ud83d"', "JSON as text, not"],
    [text("t", X), Symbol("x"), "a text of whole characters, not Symbol(x)"],
    [text("t", X), Object.create(null), "a text of whole characters, not an object"],
    [text("t", X), "half \ud83d", 'a text of whole characters, not "half \\ud83d"'],
    [boolean("b", X), 1, "true or false, not 1"],
  ];
  test("end the run where a value does not fit its column", () => {
    for (const [column, value, sentence] of misfits) {
      assert.throws(
        () => rowsOf([column], () => [{ [column.name]: value as Cell }]),
        (thrown) =>
          thrown instanceof WarehouseError &&
          thrown.message.includes(`from item c-1: column ${column.name} takes ${sentence}`),
        sentence,
      );
    }
  });

  test("end the run whatever is thrown, whatever is no list of rows, and whatever is no row", () => {
    for (const thrown of [undefined, null, "no luck", 5n, Symbol("x"), Object.create(null), { message: X }]) {
      const rows = () => {
        throw thrown;
      };
      assert.throws(() => rowsOf([], rows), { code: "config.invalid" });
    }
    for (const rows of [() => undefined, () => 5, () => "rows", async () => [], async function* () {}]) {
      assert.throws(() => rowsOf([], rows as unknown as RowFunction), {
        code: "config.invalid",
        message: /must return a list of rows, or be a generator; it cannot be async/,
      });
    }
    const noRows = [
      undefined,
      null,
      5,
      "row",
      [],
      [1],
      new Date(0),
      new Map([["i", 1]]),
      Promise.resolve({}),
    ];
    for (const row of noRows) {
      const rows = (() => [row]) as unknown as RowFunction;
      assert.throws(() => rowsOf([integer("i", X)], rows), {
        code: "config.invalid",
        message: /from item c-1: a row is an object with columns by name, not /,
      });
    }
  });

  test("may name the content_id of their item, and no other one", () => {
    assert.deepEqual(
      rowsOf([], ({ contentId }) => [{ content_id: contentId }, Object.create(null)]),
      [{ content_id: "c-1" }, { content_id: "c-1" }],
    );
    assert.throws(() => rowsOf([], () => [{ content_id: "c-2" }]), {
      code: "config.invalid",
      message: /from item c-1: content_id is set by the program and cannot be "c-2"/,
    });
  });

  test("are of a class, where the stage is", () => {
    class Titles {
      readonly name = "titles";
      readonly tables = customTable({
        name: "titles",
        comment: "x",
        columns: [length],
        rows: () => [],
      }).tables;
      readonly reads: readonly string[] = [];
      readonly #length = 7;

      rows() {
        return [{ length: this.#length }];
      }
    }
    assert.deepEqual(rowsIn(pipelineOf(new Titles())), [{ content_id: "c-1", length: 7 }]);
  });

  for (const [what, rows, sentence] of cases) {
    test(`end the run where there is ${what}`, () => {
      assert.throws(
        () => rowsOf([length], rows),
        (thrown) => {
          assert.ok(thrown instanceof WarehouseError);
          assert.equal(thrown.code, "config.invalid");
          const [, found = ""] =
            /^The table lengths of the pipeline cannot be made from item c-1: (.*)\.$/.exec(thrown.message) ??
            [];
          if (typeof sentence === "string") assert.equal(found, sentence);
          else assert.match(found, sentence);
          return true;
        },
      );
    });
  }
});
