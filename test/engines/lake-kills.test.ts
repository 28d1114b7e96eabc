/**
 * Deliveries to a bucket whose process is killed or stopped at a certain request, or whose requests fail. A proxy before
 * the store says when; the next process is another machine with an empty disk.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { cp, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { CANARY } from "../run/running.ts";
import { item, itemsOf, Scripted } from "../run/scripted.ts";
import { type Started, start } from "../soak/started.ts";
import {
  assertClaimed,
  assertEqualsWarehouse,
  assertWholeRun,
  byRun,
  claimsOf,
  withDuckDB,
} from "../targets/lake/kill-checks.ts";
import { lakeView } from "../targets/lake/kill-view.ts";
import {
  type Fault,
  type FaultyProxy,
  faultyProxy,
  type S3Server,
  type Script,
  type SeenRequest,
  startS3,
} from "./s3-server.ts";

const PIPELINE = packagePath("test/run/small-pipeline.ts");

const isPut = ({ method }: SeenRequest) => method === "PUT";
const isFile = (request: SeenRequest) =>
  isPut(request) && /\/instance=[^/]+\/[^/]+\.parquet$/.test(request.key);
const isManifest = (request: SeenRequest) => isPut(request) && request.key.endsWith("/manifest.json");
const isClaim = (request: SeenRequest) =>
  isPut(request) && /_published\/instance=[^/]+\/\d+\.json$/.test(request.key);
const isCommit = (request: SeenRequest) => isPut(request) && /_delta_log\/\d+\.json$/.test(request.key);
const isSnapshot = (request: SeenRequest) => isCommit(request) && request.key.includes("/run_snapshots/");

interface Point {
  readonly name: string;
  readonly fits: (request: SeenRequest) => boolean;
  /** Which of the requests that fit, from 1. */
  readonly nth: number;
  /** Whether the store does what was asked. */
  readonly arrives: boolean;
  /** The run that readers see in the end, of the one delivered before and this one. */
  readonly leaves: 1 | 2;
}

const POINTS: readonly Point[] = [
  { name: "before it uploads", fits: isFile, nth: 1, arrives: false, leaves: 1 },
  { name: "in the midst of its uploads", fits: isFile, nth: 6, arrives: true, leaves: 1 },
  { name: "when all is uploaded", fits: isManifest, nth: 1, arrives: true, leaves: 1 },
  { name: "before its claim", fits: isClaim, nth: 1, arrives: false, leaves: 1 },
  { name: "after its claim", fits: isClaim, nth: 1, arrives: true, leaves: 2 },
  { name: "before its first commit", fits: isCommit, nth: 1, arrives: false, leaves: 2 },
  { name: "between its commits", fits: isCommit, nth: 4, arrives: true, leaves: 2 },
  { name: "before run_snapshots", fits: isSnapshot, nth: 1, arrives: false, leaves: 2 },
  { name: "after run_snapshots", fits: isSnapshot, nth: 1, arrives: true, leaves: 2 },
];

let folder = "";
let service: Scripted;
let server: S3Server;
let proxy: FaultyProxy;
/** A machine that has published two runs and delivered none, and another one whose second run is its own. */
let machine = "";
let other = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "lake-kills-"));
  machine = join(folder, "machine");
  other = join(folder, "other");
  service = new Scripted(itemsOf(8));
  await service.listen();
  server = await startS3();
  proxy = await faultyProxy(server);
  await writeFile(join(folder, "none.json"), "{}");
  await runOn(machine, "none");
  await cp(machine, other, { recursive: true, verbatimSymlinks: true });
  for (const out of [machine, other]) {
    service.items.push(item(`more-${service.items.length}`, service.items.length));
    await runOn(out, "none");
  }
});
after(async () => {
  service?.close();
  await proxy?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await removeTree(folder);
});

/** `config`: name of a file in the folder. */
function command(args: readonly string[], config: string): Started {
  const env = {
    ...server.env,
    CONTENT_API_URL: service.url,
    CONTENT_API_TOKEN: CANARY,
    NODE_COMPILE_CACHE: join(folder, "cache"),
  };
  const whole = [...args, "--config", join(folder, `${config}.json`), "--json"];
  const started = start("test/soak/run-when-told.ts", whole, env);
  started.child.stdin?.write("go\n");
  return started;
}

async function runOn(out: string, config: string): Promise<void> {
  const run = command(["run", PIPELINE, "--warehouse", out], config);
  assert.equal((await run.ended).code, 0, run.output());
}

const deliver = (run: number, from: string, config: string): Started =>
  command(["deliver", String(run), "--warehouse", from], config);

/** An instance of the lake that has run 1. Gives the name of a configuration whose requests go through the proxy. */
async function instanceWithOne(instance: string): Promise<string> {
  for (const [name, endpoint] of [
    [instance, server.endpoint],
    [`${instance}-by-proxy`, proxy.endpoint],
  ] as const) {
    const targets = [{ type: "lake", url: `s3://${server.bucket}/lake`, instance, endpoint }];
    await writeFile(join(folder, `${name}.json`), JSON.stringify({ targets }));
  }
  const first = deliver(1, machine, instance);
  assert.equal((await first.ended).code, 0, first.output());
  return `${instance}-by-proxy`;
}

const lake = () => join(server.folder, "lake");

/** Another machine runs, and goes on from the run that readers see. */
async function nextMachine(instance: string): Promise<string> {
  const out = join(folder, `next-${instance}`);
  await runOn(out, instance);
  await assertLake(instance, out);
  return out;
}

/** Each run is whole, and the last one is what the warehouse has. */
async function assertLake(instance: string, out: string): Promise<void> {
  const view = lakeView(lake());
  view.advance();
  await withDuckDB(async (connection) => {
    const snapshots = await view.snapshots(connection);
    for (const run of byRun(snapshots)) await assertWholeRun(view, connection, run);
    assertClaimed(lake(), view, instance, snapshots);
  });
  await assertEqualsWarehouse(view, instance, out);
}

/** The fault of the request of that number among those that fit. */
function nth(number: number, fits: (request: SeenRequest) => boolean, fault: () => Fault): Script {
  let seen = 0;
  return (request) => {
    if (!fits(request)) return undefined;
    seen++;
    return seen === number ? fault() : undefined;
  };
}

function sequences(instance: string): number[] {
  return claimsOf(lake(), instance).map(({ sequence }) => sequence);
}

suite("a delivery to a bucket", () => {
  for (const [place, { name, fits, nth: number, arrives, leaves }] of POINTS.entries()) {
    test(`that is killed ${name} leaves run ${leaves}, and another machine goes on from it`, async () => {
      const instance = `killed-${place}`;
      const config = await instanceWithOne(instance);
      const killed = deliver(2, machine, config);
      const kill = async () => {
        killed.child.kill("SIGKILL");
        await killed.ended;
      };
      proxy.script(
        nth(number, fits, () => {
          if (arrives) return { does: "hold answer", until: kill };
          killed.child.kill("SIGKILL");
          return { does: "drop" };
        }),
      );
      assert.equal((await killed.ended).signal, "SIGKILL", killed.output());
      await nextMachine(instance);
      assert.deepEqual(sequences(instance), leaves === 1 ? [1, 2] : [1, 2, 3]);
    });
  }

  for (const [what, fits] of [
    ["claim", isClaim],
    ["first commit", isCommit],
  ] as const) {
    test(`that is dead changes nothing when its ${what} arrives after another machine's run`, async () => {
      const instance = `late-${what.replace(" ", "-")}`;
      const config = await instanceWithOne(instance);
      const killed = deliver(2, machine, config);
      const next = Promise.withResolvers<void>();
      const until = () => {
        killed.child.kill("SIGKILL");
        return next.promise;
      };
      proxy.script(nth(1, fits, () => ({ does: "hold request", until })));
      assert.equal((await killed.ended).signal, "SIGKILL", killed.output());
      const out = await nextMachine(instance);
      const claimed = sequences(instance);
      next.resolve();
      await proxy.idle();
      assert.deepEqual(sequences(instance), claimed);
      await assertLake(instance, out);
    });
  }

  test("that is stopped before its claim, and wakes when another machine has run twice, takes itself back", async () => {
    const instance = "stopped-unclaimed";
    const stopped = await stoppedAt(isClaim, instance);
    const out = await nextMachine(instance);
    await runOn(out, instance);
    stopped.wake();
    assert.equal((await stopped.delivery.ended).code, 26, stopped.delivery.output());
    assert.match(stopped.delivery.output(), /has the later run 3 \(000003-/);
    assert.deepEqual(sequences(instance), [1, 2, 3]);
    const copies = readdirSync(join(lake(), "_published", `instance=${instance}`, "runs"));
    assert.equal(copies.length, 3, "a copy of each run that was claimed, and of no other");
    await assertLake(instance, out);
  });

  test("that is stopped after its claim, and wakes when another machine has run twice, has been finished", async () => {
    const instance = "stopped-claimed";
    const stopped = await stoppedAt(isCommit, instance);
    const out = await nextMachine(instance);
    await runOn(out, instance);
    stopped.wake();
    assert.equal((await stopped.delivery.ended).code, 0, stopped.delivery.output());
    assert.deepEqual(sequences(instance), [1, 2, 3, 4]);
    await assertLake(instance, out);
  });

  /** A delivery of run 2 that stands still as it sends such a request. */
  async function stoppedAt(fits: (request: SeenRequest) => boolean, instance: string) {
    const config = await instanceWithOne(instance);
    const delivery = deliver(2, machine, config);
    const wakes = Promise.withResolvers<void>();
    const stops = Promise.withResolvers<void>();
    const until = () => {
      delivery.child.kill("SIGSTOP");
      stops.resolve();
      return wakes.promise;
    };
    proxy.script(nth(1, fits, () => ({ does: "hold request", until })));
    await Promise.race([stops.promise, delivery.ended]);
    const wake = () => {
      delivery.child.kill("SIGCONT");
      wakes.resolve();
    };
    return { delivery, wake };
  }

  test("is made by one of two machines that claim its number at once, and the other says so", async () => {
    const instance = "two-at-once";
    const config = await instanceWithOne(instance);
    const both = Promise.withResolvers<void>();
    let claims = 0;
    proxy.script((request) => {
      if (!isClaim(request)) return undefined;
      claims++;
      if (claims === 2) both.resolve();
      return { does: "hold request", until: () => both.promise };
    });
    const machines = [machine, other];
    const deliveries = machines.map((from) => deliver(2, from, config));
    const ends = await Promise.all(deliveries.map(({ ended }) => ended));
    assert.deepEqual(ends.map(({ code }) => code).toSorted(), [0, 26]);
    const loser = ends.findIndex(({ code }) => code === 26);
    assert.match(deliveries[loser]?.output() ?? "", /has another run 2 \(000002-/);
    assert.deepEqual(sequences(instance), [1, 2]);
    await assertLake(instance, machines[1 - loser] ?? "");
  });

  test("is made once where each request fails at first: refused, put off, lost, or done and the answer lost", async () => {
    const instance = "faulty";
    const config = await instanceWithOne(instance);
    const faults: readonly Fault[] = [
      { does: "answer", status: 500, code: "InternalError" },
      { does: "lose answer" },
      { does: "answer", status: 503, code: "SlowDown" },
      { does: "drop" },
      { does: "lose answer" },
    ];
    const asked = new Set<string>();
    proxy.script(({ method, key, query }) => {
      const request = `${method} ${key}?${query}`;
      if (asked.has(request)) return undefined;
      asked.add(request);
      return faults[asked.size % faults.length];
    });
    const delivery = deliver(2, machine, config);
    assert.equal((await delivery.ended).code, 0, delivery.output());
    assert.deepEqual(sequences(instance), [1, 2]);
    await assertLake(instance, machine);
  });
});
