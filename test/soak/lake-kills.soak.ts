/**
 * Workers that deliver the runs of many instances to one lake and are killed, or stopped for a while, at any moment. Each
 * worker is a machine with a disk of its own, which is empty now and then; several may be at one instance at once.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { inParallel } from "../../src/storage/parallel.ts";
import { CANARY, temporaryFolder } from "../run/running.ts";
import { item, itemsOf, Scripted } from "../run/scripted.ts";
import {
  assertClaimed,
  assertEqualsWarehouse,
  assertWholeRun,
  byRun,
  claimsOf,
  withDuckDB,
} from "../targets/lake/kill-checks.ts";
import { lakeView } from "../targets/lake/kill-view.ts";
import { type Started, start } from "./started.ts";

/** `KILLS` where another test run has to fit into its time too. */
const KILLS = Number(process.env.KILLS ?? 500);
const INSTANCES = KILLS < 100 ? 4 : 12;
const WORKERS = [1, 2, 3, 4];
const ITEMS = 8;
/** Only so that the loop ends where something hangs. */
const LIMIT_MS = 120_000 + KILLS * 20_000;
/** How often a worker's machine is another one, a run is disturbed, and that is a stop and not its end. */
const NEW_DISK = 0.15;
const DISTURBED = 0.75;
const STOPPED = 0.15;
const PIPELINE = packagePath("test/run/small-pipeline.ts");
const DATA = ["content", "content_tags", "content_events"];

interface Instance {
  readonly name: string;
  readonly service: Scripted;
  readonly config: string;
  /** Runs of it that are under way. */
  atOnce: number;
}

/** A run of an instance on one of the machines. */
interface Work {
  readonly instance: Instance;
  readonly out: string;
  readonly run: Started;
}

/** From when on a run is disturbed, and how long after that at most. */
interface Moment {
  readonly hasCome: () => boolean;
  readonly forMs: number;
}

test(`${KILLS} kills of ${WORKERS.length} workers that deliver ${INSTANCES} instances to one lake, with a reader all the while: no half run is seen, no two are mixed, and the lake equals single runs`, async (t: TestContext) => {
  const lake = join(await temporaryFolder(t), "lake");
  const disks = await temporaryFolder(t);
  const cache = await temporaryFolder(t);
  const instances = await Promise.all(
    Array.from({ length: INSTANCES }, (_, at) => instanceOf(t, disks, lake, at)),
  );
  const noLake = join(disks, "no-lake.json");
  await writeFile(noLake, "{}");
  const view = lakeView(lake);
  const began = performance.now();
  const typicalMs = { run: 2000, delivery: 500 };
  const tally = { runs: 0, delivered: 0, fenced: 0, restored: 0, stopped: 0 };
  const killed = { all: 0, published: 0, claimed: 0, seen: 0 };
  const started = new Set<Started>();
  t.after(() => {
    for (const { child } of started) child.kill("SIGKILL");
  });

  function begin(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Started {
    const process = start(file, args, env);
    started.add(process);
    void process.ended.then(() => started.delete(process));
    return process;
  }

  function workOn(instance: Instance, machine: string): Work {
    const { service, config, name } = instance;
    const out = join(disks, machine, name);
    const args = ["run", PIPELINE, "--warehouse", out, "--config", config, "--json"];
    const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY, NODE_COMPILE_CACHE: cache };
    return { instance, out, run: begin("test/soak/run-when-told.ts", args, env) };
  }

  /** Runs until enough processes were killed. The next process gets ready while one is at work. */
  async function keepWorking(worker: number): Promise<void> {
    const next = () => workOn(pick(instances), `machine-${worker}`);
    let waiting = next();
    while (killed.all < KILLS) {
      assert.ok(performance.now() - began < LIMIT_MS, `too slow: ${JSON.stringify({ ...tally, killed })}`);
      const work = waiting;
      await work.run.ready;
      waiting = next();
      if (Math.random() < NEW_DISK && existsSync(work.out)) await removeTree(work.out);
      const { instance } = work;
      if (instance.atOnce === 0) change(instance.service);
      instance.atOnce += 1;
      await (Math.random() < DISTURBED ? disturbed(work) : undisturbed(work));
      instance.atOnce -= 1;
    }
    waiting.run.child.kill("SIGKILL");
  }

  async function undisturbed(work: Work): Promise<void> {
    const from = performance.now();
    await ended(work);
    typicalMs.run = typicalMs.run * 0.8 + (performance.now() - from) * 0.2;
  }

  async function disturbed(work: Work): Promise<void> {
    const before = currentRun(work.out);
    const over = new AbortController();
    const disturbing = disturb(work, before, over.signal).catch((thrown) => {
      if (!over.signal.aborted) throw thrown;
    });
    const { signal } = await ended(work);
    over.abort();
    await disturbing;
    if (signal === "SIGKILL") countKilled(work, before);
  }

  /** Fails where the run ended by itself otherwise than it may. */
  async function ended({ run }: Work): ReturnType<typeof start>["ended"] {
    run.child.stdin?.write("go\n");
    const { code, signal } = await run.ended;
    tally.runs += 1;
    if (run.output().includes("Restored the run")) tally.restored += 1;
    if (signal === "SIGKILL") return { code, signal };
    if (code === 0) {
      tally.delivered += 1;
      const [, milliseconds] = /"deliveries":.*?"milliseconds":(\d+)/.exec(run.output()) ?? [];
      typicalMs.delivery = typicalMs.delivery * 0.8 + Number(milliseconds) * 0.2;
    } else {
      assert.equal(code, 26, run.output());
      assert.match(run.output(), /"code":"target\.fenced"/);
      tally.fenced += 1;
    }
    return { code, signal };
  }

  /** Kills a run, or stops it for a while: at any moment, once the folder has another run, or once the lake has a claim more. */
  async function disturb(
    { instance, run, out }: Work,
    before: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const claims = join(lake, "_published", `instance=${instance.name}`);
    const count = countIn(claims);
    const moments: readonly Moment[] = [
      { hasCome: () => true, forMs: typicalMs.run },
      { hasCome: () => currentRun(out) !== before, forMs: typicalMs.delivery },
      { hasCome: () => countIn(claims) > count, forMs: typicalMs.delivery / 3 },
    ];
    const { hasCome, forMs } = pick(moments);
    while (!hasCome()) await setTimeout(2, undefined, { signal });
    await setTimeout(Math.random() * forMs, undefined, { signal });
    if (Math.random() > STOPPED) {
      run.child.kill("SIGKILL");
      return;
    }
    tally.stopped += 1;
    run.child.kill("SIGSTOP");
    // It wakes whatever has become of the others.
    await setTimeout(Math.random() * 3 * typicalMs.run);
    run.child.kill("SIGCONT");
  }

  /** How far it had come. */
  function countKilled({ instance, out }: Work, before: string | undefined): void {
    killed.all += 1;
    const now = currentRun(out);
    if (now === before) return;
    killed.published += 1;
    const claim = claimsOf(lake, instance.name).find(({ run }) => run === now);
    if (claim === undefined) return;
    killed.claimed += 1;
    view.advance();
    if (view.sequences("run_snapshots", instance.name).includes(claim.sequence)) killed.seen += 1;
  }

  const reader = begin("test/soak/read-lake.ts", [lake], {});
  await inParallel(WORKERS, WORKERS, keepWorking);
  // Two machines more for each instance, with empty disks: one goes on from the lake, one knows of none.
  const last = instances.flatMap((instance) => [
    { instance, machine: "last" },
    { instance: { ...instance, config: noLake }, machine: "single" },
  ]);
  await inParallel(WORKERS, last, async (_, { instance, machine }) => {
    const { run } = workOn(instance, machine);
    await run.ready;
    run.child.stdin?.write("go\n");
    assert.equal((await run.ended).code, 0, run.output());
  });
  reader.child.stdin?.end();
  assert.equal((await reader.ended).code, 0, reader.output());
  const { reads, runs }: { reads: number; runs: number } = JSON.parse(reader.output());
  view.advance();
  await withDuckDB(async (connection) => {
    const snapshots = await view.snapshots(connection);
    for (const run of byRun(snapshots)) await assertWholeRun(view, connection, run);
    for (const { name } of instances) {
      assertClaimed(lake, view, name, snapshots);
      await assertEqualsWarehouse(view, name, join(disks, "last", name));
      await assertEqualsWarehouse(view, name, join(disks, "single", name), DATA);
    }
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  t.diagnostic(
    `${tally.runs} runs: ${tally.delivered} delivered, ${tally.fenced} fenced, ${tally.stopped} stopped for a while, ` +
      `${killed.all} killed (${killed.published} of them with a run published or restored, ${killed.claimed} with it ` +
      `claimed, ${killed.seen} with it delivered); ${tally.restored} restored one first; ${reads} reads saw ${runs} runs, ` +
      `each whole; ${seconds} s, ${typicalMs.run.toFixed(0)} ms a run`,
  );
});

async function instanceOf(t: TestContext, disks: string, lake: string, at: number): Promise<Instance> {
  const name = `instance-${at}`;
  const config = join(disks, `${name}.json`);
  const targets = [{ type: "lake", url: pathToFileURL(lake).href, instance: name }];
  await writeFile(config, JSON.stringify({ targets }));
  return { name, service: await Scripted.start(t, itemsOf(ITEMS)), config, atOnce: 0 };
}

/** An item more, and another one with another title. */
function change(service: Scripted): void {
  const count = service.items.length;
  service.items.push(item(`more-${count}`, count));
  const updated_at = new Date(Date.UTC(2026, 10, 2, 0, count)).toISOString();
  service.items[0] = item("c-000", 0, { title: `Title ${count}`, updated_at });
}

function countIn(folder: string): number {
  return existsSync(folder) ? readdirSync(folder).length : 0;
}

/** Undefined before the first run. */
function currentRun(out: string): string | undefined {
  const link = join(out, "current");
  return existsSync(link) ? readlinkSync(link).slice("runs/".length) : undefined;
}

function pick<Value>(values: readonly Value[]): Value {
  const value = values[Math.floor(Math.random() * values.length)];
  assert.ok(value !== undefined);
  return value;
}
