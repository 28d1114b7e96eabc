/** A bucket whose server does not answer; test/engines/store.test.ts has one that does. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { removeTree } from "../../../src/common/tree.ts";
import { openStore } from "../../../src/targets/store/open-store.ts";
import { openS3Store, type Sleep, sleepWithJitter } from "../../../src/targets/store/s3-store.ts";
import type { Store } from "../../../src/targets/store/store.ts";
import { environment } from "../../environment.ts";
import { until } from "../../until.ts";
import { contentOf, keysOf } from "./laws.ts";
import { type SilentServer, silentServer } from "./silent-server.ts";

const TEXT = Buffer.from("text");

suite("a call that waits for a bucket", { timeout: 60_000 }, () => {
  let folder: string;
  let restore: () => void;
  before(async () => {
    restore = environment({ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" });
    folder = await mkdtemp(join(tmpdir(), "silent-store-"));
  });
  after(async () => {
    restore();
    await removeTree(folder);
  });

  /** Ends the store's signal in the middle of a call, which must throw the reason then. */
  async function endsWithReason(
    call: (store: Store) => Promise<unknown>,
    untilMiddle = async (server: SilentServer) => await server.heard(),
    begins = false,
  ): Promise<void> {
    await using server = await silentServer({ begins });
    const ending = new AbortController();
    const options = { url: "s3://bucket/lake", endpoint: server.endpoint };
    await using store = await openStore(options, ending.signal);
    const inMiddle = untilMiddle(server);
    const reason = new Error("Interrupted.");
    const ended = assert.rejects(call(store), reason);
    await inMiddle;
    ending.abort(reason);
    await ended;
  }

  const upload = async (store: Store) => {
    const file = join(folder, randomUUID());
    await writeFile(file, TEXT);
    await store.upload("x", file, contentOf(TEXT));
  };
  const calls: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
    get: (store) => store.get("x"),
    putNew: (store) => store.putNew("x", TEXT),
    put: (store) => store.put("x", TEXT),
    upload,
    download: (store) => store.download("x", join(folder, randomUUID()), contentOf(TEXT)),
    list: (store) => keysOf(store),
    folders: (store) => store.folders(""),
    remove: (store) => store.remove(["x"]),
  };
  for (const [name, call] of Object.entries(calls)) {
    test(`ends with the reason of the store's signal: ${name}`, () => endsWithReason(call));
  }

  test("ends so while it waits for its next attempt", async () => {
    const ending = new AbortController();
    const reason = new Error("Interrupted.");
    const sleep: Sleep = (_, signal) => {
      process.nextTick(() => ending.abort(reason));
      return sleepWithJitter(1_000_000, signal);
    };
    const nobody = { endpoint: "http://127.0.0.1:9" };
    const bucket = { bucket: "bucket", prefix: "" } as const;
    await using store = await openS3Store(bucket, nobody, ending.signal, { sleep });
    await assert.rejects(store.get("x"), reason);
  });

  test("ends so in the middle of an answer, and leaves no file", async () => {
    const file = join(folder, "half");
    const download = (store: Store) => store.download("x", file, contentOf(TEXT));
    const isBegun = () => until("there is a file", () => existsSync(file), { everyMs: 0 });
    await endsWithReason(download, isBegun, true);
    assert.ok(!existsSync(file));
  });
});
