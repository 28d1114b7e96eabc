/** Questions that take what nobody has: each is ended, and the next one is answered. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, suite, test } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { sampleWarehouse } from "../audit/sample.ts";
import { ChildrenPeak, childrenOf } from "../cli/children.ts";
import { either, few, long } from "../long.ts";
import { until } from "../until.ts";
import { call, connect, connectWithProcess } from "./client.ts";

const out = await sampleWarehouse();
const WAREHOUSE = ["--warehouse", out];

/** It asks for no memory, and so nothing but its time ends it. */
const ENDLESS = "SELECT sum(hash(i)) FROM range(100000000000) t(i)";
/** The planner makes the list, which takes 11 GB, before there is anything to interrupt. */
const IN_THE_PLANNER = "SELECT len(range(200000000))";

const query = (client: Client, sql: string) => call(client, "query", { sql });

/** A child that ended meanwhile may be gone when it is to be killed. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    assert.equal((thrown as NodeJS.ErrnoException).code, "ESRCH");
  }
}

async function assertAnswers(client: Client): Promise<void> {
  const { text, isError } = await query(client, "SELECT count(*) AS items FROM content");
  assert.deepEqual([isError, JSON.parse(text).rows], [false, [{ items: 500 }]], text);
}

const LIMIT_MB = 500;
/** It is measured every 50 ms, under any load. */
const MARGIN_MB = 1000;
const TOOK =
  /^The question took \d+ MB of memory, more than the 500 MB that it may, and was ended; ask for less\. --max-memory sets the limit\.$/;

suite("a question that takes more memory than it may is ended", () => {
  let client: Client;
  let pid: number;
  before(async () => {
    ({ client, pid } = await connectWithProcess([
      ...WAREHOUSE,
      `--max-memory=${LIMIT_MB}`,
      "--max-seconds=280",
    ]));
  });
  after(() => client.close());

  const bombs = [
    IN_THE_PLANNER,
    "SELECT count(*) FROM range(4) r(i) WHERE len(repeat('x', 1000000000 + i::INTEGER)) > 0",
    "SELECT repeat('x', 1000000000) AS text",
    "SELECT len(list_transform(range(100000000), x -> x::VARCHAR))",
    "SELECT list_sum(list_transform(range(3000000 + r.i), x -> x * 2)) FROM range(2000) r(i)",
  ];
  for (const sql of few(bombs, 1)) {
    test(sql, async () => {
      using peak = new ChildrenPeak(pid);
      const { text, isError } = await query(client, sql);
      assert.deepEqual([isError, TOOK.test(text)], [true, true], text);
      assert.ok(peak.megabytes > LIMIT_MB / 2 && peak.megabytes < LIMIT_MB + MARGIN_MB, `${peak.megabytes}`);
      await assertAnswers(client);
    });
  }

  long("what the database itself refuses for want of memory says which option raises it", async () => {
    const { text, isError } = await query(
      client,
      "SELECT len(string_agg(repeat('x', 1000), '')) FROM range(100000) a, range(100) b",
    );
    assert.equal(isError, true);
    assert.match(text, /needs more memory than it has .*; --max-memory sets the limit\.$/);
  });

  test("many at the same time each end so, and the others are answered", async () => {
    const bombed = Array.from({ length: either(2, 6) }, () => query(client, IN_THE_PLANNER));
    const answered = Array.from({ length: either(2, 6) }, () => assertAnswers(client));
    await Promise.all(answered);
    for (const { text } of await Promise.all(bombed)) assert.match(text, TOOK);
  });
});

long("a question that takes longer than it may is ended", async (t) => {
  // Long enough that the next question is answered on a machine under load.
  const client = await connect([...WAREHOUSE, "--max-seconds=3"]);
  t.after(() => client.close());
  assert.deepEqual(await query(client, ENDLESS), {
    text: "The question took longer than 3.0 s and was ended; ask for less. --max-seconds sets the limit.",
    isError: true,
  });
  await assertAnswers(client);
});

suite("a server whose question is ended goes on:", () => {
  let client: Client;
  let pid: number;
  before(async () => {
    ({ client, pid } = await connectWithProcess([...WAREHOUSE, "--max-seconds=999"]));
  });
  after(() => client.close());

  test("one that the client cancels makes room for the next", async () => {
    const cancelling = new AbortController();
    const asked = Array.from({ length: 3 }, () =>
      assert.rejects(call(client, "query", { sql: ENDLESS }, cancelling.signal)),
    );
    const ended = Promise.all(asked);
    await until("both questions are under way", () => childrenOf(pid).length >= 2, { ended });
    cancelling.abort();
    await ended;
    await assertAnswers(client);
  });

  test("where its process is killed that is said, and the next is answered", async () => {
    let isAnswered = false;
    const answer = query(client, ENDLESS).finally(() => {
      isAnswered = true;
    });
    const isKilled = () => {
      for (const child of childrenOf(pid)) killIfThere(child);
      return isAnswered;
    };
    await until("the question is answered", isKilled, { everyMs: 20 });
    assert.deepEqual(await answer, {
      text: "The process that answered the question ended (SIGKILL); if the machine has no memory left, ask for less.",
      isError: true,
    });
    await assertAnswers(client);
  });
});

test("no process of a question outlives a server that is killed", async () => {
  const { client, pid, stderr } = await connectWithProcess([...WAREHOUSE, "--max-seconds=999"]);
  const asked = [ENDLESS, ENDLESS].map((sql) => assert.rejects(query(client, sql)));
  const ended = once(stderr, "end");
  await until("both questions are under way", () => childrenOf(pid).length >= 2, { ended });
  process.kill(pid, "SIGKILL");
  await Promise.all([ended, ...asked]);
});

test("a row that is too long is told in its place, and the rows after it are there", async (t) => {
  const client = await connect(WAREHOUSE);
  t.after(() => client.close());
  const rows = (texts: string) =>
    query(client, `SELECT i AS n, repeat('x', length) AS t FROM (VALUES ${texts}) v(i, length) ORDER BY i`);
  const { text } = await rows("(1, 3000000), (2, 5), (3, 250000), (4, 0)");
  assert.deepEqual(JSON.parse(text), {
    whole: false,
    rows: [
      { n: 2, t: "xxxxx" },
      { n: 4, t: "" },
    ],
    left_out: [
      "row 1 has 3.0 MB, more than the 200,000 bytes of an answer: name its columns",
      "row 3 has 251 kB, more than the 200,000 bytes of an answer: name its columns",
    ],
  });
  // One that would be shown by itself ends the page.
  const { whole, rows: shown, left_out } = JSON.parse((await rows("(1, 150000), (2, 150000), (3, 5)")).text);
  assert.deepEqual([whole, shown.length, left_out], [false, 1, undefined]);
});
