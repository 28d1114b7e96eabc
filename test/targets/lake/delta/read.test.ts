/** Logs that others wrote, and logs that are not as they should be. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { suite, test } from "node:test";
import type { WarehouseError } from "../../../../src/common/errors.ts";
import { packagePath } from "../../../../src/common/package-root.ts";
import { readTable, writeCheckpoint } from "../../../../src/targets/lake/delta/log.ts";
import { fieldsOf } from "../../../../src/targets/lake/delta/metadata.ts";
import { activeFiles, deliveryNumber } from "../../../../src/targets/lake/delta/state.ts";
import { FileStore } from "../../../../src/targets/store/file-store.ts";
import { NEVER } from "../../../never.ts";
import { stateAt } from "../store-at.ts";
import { commit, content, type LogStore, logStore, pathOf, pathsOf, runOf, saying, without } from "./runs.ts";

const GOLDEN = packagePath("test/targets/lake/delta/golden");
const LOG = "content/_delta_log/";

/** `files`: paths as the log has them, with their rows, by instance. */
interface Expected {
  readonly version: number;
  readonly files: Readonly<Record<string, readonly (readonly [string, number])[]>>;
  readonly transactions: Readonly<Record<string, number | null>>;
  readonly columns: readonly string[];
}

/** A log of another program, in memory. */
async function golden(writer: string): Promise<LogStore> {
  await using folder = new FileStore(`${GOLDEN}/${writer}`, NEVER);
  const store = logStore();
  for await (const { key } of folder.list(LOG)) await store.put(key, (await folder.get(key)) ?? Buffer.of());
  return store;
}

for (const writer of ["delta-rs", "spark"]) {
  suite(`a log of ${writer}`, () => {
    test("is read as its writer reads it", async () => {
      const expected: Expected = JSON.parse(await readFile(`${GOLDEN}/${writer}/expected.json`, "utf8"));
      const state = await content(await golden(writer));
      assert.equal(state.version, expected.version);
      assert.deepEqual(
        fieldsOf(state).map(({ name }) => name),
        expected.columns,
      );
      const files = [...new Set([...state.files.values()].flatMap((each) => each.instance ?? []))]
        .toSorted()
        .map((instance) => [
          instance,
          activeFiles(state, instance)
            .map(({ add }) => [add.path, JSON.parse(add.stats ?? "{}").numRecords])
            .toSorted(),
        ]);
      assert.deepEqual(Object.fromEntries(files), expected.files);
      for (const [instance, sequence] of Object.entries(expected.transactions))
        assert.equal(deliveryNumber(state, instance), sequence ?? 0);
    });

    test("says the same from its checkpoint and from its first version on", async () => {
      const store = await golden(writer);
      const said = saying(await content(store));
      without(store, "checkpoint");
      assert.deepEqual(saying(await content(store)), said);
    });

    test("goes on with our checkpoint and our commit", async () => {
      const store = await golden(writer);
      const state = await content(store);
      await writeCheckpoint(store, state, 0);
      without(store, ".json");
      assert.deepEqual(saying(await content(store)), saying(state));
      assert.equal(await commit(store, runOf("a", 1)), state.version + 1);
      const after = await content(store);
      assert.deepEqual(pathsOf(after, "a"), [pathOf("a", 1)]);
      assert.deepEqual(pathsOf(after, "b"), pathsOf(state, "b"));
    });

    test("is read with a file for a hint that helps nobody", async () => {
      const said = saying(await content(await golden(writer)));
      for (const hint of [null, "", "{", '{"version":-1}', '{"version":4}', '{"version":400}', "[]"]) {
        const store = await golden(writer);
        without(store, "_last_checkpoint");
        if (hint !== null) await store.put(`${LOG}_last_checkpoint`, Buffer.from(hint));
        assert.deepEqual(saying(await content(store)), said, String(hint));
      }
    });
  });
}

test("a checkpoint of which a part is missing is none", async () => {
  const store = await golden("spark");
  const said = saying(await content(store));
  without(store, "0000000002.0000000003");
  assert.deepEqual(saying(await content(store)), said);
});

suite("a log", () => {
  test("that is not there is no table", async () => {
    assert.equal(await readTable(logStore(), "content"), null);
  });

  test("is read at each of its versions", async () => {
    const store = await golden("delta-rs");
    const counts: number[] = [];
    for (let version = 0; version <= 7; version++) {
      const state = await stateAt(store, "content", version);
      assert.equal(state.version, version);
      counts.push(state.files.size);
    }
    assert.deepEqual(counts, [1, 2, 3, 2, 2, 3, 4, 5]);
  });

  const commits = (text: string) => (store: LogStore) =>
    store.put(`${LOG}00000000000000000002.json`, Buffer.from(text));
  const damages: readonly [string, (store: LogStore) => unknown, RegExp][] = [
    ["with a gap", (store) => without(store, "3.json"), /version 3 is missing/],
    ["without its beginning", (store) => without(store, "000.json"), /version 0 is missing/],
    ["with half a line", commits('{"add":'), /version 2 is not as the protocol says/],
    ["with a line of another kind", commits('{"add":{"path":1}}'), /version 2 is not as the protocol says/],
    [
      "with a path that cannot be decoded",
      commits('{"remove":{"path":"%E0%A4%A"}}'),
      /version 2 is not as the protocol says/,
    ],
    [
      "F22: with a path that leads out of the table once it is decoded",
      commits(JSON.stringify({ remove: { path: "instance=a%2F..%2F../x" } })),
      /version 2 is not as the protocol says \(at remove\.path: the path "instance=a%2F\.\.%2F\.\.\/x" leads out of its folder\)/,
    ],
    [
      "without a protocol",
      (store) => store.put(`${LOG}00000000000000000000.json`, Buffer.from('{"commitInfo":{}}')),
      /it has no protocol or no metadata/,
    ],
    [
      "with a checkpoint that is no Parquet file",
      (store) => store.put(`${LOG}00000000000000000006.checkpoint.parquet`, Buffer.from("PAR1")),
      /the checkpoint of version 6 cannot be read/,
    ],
  ];
  for (const [name, damage, message] of damages) {
    test(`${name} is refused as damaged`, async () => {
      const store = await golden("delta-rs");
      without(store, "checkpoint");
      await damage(store);
      await assert.rejects(readTable(store, "content"), ({ code, message: said }: WarehouseError) => {
        assert.equal(code, "target.refused");
        assert.match(said, /^The log of the table content in memory: is damaged: .*; restore its files/);
        return message.test(said);
      });
    });
  }

  test("of a version that lacks a name that sorts after it is read to its end", async () => {
    const store = logStore();
    await commit(store, runOf("a", 1));
    await store.put(`${LOG}00000000000000000000.00000000000000000009.compacted.json`, Buffer.from("{}"));
    await store.put(`${LOG}_staged_commits/00000000000000000001.x.json`, Buffer.from("{}"));
    assert.equal((await content(store)).version, 0);
  });
});
