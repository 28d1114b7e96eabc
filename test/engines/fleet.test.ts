/** A fleet with its queue in a real PostgreSQL: workers are processes, services answer over HTTP. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, realpath, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import type { Client } from "pg";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { readFleet } from "../../src/fleet/fleet.ts";
import { complete, enqueue, openQueue, take } from "../../src/fleet/queue.ts";
import type { InstanceStatus } from "../../src/fleet/status.ts";
import type { JobReport } from "../../src/fleet/work.ts";
import { program } from "../cli/running.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";
import { itemsOf, type Reply, Scripted } from "../run/scripted.ts";
import { until } from "../until.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

const SMALL = packagePath("test/run/small-pipeline.ts");
const MAIN = packagePath("src/cli/main.ts");
const TOKEN = "token-of-the-fleet";
const UNAVAILABLE: Reply = { status: 503, headers: { "retry-after": "60" }, body: {} };
/** A run whose service asks it to wait for a minute ends at once instead; one that may go on makes several requests. */
const CONFIG = { deadlineMinutes: 0.5, perPage: 1 };

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server[Symbol.asyncDispose]());

interface Given {
  readonly names: readonly string[];
  readonly fleet?: object;
  /** Settings of each instance. */
  readonly instance?: object;
  /** Further files, of the address of the queue. */
  readonly files?: (postgres: string) => Readonly<Record<string, object>>;
  /** In place of a service of its own for each. */
  readonly urlOf?: (name: string, service: Scripted) => string;
}

/** Instances with a service each, a fleet file that names them, and a queue in a database of its own. */
async function fleetOf(t: TestContext, { names, fleet = {}, instance = {}, files, urlOf }: Given) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "fleet-")));
  t.after(() => removeTree(folder));
  const database = `fleet_${folder.slice(-6).toLowerCase()}`;
  const admin = await server.connect();
  await admin.query(`CREATE DATABASE "${database}"`);
  await admin.end();
  const services = new Map<string, Scripted>();
  for (const name of names) services.set(name, await Scripted.start(t, itemsOf(3)));
  const postgres = `postgres://postgres@localhost/${database}?host=${server.env("postgres").PGHOST}`;
  await writeFile(join(folder, "config.json"), JSON.stringify(CONFIG));
  for (const [name, content] of Object.entries(files?.(postgres) ?? {}))
    await writeFile(join(folder, name), JSON.stringify(content));
  const file = join(folder, "fleet.json");
  const spec = {
    postgres,
    config: "config.json",
    retryDelaySeconds: 1,
    heartbeatSeconds: 10,
    instances: [...services].map(([name, service]) => ({
      name,
      url: urlOf?.(name, service) ?? service.url,
      tokenEnv: "FLEET_TOKEN",
      pipeline: SMALL,
      ...instance,
    })),
    ...fleet,
  };
  await writeFile(file, JSON.stringify(spec));
  const env = { FLEET_TOKEN: TOKEN };
  const fleetCommand = async (...args: string[]) => {
    const { code, stdout, stderr } = await program(["fleet", ...args, "--fleet", file], { env });
    // Of the status, 10 says that something is late or a dead letter.
    assert.ok(code === 0 || (code === 10 && args[0] === "status"), stderr);
    return stdout;
  };
  return {
    folder,
    database,
    postgres,
    service: (name: string) => services.get(name) ?? assert.fail(`no service ${name}`),
    fleetCommand,
    worker: (...args: string[]) => startWorker(t, file, args),
    status: async () => {
      const { instances } = JSON.parse(await fleetCommand("status", "--json"));
      return new Map((instances as InstanceStatus[]).map((each) => [each.instance, each]));
    },
    runsOf: (name: string) => readdir(join(folder, "warehouses", name, "runs")).catch(() => []),
    /** Processes of runs of this fleet. */
    processes: () => processesOf(file),
  };
}

interface Worker {
  readonly process: ChildProcess;
  readonly reports: readonly JobReport[];
  readonly log: () => string;
  /** Exit code. */
  readonly ended: Promise<number | null>;
}

function startWorker(t: TestContext, file: string, args: readonly string[]): Worker {
  const child = spawn(process.execPath, [MAIN, "fleet", "work", "--json", "--fleet", file, ...args], {
    env: { PATH: process.env.PATH, FLEET_TOKEN: TOKEN, ...COMPILE_CACHE },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const reports: JobReport[] = [];
  let log = "";
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    reports.push(...lines.map((line) => JSON.parse(line) as JobReport));
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    log += chunk;
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { process: child, reports, log: () => log, ended };
}

function processesOf(file: string): number[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return processes.flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return command.includes(file) && command.includes("run") ? [Number(pid)] : [];
    } catch {
      return []; // It has ended since.
    }
  });
}

/** What became of the jobs of an instance, one after another. */
function endsOf(workers: readonly Worker[], instance: string): string[] {
  const reports = workers.flatMap((worker) => worker.reports).filter((each) => each.instance === instance);
  return reports.toSorted((a, b) => a.attempt - b.attempt).map(({ became }) => became);
}

suite("a fleet", { concurrency: 2 }, () => {
  test("is run by two workers, each instance once, whatever is wrong with the others", async (t) => {
    const names = ["a", "b", "c", "d", "bad", "busy"];
    const { fleetCommand, service, worker, status, runsOf } = await fleetOf(t, { names });
    service("bad").script = () => ({ status: 401, body: {} });
    service("busy").script = ({ number }) => (number === 1 ? UNAVAILABLE : undefined);

    assert.equal(await fleetCommand("enqueue"), "6 jobs queued\n");
    assert.equal(await fleetCommand("enqueue"), "0 jobs queued, 6 instances had an open one\n");
    const workers = [worker("--until-empty"), worker("--until-empty")];
    const codes = await Promise.all(workers.map(({ ended }) => ended));
    for (const name of ["a", "b", "c", "d"]) {
      assert.deepEqual(endsOf(workers, name), ["done"], name);
      assert.equal((await runsOf(name)).length, 1);
    }
    assert.ok(
      workers.every(({ reports }) => reports.length > 0),
      "both have had jobs",
    );
    // It asks for a later time, and gets it; credentials that are refused are refused again.
    assert.deepEqual(endsOf(workers, "busy"), ["retry", "done"]);
    assert.deepEqual(endsOf(workers, "bad"), ["dead letter"]);
    assert.deepEqual(codes.toSorted(), [0, 20]);
    assert.deepEqual(await runsOf("bad"), []);

    const stands = await status();
    assert.deepEqual(
      names.map((name) => stands.get(name)?.verdict),
      ["complete", "complete", "complete", "complete", null, "complete"],
    );
    assert.equal(stands.get("busy")?.failures, 0);
    assert.deepEqual(
      [stands.get("bad")?.failures, stands.get("bad")?.exit_code, stands.get("bad")?.job],
      [1, 20, "dead letter"],
    );

    service("bad").script = () => undefined;
    assert.equal(await fleetCommand("retry", "a"), "0 jobs queued again\n");
    assert.equal(await fleetCommand("retry", "bad"), "1 job queued again\n");
    assert.equal(await worker("--until-empty").ended, 0);
    const afterwards = (await status()).get("bad");
    assert.deepEqual([afterwards?.failures, afterwards?.job, afterwards?.message], [0, null, null]);
    for (const { log } of workers) assert.ok(!log().includes(TOKEN));
  });

  test("has a job whose worker was killed taken by another, and leaves no run behind", async (t) => {
    const { fleetCommand, service, worker, processes, runsOf } = await fleetOf(t, { names: ["slow"] });
    service("slow").script = () => "hang";
    await fleetCommand("enqueue");
    const first = worker();
    await until("a request under way", () => service("slow").questions.length > 0);
    assert.equal(processes().length, 1);
    first.process.kill("SIGKILL");
    await until("the run has ended", () => processes().length === 0, { seconds: 10 });
    service("slow").script = () => undefined;
    const second = worker("--until-empty");
    assert.equal(await second.ended, 0);
    assert.deepEqual(
      second.reports.map(({ attempt, became }) => [attempt, became]),
      [[2, "done"]],
    );
    assert.equal((await runsOf("slow")).length, 1);
  });

  test("has a run ended before another may take its job, where the database is not heard", async (t) => {
    const { database, fleetCommand, service, worker, processes } = await fleetOf(t, { names: ["slow"] });
    service("slow").script = () => "hang";
    await fleetCommand("enqueue");
    const first = worker("--until-empty");
    await until("a request under way", () => service("slow").questions.length > 0);
    const admin = await server.connect("postgres", database);
    t.after(() => admin.end());
    await admin.query("BEGIN; LOCK TABLE content_warehouse_fleet.job IN ACCESS EXCLUSIVE MODE");
    const { rows } = await admin.query(
      "SELECT extract(epoch FROM now() - heartbeat_on) AS seconds FROM content_warehouse_fleet.job WHERE state = 'active'",
    );
    const startedMs = performance.now() - Number(rows[0].seconds) * 1000;
    await until("the run has ended", () => processes().length === 0, { seconds: 20 });
    const seconds = (performance.now() - startedMs) / 1000;
    assert.ok(seconds < 10, `ended ${seconds} s after it was heard of last`);
    service("slow").script = () => undefined;
    await admin.query("ROLLBACK");
    assert.equal(await first.ended, 0);
    assert.deepEqual(endsOf([first], "slow"), ["taken over", "done"]);
  });

  test("begins no run for a job that was given to another while the database was slow", async (t) => {
    const { folder, database, fleetCommand, worker, processes } = await fleetOf(t, { names: ["a"] });
    const fleet = await readFleet(folder, "fleet.json");
    await using queue = await openQueue(fleet, { role: "caller", onProblem: () => {} });
    await fleetCommand("enqueue");
    const first = worker();
    await until("the worker works", () => first.reports.length === 1);
    const admin = await server.connect("postgres", database);
    t.after(() => admin.end());
    // It is read between a job and its run.
    await admin.query("BEGIN; LOCK TABLE content_warehouse_fleet.last_runs IN ACCESS EXCLUSIVE MODE");
    await enqueue(queue, fleet.instances);
    await until("the job was taken again", async () => {
      const { rows } = await admin.query(
        "SELECT FROM content_warehouse_fleet.job WHERE state = 'active' AND retry_count = 1",
      );
      return rows.length === 1;
    });
    await admin.query("ROLLBACK");
    let most = 0;
    await until("both have ended", () => {
      most = Math.max(most, processes().length);
      return first.reports.length === 3;
    });
    assert.equal(most, 1);
    assert.deepEqual(endsOf([first], "a"), ["done", "taken over", "done"]);
  });

  test("has the jobs of a worker that is told to end given back, once their runs have ended", async (t) => {
    const { fleetCommand, service, worker, status, processes } = await fleetOf(t, { names: ["slow"] });
    service("slow").script = () => "hang";
    await fleetCommand("enqueue");
    const first = worker();
    await until("a request under way", () => service("slow").questions.length > 0);
    first.process.kill("SIGTERM");
    assert.equal(await first.ended, 143);
    assert.deepEqual(endsOf([first], "slow"), ["given back"]);
    assert.deepEqual(processes(), []);
    const slow = (await status()).get("slow");
    assert.deepEqual([slow?.job, slow?.failures], ["waiting", 0]);
    service("slow").script = () => undefined;
    const second = worker("--until-empty");
    assert.equal(await second.ended, 0);
    assert.deepEqual(endsOf([second], "slow"), ["done"]);
  });

  test("has runs that take long to end ended at once by a second signal", async (t) => {
    const { folder, fleetCommand, service, worker, processes } = await fleetOf(t, {
      names: ["slow"],
      fleet: { config: "slow.mjs" },
    });
    const ending = join(folder, "ending");
    // It is waited for ten seconds long.
    const onFinish = `() => { writeFileSync(${JSON.stringify(ending)}, ""); return new Promise(() => {}); }`;
    await writeFile(
      join(folder, "slow.mjs"),
      `import { writeFileSync } from "node:fs"; export default { perPage: 1, onFinish: ${onFinish} };`,
    );
    service("slow").script = () => "hang";
    await fleetCommand("enqueue");
    const first = worker();
    await until("a request under way", () => service("slow").questions.length > 0);
    first.process.kill("SIGTERM");
    await until("a run that ends slowly", () => existsSync(ending));
    const fromMs = performance.now();
    first.process.kill("SIGINT");
    assert.equal(await first.ended, 143);
    assert.ok(performance.now() - fromMs < 5000, "it did not wait");
    assert.deepEqual(endsOf([first], "slow"), ["given back"]);
    assert.deepEqual(processes(), []);
  });

  test("makes dead letters of jobs that fail too often", async (t) => {
    const { fleetCommand, service, worker, status } = await fleetOf(t, {
      names: ["down"],
      fleet: { retries: 1 },
    });
    service("down").script = () => UNAVAILABLE;
    await fleetCommand("enqueue");
    const first = worker("--until-empty");
    assert.equal(await first.ended, 21);
    assert.deepEqual(endsOf([first], "down"), ["retry", "dead letter"]);
    const down = (await status()).get("down");
    assert.deepEqual([down?.failures, down?.job], [2, "dead letter"]);
  });

  test("says once that the service of an instance is out, and once that it answers again", async (t) => {
    const { folder, fleetCommand, service } = await fleetOf(t, {
      names: ["down"],
      fleet: { retries: 3, config: "told.mjs" },
    });
    const told = join(folder, "told");
    await writeFile(
      join(folder, "told.mjs"),
      `import { appendFileSync } from "node:fs";
       const said = ({ ok, outageSince }) => (ok ? "published" : outageSince === null ? "out" : "known");
       const onFinish = (outcome) => appendFileSync(${JSON.stringify(told)}, said(outcome) + " ");
       export default { ...${JSON.stringify(CONFIG)}, onFinish };`,
    );
    // An attempt that is told to wait for a minute ends at its first request.
    service("down").script = ({ number }) => (number <= 2 ? UNAVAILABLE : undefined);
    await fleetCommand("enqueue");
    const args = ["fleet", "work", "--until-empty", "--fleet", join(folder, "fleet.json")];
    const { code, stdout, stderr } = await program(args, { env: { FLEET_TOKEN: TOKEN } });
    assert.equal(code, 0, stderr);
    const since = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC";
    const [begins, over, done, ...more] = stdout.trim().split("\n");
    assert.match(
      begins ?? "",
      new RegExp(`^down: its service answers nobody since ${since}, is tried again later: `),
    );
    assert.match(over ?? "", new RegExp(`^down: its service answers again; it was out since ${since}$`));
    assert.match(done ?? "", /^down: complete, 3 items, 000001-\S+, .*, attempt 3$/);
    const lines = stderr.split("\n").filter((line) => line.includes("is not available just now (503)"));
    assert.equal(lines.length, 1, stderr);
    assert.equal(readFileSync(told, "utf8"), "out known published ");
    assert.deepEqual(more, []);
  });

  test("shows its status where the metrics cannot be written, and ends with 2", async (t) => {
    const { folder } = await fleetOf(t, { names: ["a"] });
    const metrics = join(folder, "no/fleet.prom");
    const args = ["fleet", "status", "--metrics", metrics, "--fleet", join(folder, "fleet.json")];
    const { code, stdout, stderr } = await program(args);
    assert.match(stdout, /^Well: of 1 instance none is late/);
    assert.deepEqual(
      [code, stderr],
      [2, `The file ${metrics} cannot be written (ENOENT); choose another.\n`],
    );
  });

  test("shows the run that is published and not delivered, and lets a night that never came be late", async (t) => {
    const { database, fleetCommand, worker, status, runsOf } = await fleetOf(t, {
      names: ["undelivered", "unheard"],
      fleet: { config: "target.json" },
      instance: { schedule: "0 2 * * *" },
      files: (address) => ({
        "target.json": {
          ...CONFIG,
          targets: [{ type: "postgres", url: address.replace(/fleet_\w+/, "nowhere") }],
        },
      }),
    });
    await fleetCommand("enqueue", "--instance", "undelivered");
    assert.equal(await worker("--until-empty").ended, 26);
    const admin = await server.connect("postgres", database);
    await admin.query("UPDATE content_warehouse_fleet.last_runs SET known_from = now() - interval '2 days'");
    await admin.end();
    const stands = await status();
    const undelivered = stands.get("undelivered");
    assert.deepEqual([undelivered?.run], await runsOf("undelivered"));
    assert.equal(undelivered?.verdict, "complete");
    assert.match(undelivered?.message ?? "", /^Not delivered to postgres: /);
    assert.deepEqual([undelivered?.failures, undelivered?.exit_code, undelivered?.late], [1, 26, null]);
    const unheard = stands.get("unheard");
    assert.deepEqual([unheard?.run, unheard?.failures], [null, 0]);
    assert.ok((unheard?.late ?? 0) > 24 * 3_600_000, `late by ${unheard?.late} ms`);
  });

  test("asks the services of one host no faster than their rate, with several workers", async (t) => {
    const names = ["a", "b", "c"];
    const host = await sharedHost(t);
    const { fleetCommand, worker, runsOf } = await fleetOf(t, {
      names,
      fleet: { hostRatePerSecond: 2, hostConcurrency: 2 },
      urlOf: (name, service) => host.urlFor(name, service),
    });
    await fleetCommand("enqueue");
    const workers = [worker("--until-empty"), worker("--until-empty"), worker("--until-empty")];
    assert.deepEqual(await Promise.all(workers.map(({ ended }) => ended)), [0, 0, 0]);
    for (const name of names) assert.equal((await runsOf(name)).length, 1);
    assert.equal(mostOpen(host.askedMs, host.tenants), 2);
    for (const name of names) {
      const ownMs = host.askedMs.filter((_, index) => host.tenants[index] === name);
      const tookMs = (ownMs.at(-1) ?? 0) - (ownMs[0] ?? 0);
      // A run has half of the rate, since two have a part in it.
      assert.ok(tookMs > (ownMs.length - 1) * 1000 - 200, `${ownMs.length} requests in ${tookMs} ms`);
    }
  });

  test("has no more jobs of a host taken than there may be, however many ask at once", async (t) => {
    const names = Array.from({ length: 12 }, (_, index) => `tenant-${index}`);
    const { folder, fleetCommand } = await fleetOf(t, {
      names,
      fleet: { hostConcurrency: 3 },
      urlOf: (name) => `http://127.0.0.1:1/${name}`,
    });
    await fleetCommand("enqueue");
    const fleet = await readFleet(folder, "fleet.json");
    const options = { role: "caller", onProblem: (message: string) => assert.fail(message) } as const;
    const queues = await Promise.all(Array.from({ length: 6 }, () => openQueue(fleet, options)));
    t.after(() => Promise.all(queues.map((queue) => queue[Symbol.asyncDispose]())));
    const taken = await Promise.all(queues.map(take));
    const held = taken.filter((job) => job !== null);
    assert.equal(held.length, 3);
    const [queue] = queues;
    const [job] = held;
    assert.ok(queue !== undefined && job !== undefined);
    await complete(queue, job);
    const next = await Promise.all(queues.map(take));
    assert.equal(next.filter((each) => each !== null).length, 1);
  });

  test("may have its instances in a table", async (t) => {
    const { folder, database, fleetCommand, service, worker, runsOf, postgres } = await fleetOf(t, {
      names: ["a"],
    });
    const admin = await server.connect("postgres", database);
    await admin.query(`CREATE TABLE fleet_instances
      (name text, url text, token_env text, token_file text, pipeline text, memory_mb integer, added date)`);
    const insert = "INSERT INTO fleet_instances VALUES ($1, $2, 'FLEET_TOKEN', NULL, $3, 900, now())";
    await admin.query(insert, ["in-table", service("a").url, SMALL]);
    const spec = { postgres, instances: { table: "fleet_instances" } };
    await writeFile(join(folder, "fleet.json"), JSON.stringify(spec));
    const [instance] = (await readFleet(folder, "fleet.json")).instances;
    assert.deepEqual([instance?.name, instance?.memoryMb, instance?.schedule], ["in-table", 900, null]);
    const first = worker();
    await until("the worker has read its fleet", () => hasQueue(admin));
    await admin.query(insert, ["added", service("a").url, SMALL]);
    await admin.end();
    assert.equal(await fleetCommand("enqueue"), "2 jobs queued\n");
    await until("both have ended", () => first.reports.length === 2);
    assert.deepEqual([...endsOf([first], "in-table"), ...endsOf([first], "added")], ["done", "done"]);
    assert.equal((await runsOf("in-table")).length, 1);
    await writeFile(join(folder, "fleet.json"), JSON.stringify({ ...spec, instances: { table: "nowhere" } }));
    await assert.rejects(readFleet(folder, "fleet.json"), {
      code: "config.invalid",
      message: /"nowhere" does not exist/,
    });
  });

  test("gives instances with a schedule their jobs when they are due", async (t) => {
    const { worker, status, runsOf } = await fleetOf(t, {
      names: ["often"],
      instance: { schedule: "* * * * *" },
    });
    const first = worker();
    await until("a scheduled run", async () => (await runsOf("often")).length > 0, { seconds: 150 });
    await until("its record", async () => (await status()).get("often")?.run !== null);
    first.process.kill("SIGTERM");
    assert.equal(await first.ended, 143);
  });
});

/** A worker makes them once it has read its fleet. */
async function hasQueue(admin: Client): Promise<boolean> {
  const { rows } = await admin.query("SELECT to_regclass('content_warehouse_fleet.last_runs') AS made");
  return rows[0].made !== null;
}

/** A host with a service below a path for each instance; notes when it was asked, and for whom. */
async function sharedHost(t: TestContext) {
  const services = new Map<string, Scripted>();
  const askedMs: number[] = [];
  const tenants: string[] = [];
  const proxy = createServer((incoming, outgoing) => {
    const [, name = "", rest = ""] = /^\/([^/]+)(.*)$/.exec(incoming.url ?? "") ?? [];
    askedMs.push(performance.now());
    tenants.push(name);
    const target = `${services.get(name)?.url}${rest}`;
    const passed = request(target, { method: incoming.method, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  const urlFor = (name: string, service: Scripted) => {
    services.set(name, service);
    return `http://127.0.0.1:${port}/${name}`;
  };
  return { urlFor, askedMs, tenants };
}

/** How many tenants were between their first and their last request at once, at most. */
function mostOpen(askedMs: readonly number[], tenants: readonly string[]): number {
  const spans = [...new Set(tenants)].map(
    (name) => [tenants.indexOf(name), tenants.lastIndexOf(name)] as const,
  );
  return Math.max(
    ...askedMs.map((_, index) => spans.filter(([first, last]) => first <= index && index <= last).length),
  );
}
