/** What a commit writes, and what it makes of a table that others have changed. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { commitReplacement } from "../../../../src/targets/lake/delta/commit.ts";
import { fieldsOf } from "../../../../src/targets/lake/delta/schema.ts";
import { instancesOf, sequenceOf } from "../../../../src/targets/lake/delta/state.ts";
import { NEVER } from "../../../never.ts";
import { type LogStore, logStore } from "./memory-store.ts";
import { CONTENT, column, commit, content, pathOf, pathsOf, putCommit, runOf } from "./runs.ts";

function linesOf(store: LogStore, version: number): Record<string, Record<string, unknown>>[] {
  const key = `content/_delta_log/${String(version).padStart(20, "0")}.json`;
  const lines = String(store.objects.get(key)?.body).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

suite("a commit", () => {
  test("makes a table with its protocol, its columns and its partition column", async () => {
    const store = logStore();
    assert.equal(await commit(store, runOf("a", 7)), 0);
    const { commitInfo, ...rest } = Object.assign({}, ...linesOf(store, 0));
    assert.equal(commitInfo.txnId, "attempt-7");
    assert.match(commitInfo.engineInfo, /^content-warehouse\/\d/);
    assert.deepEqual(rest.protocol, { minReaderVersion: 1, minWriterVersion: 2 });
    assert.deepEqual(rest.metaData.partitionColumns, ["instance"]);
    assert.equal(rest.metaData.description, "Items.");
    assert.deepEqual(JSON.parse(rest.metaData.schemaString), {
      type: "struct",
      fields: [
        {
          name: "instance",
          type: "string",
          nullable: false,
          metadata: { comment: "Name of the instance that the row was exported from." },
        },
        {
          name: "content_id",
          type: "string",
          nullable: false,
          metadata: { comment: "Column content_id." },
        },
        {
          name: "word_count",
          type: "integer",
          nullable: true,
          metadata: { comment: "Column word_count." },
        },
      ],
    });
    assert.equal(rest.txn.appId, "a");
    assert.equal(rest.txn.version, 7);
    assert.deepEqual(rest.add, {
      path: pathOf("a", 7),
      partitionValues: { instance: "a" },
      size: 1007,
      modificationTime: Date.UTC(2026, 10, 20),
      dataChange: true,
      stats:
        '{"numRecords":70,"minValues":{"content_id":"a"},"maxValues":{"content_id":"z7"},"nullCount":{"content_id":0}}',
    });
  });

  test("replaces the files of its instance and no other's, without a word on what the table is", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1));
    await commit(store, runOf("b", 1));
    assert.equal(await commit(store, runOf("a", 2)), 2);
    assert.deepEqual(
      linesOf(store, 2).flatMap((line) => Object.keys(line)),
      ["commitInfo", "txn", "remove", "add"],
    );
    const state = await content(store);
    assert.deepEqual(instancesOf(state), ["a", "b"]);
    assert.deepEqual([...state.files.keys()].toSorted(), [pathOf("a", 2), pathOf("b", 1)]);
    assert.deepEqual([...state.removed.keys()], [pathOf("a", 1)]);
  });

  test("says of a removal when it was committed, however old its run is", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1, { atMs: 1 }));
    await commit(store, runOf("a", 2, { atMs: 2 }));
    const [removed] = (await content(store)).removed.values();
    assert.ok((removed?.removedMs ?? 0) > Date.UTC(2026));
  });

  test("is made once, whoever tries it again", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1));
    await commit(store, runOf("b", 5));
    assert.equal(await commit(store, runOf("a", 1, { attempt: "another" })), 0);
    assert.equal((await content(store)).version, 1);
  });

  test("is refused to a run when a later one is there", async () => {
    const store = logStore();
    await commit(store, runOf("a", 3));
    assert.equal(await commitReplacement(store, runOf("a", 2), NEVER), null);
    assert.equal((await content(store)).version, 0);
  });

  test("leaves an instance without rows where the run has no such table", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1));
    await commit(store, runOf("b", 1));
    const without = { table: { name: "content", comment: "", columns: [] }, files: [] };
    await commit(store, runOf("a", 2, without));
    const state = await content(store);
    assert.deepEqual(instancesOf(state), ["b"]);
    assert.equal(sequenceOf(state, "a"), 2);
    const [, id] = fieldsOf(state);
    assert.equal(id?.nullable, false);
  });

  test("says nothing of a file that stays", async () => {
    const store = logStore();
    const files = [...runOf("a", 1).files, ...runOf("a", 2).files, ...runOf("a", 3).files];
    await commit(store, runOf("a", 1, { files: files.slice(0, 2) }));
    await commit(store, runOf("a", 2, { files: files.slice(1) }));
    assert.deepEqual(
      linesOf(store, 1).flatMap((line) => Object.keys(line)),
      ["commitInfo", "txn", "remove", "add"],
    );
    assert.deepEqual(pathsOf(await content(store), "a"), [pathOf("a", 2), pathOf("a", 3)]);
  });

  test("is not made where the table has these files, and the version that is there has the run", async () => {
    const store = logStore();
    const { files } = runOf("a", 1);
    await commit(store, runOf("a", 1));
    await commit(store, runOf("b", 1));
    assert.equal(await commit(store, runOf("a", 2, { files })), 1);
    assert.equal((await content(store)).version, 1);
  });

  test("is made where the run has no files, so that a run before it that was left half-way comes too late", async () => {
    const store = logStore();
    await commit(store, runOf("b", 1));
    await commit(store, runOf("a", 2, { files: [] }));
    assert.equal(await commitReplacement(store, runOf("a", 1), NEVER), null);
  });

  test("takes a file back that was removed, which is no removed one any more", async () => {
    const store = logStore();
    const { files } = runOf("a", 1);
    for (const [sequence, given] of [{}, {}, { files }].entries())
      await commit(store, runOf("a", sequence + 1, given));
    const state = await content(store);
    assert.deepEqual(pathsOf(state, "a"), [pathOf("a", 1)]);
    assert.deepEqual([...state.removed.keys()], [pathOf("a", 2)]);
  });

  test("encodes paths as URIs and removes files by the path that their writer gave them", async () => {
    const store = logStore();
    const [file] = runOf("a", 1).files;
    assert.ok(file !== undefined);
    await commit(store, runOf("a", 1, { files: [{ ...file, path: "instance=a/50% of #1?.parquet" }] }));
    assert.deepEqual([...(await content(store)).files.keys()], ["instance=a/50%25%20of%20%231%3F.parquet"]);
    const add = { partitionValues: { instance: "a" }, size: 1, modificationTime: 1, dataChange: true };
    await putCommit(store, 1, [{ add: { ...add, path: "instance%3Da/%70art.parquet" } }]);
    assert.deepEqual(pathsOf(await content(store), "a"), [
      "instance=a/50% of #1?.parquet",
      "instance=a/part.parquet",
    ]);
    await commit(store, runOf("a", 2));
    assert.deepEqual(pathsOf(await content(store), "a"), [pathOf("a", 2)]);
  });

  test("leaves files alone that belong to no instance", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1));
    const add = { path: "x.parquet", size: 1, modificationTime: 1, dataChange: true };
    await putCommit(store, 1, [{ add: { ...add, partitionValues: { instance: null } } }]);
    await commit(store, runOf("a", 2));
    const state = await content(store);
    assert.deepEqual([...state.files.keys()].toSorted(), [pathOf("a", 2), "x.parquet"]);
    assert.deepEqual(instancesOf(state), ["a"]);
  });

  test("ends when its signal is aborted, with its reason", async () => {
    const reason = new Error("the run is to end");
    const controller = new AbortController();
    const store = logStore();
    // A store on which nothing can be put: without the signal it would try for ever.
    store.putNew = async () => {
      controller.abort(reason);
      return false;
    };
    await assert.rejects(commitReplacement(store, runOf("a", 1), controller.signal), reason);
  });
});

suite("the columns of a table", () => {
  const wider = { ...CONTENT, columns: [...CONTENT.columns, column("region", "text", false)] };

  test("are joined by a new one, which is NULL for the other instances", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1));
    await commit(store, runOf("b", 1, { table: wider }));
    const fields = fieldsOf(await content(store));
    assert.deepEqual(
      fields.map(({ name, nullable }) => [name, nullable]),
      [
        ["instance", false],
        ["content_id", false],
        ["word_count", true],
        ["region", true],
      ],
    );
  });

  test("stay where a run does not have them, and take NULL from then on", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1, { table: wider }));
    assert.equal(fieldsOf(await content(store)).at(-1)?.nullable, false);
    await commit(store, runOf("b", 1));
    const state = await content(store);
    assert.deepEqual(
      fieldsOf(state).map(({ name, nullable }) => [name, nullable]),
      [
        ["instance", false],
        ["content_id", false],
        ["word_count", true],
        ["region", true],
      ],
    );
    await commit(store, runOf("a", 2, { table: wider }));
    assert.deepEqual(
      linesOf(store, 2).flatMap((line) => Object.keys(line)),
      ["commitInfo", "txn", "remove", "add"],
    );
  });

  test("keep what other programs wrote about them when one joins", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1));
    const { metaData } = await content(store);
    const schema = JSON.parse(metaData.schemaString);
    schema.fields[1].metadata.owner = "analysts";
    schema.fields.push({
      name: "theirs",
      type: { type: "array", elementType: "string", containsNull: true },
      nullable: true,
      metadata: {},
    });
    const changed = { ...metaData, schemaString: JSON.stringify(schema), configuration: { theirs: "1" } };
    await putCommit(store, 1, [{ metaData: { ...changed, format: { provider: "parquet", options: {} } } }]);
    await commit(store, runOf("a", 2, { table: wider }));
    const state = await content(store);
    const fields = fieldsOf(state);
    assert.deepEqual(
      fields.map(({ name }) => name),
      ["instance", "content_id", "word_count", "theirs", "region"],
    );
    assert.equal(fields[1]?.metadata.owner, "analysts");
    assert.equal(state.metaData.configuration.theirs, "1");
    assert.equal(state.metaData.id, metaData.id);
  });
});

suite("the columns that readers expect statistics of", () => {
  const NAMED = "delta.dataSkippingStatsColumns";
  const COUNT = "delta.dataSkippingNumIndexedCols";
  const said = async (store: LogStore) => {
    const { [NAMED]: named, [COUNT]: count } = (await content(store)).metaData.configuration;
    return [named, count];
  };
  /** A file of two rows, with a range of one column. */
  const withStatistics = (name: string, min: string | number, max: string | number) => ({
    files: [{ path: `x-${min}`, bytes: 1, rows: 2, statistics: [{ column: name, min, max, nulls: 0 }] }],
  });
  const withoutStatistics = (rows: number) => ({
    files: [{ path: `x-${rows}`, bytes: 1, rows, statistics: [] }],
  });

  test("are those that all files have whole ones of", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1));
    assert.deepEqual(await said(store), ["content_id", undefined]);
    await commit(store, runOf("b", 1, withoutStatistics(2)));
    assert.deepEqual(await said(store), [undefined, "0"]);
    await commit(store, runOf("b", 2, withoutStatistics(0)));
    assert.deepEqual(await said(store), ["content_id", undefined]);
    await commit(store, runOf("c", 1, withStatistics("word_count", 1, 2)));
    assert.deepEqual(await said(store), [undefined, "0"]);
    await commit(store, runOf("c", 2, { files: [] }));
    assert.deepEqual(await said(store), ["content_id", undefined]);
    const stats = JSON.stringify({
      numRecords: 1,
      minValues: { content_id: "a" },
      nullCount: { content_id: 0 },
    });
    const theirs = {
      partitionValues: { instance: "d" },
      size: 1,
      modificationTime: 1,
      dataChange: true,
      stats,
    };
    await putCommit(store, 5, [{ add: { path: "theirs", ...theirs } }]);
    await commit(store, runOf("a", 2));
    assert.deepEqual(await said(store), [undefined, "0"]);
    await commit(store, runOf("d", 1, { files: [] }));
    assert.deepEqual(await said(store), ["content_id", undefined]);
  });

  test("are named anew by the next commit where a table says others, and left where it says these", async () => {
    for (const configuration of [{}, { [NAMED]: "word_count" }, { [COUNT]: "-1" }] as const) {
      const store = logStore();
      await commit(store, runOf("a", 1));
      const { metaData } = await content(store);
      const format = { provider: "parquet", options: {} };
      await putCommit(store, 1, [
        { metaData: { ...metaData, configuration: { ...configuration, theirs: "1" }, format } },
      ]);
      await commit(store, runOf("b", 1));
      assert.deepEqual((await content(store)).metaData.configuration, { [NAMED]: "content_id", theirs: "1" });
      await commit(store, runOf("b", 2));
      assert.ok(linesOf(store, 3).every((line) => line.metaData === undefined));
    }
  });

  test("are none of a type that Spark refuses, and stand in the quotes that it wants", async () => {
    for (const [name, type, min, max, expected] of [
      ["a `b`, c.d", "bigint", 1, 2, ["`a ``b``, c.d`", undefined]],
      ["is_live", "boolean", "a", "b", [undefined, "0"]],
    ] as const) {
      const store = logStore();
      const table = { ...CONTENT, columns: [column(name, type)] };
      await commit(store, runOf("a", 1, { table, ...withStatistics(name, min, max) }));
      assert.deepEqual(await said(store), expected);
    }
  });
});
