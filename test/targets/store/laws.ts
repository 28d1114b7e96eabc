/** What every store does, whatever it is made of. */
import assert from "node:assert/strict";
import { hash, randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemClock } from "../../../src/common/clock.ts";
import { compareUtf8 } from "../../../src/common/utf8-order.ts";
import { probeStore } from "../../../src/targets/lake/instance.ts";
import type { FileContent, Store } from "../../../src/targets/store/store.ts";
import { temporaryFolder } from "../../folders.ts";
import { NEVER } from "../../never.ts";
import fc from "../../properties.ts";

export interface StoreUnderTest {
  /** Opens an empty store, or with the same name as before the same one, as another process would. */
  open(name: string, signal: AbortSignal): Promise<Store>;
  /** How many schedules are tried. */
  readonly schedules: number;
}

export function contentOf(body: Uint8Array): FileContent {
  return { bytes: body.length, sha256: hash("sha256", body) };
}

export async function keysOf(store: Store, prefix = "", after?: string): Promise<readonly string[]> {
  const found = await Array.fromAsync(store.list(prefix, after === undefined ? {} : { after }));
  return found.map(({ key }) => key);
}

/** In an order that tells bytes from UTF-16 units, and folders from names that go on; none is a folder of another. */
const KEYS = [
  "content-old/x.json",
  "content.parquet",
  "content/_delta_log/00000000000000000000.json",
  "content/_delta_log/00000000000000000001.json",
  "content/instance=a/content-000001-0011.parquet",
  "content/instance=a-b/content-000001-0011.parquet",
  "content0",
  "_published/instance=a/000001.json",
  "_published/instance=a/000001/manifest.json",
  "ﬀ/y",
  "😀/z",
] as const;

const BODIES = ["", "one", "other", "longer than one"] as const;

const folder = await temporaryFolder({ after });

const key = fc.constantFrom(...KEYS);
const body = fc.constantFrom(...BODIES);
const prefix = fc.constantFrom("", "content", "content/", "content/instance=a", "_published/", "none/", "😀");
const operation = fc.oneof(
  fc.record({ does: fc.constant("putNew" as const), key, body }),
  fc.record({ does: fc.constant("put" as const), key, body }),
  fc.record({ does: fc.constant("upload" as const), key, body }),
  fc.record({ does: fc.constant("download" as const), key }),
  fc.record({ does: fc.constant("get" as const), key }),
  fc.record({ does: fc.constant("remove" as const), keys: fc.array(key, { maxLength: 4 }) }),
  fc.record({ does: fc.constant("list" as const), prefix, after: fc.option(key, { nil: undefined }) }),
  fc.record({ does: fc.constant("folders" as const), prefix: fc.constantFrom("", "content/", "none/") }),
);
type Operation = typeof operation extends fc.Arbitrary<infer Each> ? Each : never;

type Model = Map<string, string>;

/** Does the same to both, and compares what they answer. */
async function apply(store: Store, model: Model, doing: Operation): Promise<void> {
  switch (doing.does) {
    case "putNew": {
      const isNew = !model.has(doing.key);
      assert.equal(await store.putNew(doing.key, Buffer.from(doing.body)), isNew);
      if (isNew) model.set(doing.key, doing.body);
      return;
    }
    case "put":
      await store.put(doing.key, Buffer.from(doing.body));
      model.set(doing.key, doing.body);
      return;
    case "upload": {
      const file = join(folder, randomUUID());
      await writeFile(file, doing.body);
      await store.upload(doing.key, file, contentOf(Buffer.from(doing.body)));
      model.set(doing.key, doing.body);
      return;
    }
    case "download": {
      const there = model.get(doing.key);
      const file = join(folder, randomUUID());
      const loading = store.download(doing.key, file, contentOf(Buffer.from(there ?? "")));
      if (there === undefined) return await assert.rejects(loading, { code: "target.refused" });
      await loading;
      assert.equal(await readFile(file, "utf8"), there);
      return;
    }
    case "get":
      assert.equal((await store.get(doing.key))?.toString() ?? null, model.get(doing.key) ?? null);
      return;
    case "remove":
      await store.remove(doing.keys);
      for (const each of doing.keys) model.delete(each);
      return;
    case "list": {
      const after = doing.after === undefined ? {} : { after: doing.after };
      const found = await Array.fromAsync(store.list(doing.prefix, after));
      const expected = [...model]
        .filter(([each]) => each.startsWith(doing.prefix))
        .filter(([each]) => doing.after === undefined || compareUtf8(each, doing.after) > 0)
        .toSorted(([a], [b]) => compareUtf8(a, b))
        .map(([each, text]) => ({ key: each, bytes: Buffer.from(text).length }));
      assert.deepEqual(
        found.map(({ key, bytes }) => ({ key, bytes })),
        expected,
      );
      return;
    }
    case "folders": {
      const below = [...model.keys()].filter((each) => each.startsWith(doing.prefix));
      const names = below
        .map((each) => each.slice(doing.prefix.length))
        .filter((rest) => rest.includes("/"))
        .map((rest) => rest.slice(0, rest.indexOf("/") + 1));
      assert.deepEqual(await store.folders(doing.prefix), [...new Set(names)].toSorted(compareUtf8));
      return;
    }
  }
}

/** The laws, as tests of the suite that calls this. */
export function storeLaws(under: StoreUnderTest): void {
  test("answers every schedule of operations as a map of texts would", async () => {
    const schedule = fc.array(operation, { minLength: 1, maxLength: 25 });
    const property = fc.asyncProperty(schedule, async (doings) => {
      await using store = await under.open(randomUUID(), NEVER);
      const model: Model = new Map();
      for (const doing of doings) await apply(store, model, doing);
      assert.deepEqual(await keysOf(store), [...model.keys()].toSorted(compareUtf8));
    });
    await fc.assert(property, { numRuns: under.schedules });
  });

  test("has one winner for each key that eight clients put as new", async () => {
    const name = randomUUID();
    const stores = await Promise.all(Array.from({ length: 8 }, () => under.open(name, NEVER)));
    const keys = Array.from(
      { length: 12 },
      (_, index) => `content/_delta_log/${String(index).padStart(20, "0")}.json`,
    );
    const won = await Promise.all(
      stores.map((store, client) =>
        Promise.all(keys.map((each) => store.putNew(each, Buffer.from(`of client ${client}`)))),
      ),
    );
    for (const [place, each] of keys.entries()) {
      const winners = won.flatMap((wins, client) => (wins[place] === true ? [client] : []));
      assert.equal(winners.length, 1, each);
      assert.equal((await stores[0]?.get(each))?.toString(), `of client ${winners[0]}`);
    }
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
  });

  test("never shows half of an object that is put again and again", async () => {
    await using store = await under.open(randomUUID(), NEVER);
    const bodies = ["a", "b"].map((letter) => Buffer.from(letter.repeat(100_000)));
    await store.put("x", bodies[0]!);
    let isOver = false;
    const writing = (async () => {
      for (let turn = 0; turn < 20; turn++) await store.put("x", bodies[turn % 2]!);
      isOver = true;
    })();
    while (!isOver) {
      const found = await store.get("x");
      assert.ok(found !== null && bodies.some((each) => each.equals(found)));
    }
    await writing;
  });

  test("uploads no file that has another content than stated, and leaves none", async () => {
    await using store = await under.open(randomUUID(), NEVER);
    const file = join(folder, randomUUID());
    await writeFile(file, "what is there");
    const uploading = store.upload("a/b", file, contentOf(Buffer.from("what was said")));
    await assert.rejects(uploading, {
      code: "target.refused",
      message: /differs from its run's manifest/,
    });
    assert.deepEqual(await keysOf(store), []);
  });

  test("downloads no object that has another content than stated, and leaves no file", async () => {
    await using store = await under.open(randomUUID(), NEVER);
    await store.put("a/b", Buffer.from("changed"));
    const file = join(folder, randomUUID());
    const loading = store.download("a/b", file, contentOf(Buffer.from("as it was")));
    await assert.rejects(loading, {
      code: "target.refused",
      message: /a\/b in .* has another content than was delivered/,
    });
    await assert.rejects(readFile(file), { code: "ENOENT" });
  });

  test("does nothing more once its signal is aborted, and throws the reason", async () => {
    const name = randomUUID();
    const ending = new AbortController();
    await using store = await under.open(name, ending.signal);
    const text = Buffer.from("text");
    await store.put("there", text);
    const file = join(folder, randomUUID());
    await writeFile(file, text);
    const reason = new Error("the run is to end");
    ending.abort(reason);
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      get: () => store.get("there"),
      putNew: () => store.putNew("new", text),
      put: () => store.put("there", Buffer.from("other")),
      upload: () => store.upload("a/b", file, contentOf(text)),
      download: () => store.download("there", join(folder, randomUUID()), contentOf(text)),
      list: () => keysOf(store),
      folders: () => store.folders(""),
      remove: () => store.remove(["there"]),
    };
    for (const [call, make] of Object.entries(calls)) await assert.rejects(make(), reason, call);
    await using again = await under.open(name, NEVER);
    assert.deepEqual(await keysOf(again), ["there"]);
    assert.deepEqual(await again.get("there"), text);
  });

  test("puts an object only where there is none, of which a probe leaves nothing", async () => {
    await using store = await under.open(randomUUID(), NEVER);
    await probeStore({ store, clock: systemClock });
    assert.deepEqual(await keysOf(store), []);
  });

  test("refuses keys that lead out of it", async () => {
    await using store = await under.open(randomUUID(), NEVER);
    for (const each of ["../x", "a/../../x", "/etc/passwd", "a//b", "", "a/."]) {
      await assert.rejects(store.put(each, Buffer.from("")), { code: "target.refused" }, each);
      await assert.rejects(store.remove([each]), { code: "target.refused" }, each);
    }
  });
}
