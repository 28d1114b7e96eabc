/** Stores in a bucket, on a real server and through a proxy that has faults. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, suite, test } from "node:test";
import { inspect } from "node:util";
import { removeTree } from "../../src/common/tree.ts";
import { openStore } from "../../src/targets/store/open-store.ts";
import { openS3Store } from "../../src/targets/store/s3-store.ts";
import type { Store } from "../../src/targets/store/store.ts";
import { verifyConditionalPut } from "../../src/targets/store/store.ts";
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
const posts = ({ method }: SeenRequest) => method === "POST";
const isPart = ({ method, query }: SeenRequest) => method === "PUT" && query.has("partNumber");
const joins = ({ method, query }: SeenRequest) => method === "POST" && query.has("uploadId");
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

  test("sends a large file in parts, each checked, and gets it back", async () => {
    await using store = await open();
    const { file, body } = await fileOf(20 * 1024 * 1024 + 1);
    await store.upload("large", file, contentOf(body));
    assert.equal(proxy.seen.filter(isPart).length, 3);
    const copy = join(folder, randomUUID());
    await store.download("large", copy, contentOf(body));
    assert.ok((await readFile(copy)).equals(body));
  });

  test("reads no object that is larger than a log's can be", async () => {
    const prefix = randomUUID();
    await mkdir(join(server.folder, prefix));
    await writeFile(join(server.folder, prefix, "huge"), "");
    await truncate(join(server.folder, prefix, "huge"), 257 * 1024 * 1024);
    await using store = await open({ prefix, endpoint: server.endpoint });
    await assert.rejects(store.get("huge"), {
      code: "target.refused",
      message: /^huge in s3:.* is larger than 256 MiB/,
    });
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

  test("sends a part again that was cut, and joins parts whose answer was lost", async () => {
    await using store = await open();
    const { file, body } = await fileOf(17 * 1024 * 1024);
    const cut = times(2, isPart, { does: "cut body", afterBytes: 100_000 });
    const lost = times(1, joins, { does: "lose answer" });
    proxy.script((request) => cut(request) ?? lost(request));
    await store.upload("large", file, contentOf(body));
    assert.equal(proxy.seen.filter(isPart).length, 5);
    assert.equal(proxy.seen.filter(joins).length, 2);
    assert.ok((await store.get("large"))?.equals(body));
  });

  test("takes parts for joined that are unknown after an answer was lost, where the object is there", async () => {
    await using store = await open();
    const { file, body } = await fileOf(9 * 1024 * 1024);
    const lost = times(1, joins, { does: "lose answer" });
    const forgotten = times(1, joins, { does: "answer", status: 404, code: "NoSuchUpload" });
    proxy.script((request) => lost(request) ?? forgotten(request));
    await store.upload("large", file, contentOf(body));
    assert.ok((await store.get("large"))?.equals(body));
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
    readonly message: string;
    readonly code?: string;
    readonly does?: (store: Store) => Promise<unknown>;
  }

  const refusal = (status: number, code: string): Fault => ({ does: "answer", status, code });
  const denies = "The credentials do not allow to";
  const policy = "(docs/lake.md has the policy).";
  const CASES: readonly Case[] = [
    {
      name: "writing",
      fault: refusal(403, "AccessDenied"),
      message: `${denies} write a/x in s3://warehouse/lake/; allow s3:PutObject ${policy}`,
    },
    {
      name: "reading",
      fault: refusal(403, "AccessDenied"),
      does: (store) => store.get("a/x"),
      message: `${denies} read a/x in s3://warehouse/lake/; allow s3:GetObject and s3:ListBucket ${policy}`,
    },
    {
      name: "listing",
      fault: refusal(403, "AccessDenied"),
      does: (store) => keysOf(store),
      message: `${denies} list objects in s3://warehouse/lake/; allow s3:ListBucket ${policy}`,
    },
    {
      name: "removing",
      fault: refusal(403, "AccessDenied"),
      does: (store) => store.remove(["a/x"]),
      message: `${denies} remove a/x in s3://warehouse/lake/; allow s3:DeleteObject ${policy}`,
    },
    {
      name: "removing one object of a request",
      fault: {
        ...{ does: "answer", status: 200, code: "" },
        body: "<DeleteResult><Error><Key>lake/a/x</Key><Code>AccessDenied</Code></Error></DeleteResult>",
      },
      does: (store) => store.remove(["a/x"]),
      message: `${denies} remove a/x in s3://warehouse/lake/; allow s3:DeleteObject ${policy}`,
    },
    {
      name: "expired credentials",
      fault: refusal(400, "ExpiredToken"),
      message: "The credentials for s3://warehouse/lake/ have expired; renew them, and try again.",
    },
    {
      name: "what no longer fits (507)",
      fault: refusal(507, "InsufficientStorage"),
      message: "s3://warehouse/lake/ is full; make room, and try again.",
    },
    {
      name: "what is above a quota",
      fault: refusal(403, "QuotaExceeded"),
      message: "s3://warehouse/lake/ is full; make room, and try again.",
    },
    {
      name: "requests to another region",
      fault: refusal(301, "PermanentRedirect"),
      message:
        "The bucket of s3://warehouse/lake/ lies in another region; set `region` to that of the bucket.",
    },
    {
      name: "a clock that is wrong",
      code: "target.unavailable",
      fault: refusal(403, "RequestTimeTooSkewed"),
      message:
        "The clocks of this machine and of s3://warehouse/lake/ differ too much; set this machine's clock.",
    },
    {
      name: "by a proxy that answers in HTML",
      code: "target.unavailable",
      fault: {
        does: "answer",
        status: 502,
        code: "",
        body: "<html><head></head><body>Bad Gateway<br></body></html>",
      },
      does: (store) => keysOf(store),
      message: "s3://warehouse/lake/ is busy or unavailable; try again later.",
    },
    {
      name: "by an endpoint that is no store",
      fault: {
        does: "answer",
        status: 200,
        code: "",
        body: "<!doctype html><html><body>Welcome<br></body></html>",
      },
      does: (store) => keysOf(store),
      message:
        "s3://warehouse/lake/ refused to list objects (Error, status 200); check that `endpoint` names an S3-compatible store, and what its documentation says of that.",
    },
    {
      name: "by an endpoint that is no store, and answers 404",
      fault: {
        does: "answer",
        status: 404,
        code: "",
        body: "<!doctype html><html><body>Not found<br></body></html>",
      },
      does: (store) => store.get("a/x"),
      message:
        "s3://warehouse/lake/ refused to read a/x (Error, status 404); check that `endpoint` names an S3-compatible store, and what its documentation says of that.",
    },
    {
      name: "something that nobody knows",
      fault: refusal(418, "Teapot"),
      message:
        "s3://warehouse/lake/ refused to write a/x (Teapot, status 418); check that `endpoint` names an S3-compatible store, and what its documentation says of that.",
    },
    {
      name: "a condition that it does not know",
      fault: refusal(501, "NotImplemented"),
      does: (store) => store.putNew("a/x", ONE),
      message:
        's3://warehouse/lake/ overwrites existing objects although it is asked not to (it ignores "If-None-Match: *"), so two deliveries could mix; use a store that honours it (docs/lake.md names some).',
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
      message:
        'There is no bucket "other" for s3://other/lake/; create it, or correct `url` (and `endpoint`).',
    };
    await assert.rejects(store.get("x"), expected);
    await assert.rejects(store.put("x", ONE), expected);
    await assert.rejects(keysOf(store), expected);
    const { file, body } = await fileOf(10);
    await assert.rejects(store.upload("x", file, contentOf(body)), expected);
  });

  for (const [variable, value] of [
    ["AWS_SECRET_ACCESS_KEY", "wrong-secret"],
    ["AWS_ACCESS_KEY_ID", "WRONGKEY"],
  ] as const) {
    test(`a wrong ${variable}: says so, and shows neither`, async (t) => {
      t.after(environment({ [variable]: value }));
      await using store = await open({ prefix: "lake" });
      const message =
        "The store does not accept the credentials for s3://warehouse/lake/; check the key, its secret and `region`.";
      await assert.rejects(store.get("x"), { code: "target.refused", message });
      const thrown = await store.put("x", ONE).catch((error: unknown) => error);
      assert.ok(thrown instanceof Error);
      assert.equal(thrown.message, message);
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
      message:
        "There are no credentials for s3://warehouse/lake/; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role.",
    });
    assert.equal(proxy.seen.length, 0);
  });

  test("another region than the server's: says so", async () => {
    await using store = await open({ prefix: "lake", region: "eu-west-9" });
    await assert.rejects(store.put("x", ONE), {
      code: "target.refused",
      message:
        "The bucket of s3://warehouse/lake/ lies in another region; set `region` to that of the bucket.",
    });
  });

  test("nobody at the endpoint: says so", async () => {
    await using store = await open({ prefix: "lake", endpoint: "http://127.0.0.1:9" });
    await assert.rejects(store.put("x", ONE), {
      code: "target.unavailable",
      message:
        "Nothing answers at http://127.0.0.1:9 for s3://warehouse/lake/; check `endpoint`, `region` and the network, or try again later.",
    });
  });

  test("no TLS at an endpoint with https: says so", async () => {
    const endpoint = server.endpoint.replace("http:", "https:");
    await using store = await open({ prefix: "lake", endpoint });
    await assert.rejects(store.put("x", ONE), {
      code: "target.refused",
      message: `No secure connection to ${endpoint} for s3://warehouse/lake/; check its certificate, and NODE_EXTRA_CA_CERTS for one of your own.`,
    });
  });

  test("that ignores the condition of a put is found out by the probe, which leaves nothing", async () => {
    await using store = await open({ prefix: "lake-of-probe" });
    proxy.script(times(100, puts, { does: "overwrite" }));
    await assert.rejects(verifyConditionalPut(store), {
      code: "target.refused",
      message:
        /^s3:\/\/warehouse\/lake-of-probe\/ overwrites existing objects .* use a store that honours it/,
    });
    assert.deepEqual(await keysOf(store), []);
  });

  test("a part: takes the other parts back, and leaves no object", async () => {
    await using store = await open();
    const { file, body } = await fileOf(17 * 1024 * 1024);
    proxy.script(
      times(
        1,
        (request) => isPart(request) && request.query.get("partNumber") === "2",
        refusal(403, "AccessDenied"),
      ),
    );
    await assert.rejects(store.upload("large", file, contentOf(body)), {
      message: /do not allow to write large in/,
    });
    assert.equal(proxy.seen.filter(({ method }) => method === "DELETE").length, 1);
    assert.deepEqual(await keysOf(store), []);
  });

  test("nothing, but whose upload is aborted: ends it with the reason, and takes the parts back", async () => {
    const ending = new AbortController();
    const prefix = randomUUID();
    await using store = await open({ prefix, signal: ending.signal });
    const { file, body } = await fileOf(17 * 1024 * 1024);
    const reason = new Error("the run is to end");
    proxy.script((request) => {
      if (!isPart(request)) return undefined;
      ending.abort(reason);
      return { does: "delay", milliseconds: 200 };
    });
    await assert.rejects(store.upload("large", file, contentOf(body)), reason);
    assert.equal(proxy.seen.filter(({ method }) => method === "DELETE").length, 1);
    assert.equal(proxy.seen.filter(posts).length, 1);
    await using again = await open({ prefix });
    assert.deepEqual(await keysOf(again), []);
  });
});
