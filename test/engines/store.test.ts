/** Stores in a bucket, on a real server and through a proxy that has faults. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, suite, test } from "node:test";
import { inspect } from "node:util";
import { systemClock } from "../../src/common/clock.ts";
import { removeTree } from "../../src/common/tree.ts";
import { probeStore } from "../../src/targets/lake/instance.ts";
import { openStore } from "../../src/targets/lake/lake.ts";
import { openS3Store } from "../../src/targets/store/s3-store.ts";
import type { Store } from "../../src/targets/store/store.ts";
import { environment } from "../environment.ts";
import { many } from "../long.ts";
import { NEVER } from "../never.ts";
import { contentOf, keysOf, storeLaws } from "../targets/store/laws.ts";
import {
  type Fault,
  type FaultyProxy,
  faultyProxy,
  type S3Server,
  type SeenRequest,
  startS3,
  times,
} from "./s3-server.ts";

let folder: string;
let server: S3Server;
let proxy: FaultyProxy;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "s3-store-"));
  server = await startS3();
  proxy = await faultyProxy(server);
  Object.assign(process.env, server.env);
});
after(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await removeTree(folder);
});

beforeEach(() => proxy.script(() => undefined));

interface Opened {
  readonly prefix?: string;
  readonly bucket?: string;
  readonly endpoint?: string;
  readonly region?: string;
  readonly idleMs?: number;
  readonly signal?: AbortSignal;
}

/** A store behind the proxy that does not wait between attempts. */
async function open({
  prefix = randomUUID(),
  bucket = server.bucket,
  idleMs,
  signal = NEVER,
  ...options
}: Opened = {}): Promise<Store> {
  return await openS3Store(
    { bucket, prefix: `${prefix}/` },
    { endpoint: proxy.endpoint, ...options },
    signal,
    { sleep: async () => {}, ...(idleMs === undefined ? {} : { idleMs }) },
  );
}

/** A file of random bytes, so that no part is like another. */
async function fileOf(bytes: number): Promise<{ file: string; body: Buffer }> {
  const file = join(folder, randomUUID());
  const body = randomBytes(bytes);
  await writeFile(file, body);
  return { file, body };
}

const puts = ({ method }: SeenRequest) => method === "PUT";
const gets = ({ method, key }: SeenRequest) => method === "GET" && key !== "";
const anything = () => true;

const ONE = Buffer.from("one");

suite("a store in a bucket", () => {
  storeLaws({
    open: async (name, signal) =>
      await openStore({ url: `s3://${server.bucket}/${name}`, endpoint: server.endpoint }, signal),
    schedules: many(30, 300),
  });

  test("lists, and removes, more objects than one answer has", async () => {
    const prefix = randomUUID();
    const names = Array.from({ length: 2100 }, (_, index) => String(index).padStart(6, "0"));
    await mkdir(join(server.folder, prefix, "a"), { recursive: true });
    for (const name of names) await writeFile(join(server.folder, prefix, "a", name), "");
    await using store = await open({ prefix });
    assert.deepEqual(
      await keysOf(store),
      names.map((name) => `a/${name}`),
    );
    assert.deepEqual(
      await keysOf(store, "a/", "a/000099"),
      names.slice(100).map((name) => `a/${name}`),
    );
    await store.remove(names.map((name) => `a/${name}`));
    assert.deepEqual(await keysOf(store), []);
  });
});

suite("a store in a bucket that fails for a moment", () => {
  const MOMENTARY: Readonly<Record<string, Fault>> = {
    "500": { does: "answer", status: 500, code: "InternalError" },
    "503 SlowDown": { does: "answer", status: 503, code: "SlowDown" },
    "409 ConditionalRequestConflict": { does: "answer", status: 409, code: "ConditionalRequestConflict" },
    "a request that was lost": { does: "drop" },
    "a body that was cut": { does: "cut body", afterBytes: 1 },
  };

  for (const [name, fault] of Object.entries(MOMENTARY)) {
    test(`puts an object in spite of ${name}`, async () => {
      await using store = await open();
      proxy.script(times(3, puts, fault));
      assert.equal(await store.putNew("x", ONE), true);
      assert.equal(proxy.seen.filter(puts).length, 4);
      assert.deepEqual(await store.get("x"), ONE);
    });
  }

  test("says that an object is there whose answer was lost, and it is this one", async () => {
    await using store = await open();
    proxy.script(times(1, puts, { does: "lose answer" }));
    assert.equal(await store.putNew("x", ONE), false);
    assert.deepEqual(await store.get("x"), ONE);
  });

  test("reads again what was cut on its way", async () => {
    await using store = await open();
    const { file, body } = await fileOf(100_000);
    await store.upload("x", file, contentOf(body));
    proxy.script(times(2, gets, { does: "cut answer", afterBytes: 1000 }));
    assert.ok((await store.get("x"))?.equals(body));
    proxy.script(times(2, gets, { does: "cut answer", afterBytes: 1000 }));
    const copy = join(folder, randomUUID());
    await store.download("x", copy, contentOf(body));
    assert.ok((await readFile(copy)).equals(body));
    assert.equal(proxy.seen.filter(gets).length, 3);
  });

  test("asks again where nothing moves on the connection", async () => {
    await using store = await open({ idleMs: 300 });
    proxy.script(times(1, puts, { does: "delay", milliseconds: 1500 }));
    await store.put("x", ONE);
    assert.equal(proxy.seen.length, 2);
  });

  test("sends a large file again that was cut, and whose answer was lost", async () => {
    await using store = await open();
    const { file, body } = await fileOf(17 * 1024 * 1024);
    const cut = times(2, puts, { does: "cut body", afterBytes: 100_000 });
    const lost = times(1, puts, { does: "lose answer" });
    proxy.script((request) => cut(request) ?? lost(request));
    await store.upload("large", file, contentOf(body));
    assert.equal(proxy.seen.filter(puts).length, 4);
    const copy = join(folder, randomUUID());
    await store.download("large", copy, contentOf(body));
    assert.ok((await readFile(copy)).equals(body));
  });

  test("waits between attempts, longer each time", async () => {
    const waits: number[] = [];
    await using store = await openS3Store(
      { bucket: server.bucket, prefix: "" },
      { endpoint: proxy.endpoint },
      NEVER,
      { sleep: async (milliseconds) => void waits.push(milliseconds) },
    );
    proxy.script(times(100, anything, { does: "drop" }));
    await assert.rejects(store.get("x"), { code: "target.unavailable", message: /was lost repeatedly/ });
    assert.deepEqual(waits, [200, 400, 800, 1600, 3200, 6400, 10_000]);
  });
});

suite("a store in a bucket that refuses", () => {
  interface Case {
    readonly name: string;
    readonly fault: Fault;
    readonly message: RegExp;
    readonly code?: string;
    readonly does?: (store: Store) => Promise<unknown>;
  }

  const answer = (status: number, code: string, body?: string): Fault => ({
    ...{ does: "answer", status, code },
    ...(body !== undefined && { body }),
  });
  const HTML = "<!doctype html><html><body>Welcome<br></body></html>";
  const DENIED = "<DeleteResult><Error><Key>lake/a/x</Key><Code>AccessDenied</Code></Error></DeleteResult>";
  const CASES: readonly Case[] = [
    { name: "writing", fault: answer(403, "AccessDenied"), message: /do not allow to write a\/x in s3:/ },
    {
      name: "listing",
      fault: answer(403, "AccessDenied"),
      does: (store) => keysOf(store),
      message: /do not allow to list objects in s3:\/\/warehouse\/lake\/; docs\/lake\.md has the policy/,
    },
    {
      name: "removing one object of a request",
      fault: answer(200, "", DENIED),
      does: (store) => store.remove(["a/x"]),
      message: /do not allow to remove a\/x in s3:/,
    },
    { name: "expired credentials", fault: answer(400, "ExpiredToken"), message: /whether they have expired/ },
    { name: "what no longer fits", fault: answer(507, "InsufficientStorage"), message: /lake\/ is full;/ },
    { name: "what is above a quota", fault: answer(403, "QuotaExceeded"), message: /lake\/ is full;/ },
    { name: "a clock that is wrong", fault: answer(403, "RequestTimeTooSkewed"), message: /The clocks of/ },
    {
      name: "by a proxy that answers in HTML",
      code: "target.unavailable",
      fault: answer(502, "", HTML),
      does: (store) => keysOf(store),
      message: /lake\/ is busy, or the connection to it was lost repeatedly; try again later/,
    },
    {
      name: "by an endpoint that is no store",
      fault: answer(200, "", HTML),
      does: (store) => keysOf(store),
      message: /refused to list objects \(Error, status 200\); check that `endpoint` names/,
    },
    {
      name: "something that nobody knows",
      fault: answer(418, "Teapot"),
      message: /refused to write a\/x \(Teapot, status 418\)/,
    },
    {
      name: "a condition that it does not know",
      fault: answer(501, "NotImplemented"),
      does: (store) => store.putNew("a/x", ONE),
      message: /it ignores "If-None-Match: \*"/,
    },
  ];

  for (const { name, fault, message, code = "target.refused", does } of CASES) {
    test(`${name}: says so, and what to do`, async () => {
      await using store = await open({ prefix: "lake" });
      proxy.script(times(100, anything, fault));
      await assert.rejects((does ?? ((each: Store) => each.put("a/x", ONE)))(store), { code, message });
      assert.equal(proxy.seen.length, code === "target.refused" ? 1 : 8);
    });
  }

  test("no bucket: says so, and what to do", async () => {
    await using store = await open({ bucket: "other", prefix: "lake" });
    const expected = {
      code: "target.refused",
      message: /^There is no bucket for s3:\/\/other\/lake\/; create it/,
    };
    await assert.rejects(store.get("x"), expected);
    await assert.rejects(store.put("x", ONE), expected);
    await assert.rejects(keysOf(store), expected);
  });

  for (const [variable, value] of [
    ["AWS_SECRET_ACCESS_KEY", "wrong-secret"],
    ["AWS_ACCESS_KEY_ID", "WRONGKEY"],
  ] as const) {
    test(`a wrong ${variable}: says so, and shows neither`, async (t) => {
      t.after(environment({ [variable]: value }));
      await using store = await open({ prefix: "lake" });
      const message = /^The store does not accept the credentials for s3:/;
      await assert.rejects(store.get("x"), { code: "target.refused", message });
      const thrown = await store.put("x", ONE).catch((error: unknown) => error);
      assert.match(String(thrown), /does not accept the credentials/);
      const shown = inspect(thrown, { depth: 20, showHidden: true });
      for (const secret of [value, server.env.AWS_SECRET_ACCESS_KEY])
        assert.ok(!shown.includes(secret), shown);
    });
  }

  test("no credentials: says so, and where they may come from", async (t) => {
    const none = {
      AWS_ACCESS_KEY_ID: undefined,
      AWS_SECRET_ACCESS_KEY: undefined,
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_SHARED_CREDENTIALS_FILE: join(folder, "none"),
      AWS_CONFIG_FILE: join(folder, "none"),
    };
    t.after(environment(none));
    await using store = await open({ prefix: "lake" });
    await assert.rejects(store.put("x", ONE), {
      code: "target.refused",
      message: /^There are no credentials for s3:/,
    });
    assert.equal(proxy.seen.length, 0);
  });

  for (const [what, options, code, message] of [
    [
      "another region than the server's",
      { region: "eu-west-9" },
      "target.refused",
      /lies in another region.*set `region`/,
    ],
    [
      "nobody at the endpoint",
      { endpoint: "http://127.0.0.1:9" },
      "target.unavailable",
      /^Nothing answers at http:\/\/127\.0\.0\.1:9 for s3:/,
    ],
  ] as const)
    test(`${what}: says so`, async () => {
      await using store = await open({ prefix: "lake", ...options });
      await assert.rejects(store.put("x", ONE), { code, message });
    });

  test("no TLS at an endpoint with https: says so", async () => {
    const endpoint = server.endpoint.replace("http:", "https:");
    await using store = await open({ prefix: "lake", endpoint });
    await assert.rejects(store.put("x", ONE), {
      code: "target.refused",
      message: /^No secure connection to/,
    });
  });

  test("that ignores the condition of a put is found out by the probe, which leaves nothing", async () => {
    await using store = await open({ prefix: "lake-of-probe" });
    proxy.script(times(100, puts, { does: "overwrite" }));
    await assert.rejects(probeStore({ store, clock: systemClock }), {
      code: "target.refused",
      message:
        /^s3:\/\/warehouse\/lake-of-probe\/ overwrites existing objects .* use a store that honours it/,
    });
    assert.deepEqual(await keysOf(store), []);
  });

  test("nothing, but whose upload is aborted: ends it with the reason, and leaves no object", async () => {
    const ending = new AbortController();
    const prefix = randomUUID();
    await using store = await open({ prefix, signal: ending.signal });
    const { file, body } = await fileOf(17 * 1024 * 1024);
    const reason = new Error("the run is to end");
    proxy.script((request) => {
      if (!puts(request)) return undefined;
      ending.abort(reason);
      return { does: "cut body", afterBytes: 100_000 };
    });
    await assert.rejects(store.upload("large", file, contentOf(body)), reason);
    await using again = await open({ prefix });
    assert.deepEqual(await keysOf(again), []);
  });
});
