/**
 * The protocol of deliveries: machines, instances, rollbacks, removals and vacuums at once, in any order of their operations
 * on the store, with kills, lost answers and wrong clocks. The log code is the real one, and so is the proof of what a run
 * continues; only the tables' files are left out.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../../src/common/clock.ts";
import { WarehouseError } from "../../../src/common/errors.ts";
import type { DeliveredRun, TargetRun } from "../../../src/pipeline.ts";
import { readTable } from "../../../src/targets/lake/delta/log.ts";
import { DAY_MS } from "../../../src/targets/lake/delta/metadata.ts";
import { activeFiles, type TableState } from "../../../src/targets/lake/delta/state.ts";
import { type LakeSession, readInstance, strayTables } from "../../../src/targets/lake/instance.ts";
import { stageDelivery } from "../../../src/targets/lake/lake.ts";
import { filesOfRun, type LakeRun } from "../../../src/targets/lake/snapshots.ts";
import { removeInstance, vacuumLake } from "../../../src/targets/lake/upkeep.ts";
import type { Store } from "../../../src/targets/store/store.ts";
import { ancestorsOf, nextAncestors } from "../../../src/warehouse/identity.ts";
import { runName } from "../../../src/warehouse/layout.ts";
import { many } from "../../long.ts";
import { NEVER } from "../../never.ts";
import { memoryStore, type Objects, watchedStore } from "./memory-store.ts";
import { storeAt } from "./store-at.ts";

const TABLES = ["a", "b", "x"];
/** What a clock may be wrong by. */
const SKEW_DAYS = [-40, 8, 40];
const SNAPSHOTS_LOG = "run_snapshots/_delta_log/";

/** A run as machines know it. Its contents are by table; not all runs have `x`. */
interface Run extends TargetRun {
  readonly id: number;
  readonly before: Run | null;
  readonly sha256: string;
  readonly contents: ReadonlyMap<string, string>;
  /** What its manifest says of the runs that it continues; older manifests are pruned. */
  readonly stated: Parameters<typeof nextAncestors>[0];
}

interface Machine {
  readonly instance: string;
  current: Run | null;
  /** Runs of its warehouse folder. */
  readonly known: Run[];
  /** Those that were rolled back there. */
  readonly undone: Run[];
}

interface Process {
  readonly instance: string;
  readonly what: "deliver" | "rollback" | "remove" | "vacuum";
  readonly machine: Machine | null;
  readonly run: Run | null;
  /** Days that its clock is ahead of the store's. */
  readonly skewDays: number;
  /** How often it has listed the log of `run_snapshots` since it last put a commit there. */
  looks: number;
  /** Operations that wait for their turn. */
  readonly waiting: { readonly isPut: boolean; readonly go: () => void }[];
  /** Whether it has put the rows of its run, which only a finish does. */
  isFinishing: boolean;
  /** Whether another delivery or removal of the instance was at work meanwhile. */
  isDisturbed: boolean;
  ended: "done" | "fenced" | "failed" | null;
}

const sha256Of = (text: string) => createHash("sha256").update(text).digest("hex");

/** Numbers from 0 to 1, the same ones for a seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Numbers of new runs are higher. */
function aboveOf(last: LakeRun | null): number {
  return Math.max(last?.sequence ?? 0, last?.rollbackOf?.sequence ?? 0);
}

function descends(run: Run | null, from: Run): boolean {
  for (let at = run; at !== null; at = at.before) if (at.id === from.id) return true;
  return false;
}

/** One schedule: a lake, its machines, and processes of which one does one operation at a time. */
class Schedule {
  readonly random: () => number;
  readonly objects: Objects = new Map();
  readonly store: Store;
  readonly machines: Machine[] = ["one", "one", "two"].map((instance) => ({
    instance,
    current: null,
    known: [],
    undone: [],
  }));
  readonly runs: Run[] = [];
  readonly found = new Set<string>();
  live: Process[] = [];
  nowMs = Date.UTC(2026, 10, 20);
  /** Whether `run_snapshots` has a commit that was not checked. */
  #hasNewSnapshots = false;
  readonly #last = new Map<string, LakeRun | null>();

  constructor(seed: number) {
    this.random = randomFrom(seed);
    for (let at = 0; at < 5; at++) this.random();
    const store = memoryStore(this.objects, () => this.nowMs);
    const put = async (key: string) =>
      void this.objects.set(key, { body: Buffer.from("data"), modifiedMs: this.nowMs });
    const putNew: Store["putNew"] = async (key, body) => {
      if (key.startsWith("run_snapshots/_delta_log/")) this.#hasNewSnapshots = true;
      return await store.putNew(key, body);
    };
    this.store = { ...store, putNew, upload: put };
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  placeOf(instance: string, store: Store, skewDays = 0): LakeSession {
    const now = () => this.nowMs + skewDays * DAY_MS;
    const clock: Clock = { now, elapsedMs: now, sleep: async () => {} };
    return { store, instance, logRetentionDays: 1, clock };
  }

  newRun(machine: Machine, above: number): Run {
    const before = machine.current;
    const id = this.runs.length;
    const sequence = Math.max(before?.sequence ?? 0, above) + 1;
    const contents = new Map<string, string>();
    for (const table of TABLES) {
      if (table === "x" && this.random() < 0.5) continue;
      const old = before?.contents.get(table);
      // A content may come back that the table had before.
      const isSame = old !== undefined && this.random() < 0.5;
      contents.set(table, isSame ? old : `${table}${machine.instance}${this.below(4)}`);
    }
    const run: Run = {
      id,
      before,
      run: runName(sequence, new Date(Date.UTC(2026, 0, 1) + id * 1000)),
      sequence,
      sha256: sha256Of(`run ${id}`),
      contents,
      stated: {
        previousRun: before?.run ?? null,
        previousSha256: before?.sha256,
        ancestors: before === null ? [] : nextAncestors(before.stated),
      },
    };
    this.runs.push(run);
    return run;
  }

  /** The store as a process has it: each operation waits for its turn, and answers of puts may be lost. */
  #storeOf(process: Process): Store {
    return watchedStore(this.store, async (operation, key, work) => {
      const isPut = operation === "putNew";
      if (operation === "put") process.isFinishing = true;
      await new Promise<void>((go) => process.waiting.push({ isPut, go }));
      if (isPut && key.startsWith(SNAPSHOTS_LOG)) process.looks = 0;
      if (operation === "list" && key === SNAPSHOTS_LOG) process.looks++;
      if (operation !== "putNew" || this.random() > 0.05) return undefined;
      const lost = () => new WarehouseError("target.unavailable", "The answer was lost.");
      if (this.random() < 0.2) throw lost();
      if (this.random() < 0.3 && !this.objects.has(key)) await work();
      else return () => false;
      throw lost();
    });
  }

  begin(given: Pick<Process, "instance" | "what" | "machine" | "run" | "skewDays">): Process {
    const state = { looks: Number.POSITIVE_INFINITY, waiting: [], isFinishing: false, isDisturbed: false };
    const process: Process = { ...given, ...state, ended: null };
    for (const other of this.live)
      if (other.instance === given.instance && other.what !== "vacuum" && given.what !== "vacuum")
        other.isDisturbed = process.isDisturbed = true;
    const place = this.placeOf(process.instance, this.#storeOf(process), process.skewDays);
    this.live.push(process);
    void this.#work(process, place).then(
      () => {
        process.ended = "done";
      },
      (thrown: unknown) => {
        const { code } = thrown instanceof WarehouseError ? thrown : assert.fail(String(thrown));
        process.ended = code === "target.fenced" ? "fenced" : "failed";
      },
    );
    return process;
  }

  /** A delivery of the machine's next run, which goes on from what the lake has. */
  async beginNext(machine: Machine): Promise<Process> {
    const { instance } = machine;
    const last = await this.last(instance);
    if (last !== null) this.restore(machine, last);
    const run = this.newRun(machine, aboveOf(last));
    machine.current = run;
    machine.known.push(run);
    return this.begin({ instance, what: "deliver", machine, run, skewDays: 0 });
  }

  /** Another machine delivers while one sleeps that has claimed its number and not looked at others since. */
  async overtakeSleeping(late: Process): Promise<void> {
    const { instance, machine } = late;
    const other = this.machines.find((each) => each !== machine && each.instance === instance);
    if (other === undefined) return;
    const next = await this.beginNext(other);
    await this.finish(next);
    await this.finish(late);
    if (next.ended === "done")
      await this.assertTables(instance, next.run, "after an overtaken delivery woke up");
  }

  /** Another machine takes over from a delivery that is about to finish, which goes on before the other one has finished. */
  async overtake(late: Process): Promise<void> {
    const { instance, machine } = late;
    const other = this.machines.find((each) => each !== machine && each.instance === instance);
    if (other === undefined) return;
    const next = await this.beginNext(other);
    await this.turns(next, 10 + this.below(60));
    await this.turns(late, 30);
    await this.turns(next, 200);
  }

  /** A machine whose clock may be wrong cleans up while a delivery has uploaded files and committed none. */
  async vacuumWith({ instance }: Process): Promise<void> {
    const skewDays = [0, ...SKEW_DAYS][this.below(4)] ?? 0;
    await this.finish(this.begin({ instance, what: "vacuum", machine: null, run: null, skewDays }));
  }

  async #work(process: Process, place: LakeSession): Promise<void> {
    const { what, machine, run } = process;
    if (what === "vacuum") await vacuumLake(place, { allVersions: this.random() < 0.3 });
    else if (what === "remove") await removeInstance(place, NEVER);
    else if (machine !== null && run !== null) {
      const delivered = deliveredOf(machine, run, what === "rollback");
      const staged = await stageDelivery((_, use) => use(place), delivered);
      await staged.commit();
    }
  }

  /** Gives a process so many turns. It may end before. */
  async turns(process: Process, count: number): Promise<void> {
    for (let turn = 0; turn < count && process.ended === null; ) {
      const next = process.waiting.splice(this.below(process.waiting.length), 1)[0];
      // A process often stops right before it commits: what it has read is old then.
      if (next?.isPut && Number.isFinite(count) && this.random() < 0.3) {
        process.waiting.push(next);
        return;
      }
      next?.go();
      if (next !== undefined) turn++;
      await setImmediate();
      await this.#checkSnapshots();
    }
    if (process.ended !== null) await this.#ended(process);
  }

  async finish(process: Process): Promise<void> {
    await this.turns(process, Number.POSITIVE_INFINITY);
  }

  async #ended(process: Process): Promise<void> {
    this.live = this.live.filter((each) => each !== process);
    const { instance, what, machine, run, ended } = process;
    const { last, isUnfinished } = await readInstance(this.placeOf(instance, this.store), null);
    if (ended === "fenced" && machine !== null && last !== null) this.restore(machine, last);
    const isAlone = this.live.every((each) => each.instance !== instance || each.what === "vacuum");
    if (ended !== "done" || !isAlone || isUnfinished || what === "vacuum") return;
    if (what === "remove" && !process.isDisturbed)
      await this.assertTables(instance, null, "after a removal that nobody disturbed");
    else if (run !== null && last?.sha256 === run.sha256)
      // A put of a delivery that was overtaken may have created a table since.
      await this.assertTables(instance, run, "after a delivery that nobody disturbed", [
        ...run.contents.keys(),
      ]);
    if (run !== null && last?.sha256 === run.sha256) await this.assertStraysNamed(instance, run);
  }

  restore(machine: Machine, { sha256 }: LakeRun): void {
    machine.current = this.runs.find((run) => run.sha256 === sha256) ?? null;
    if (machine.current !== null) machine.known.push(machine.current);
  }

  async last(instance: string): Promise<LakeRun | null> {
    return (await readInstance(this.placeOf(instance, this.store), null)).last;
  }

  /** Contents of an instance in a version of a table. */
  contentOf(state: TableState | null, instance: string): string {
    const files = state === null ? [] : activeFiles(state, instance);
    for (const { path } of files)
      if (!this.objects.has(`${state?.table}/${path}`)) this.found.add("a table names a file that is gone");
    return files.map(({ path }) => /-([0-9a-f]{16})-/.exec(path)?.[1]).join();
  }

  async assertTables(instance: string, run: Run | null, when: string, tables = TABLES): Promise<void> {
    for (const table of tables) {
      const found = this.contentOf(await readTable(this.store, table), instance);
      if (found !== digestOf(run, table)) this.found.add(`${when} a table is not the run's`);
    }
  }

  /** What the instance has in other tables than those of its run is found. */
  async assertStraysNamed(instance: string, run: Run): Promise<void> {
    const place = this.placeOf(instance, this.store);
    const named = await strayTables(place, await readInstance(place, null), TABLES);
    for (const table of TABLES) {
      const has = this.contentOf(await readTable(this.store, table), instance) !== "";
      if (named.includes(table) !== (has && !run.contents.has(table)))
        this.found.add("rows in a table that the run does not have are not named");
    }
  }

  /** What must hold whenever a delivery has finished. */
  async #checkSnapshots(): Promise<void> {
    if (!this.#hasNewSnapshots) return;
    this.#hasNewSnapshots = false;
    for (const instance of ["one", "two"]) {
      const now = await this.last(instance);
      const before = this.#last.get(instance) ?? null;
      this.#last.set(instance, now);
      if (now === null || now.delivery === before?.delivery) continue;
      const run = this.runs.find((each) => each.sha256 === now.sha256) ?? assert.fail();
      await this.#checkSnapshot(instance, now, run);
      if (before !== null) this.#checkOrder(before, run);
    }
  }

  async #checkSnapshot(instance: string, { rows }: LakeRun, run: Run): Promise<void> {
    const tables = rows.map((row) => row.table_name).toSorted();
    if (tables.join() !== [...run.contents.keys()].toSorted().join()) this.found.add("a table has no row");
    for (const { table_name: table, table_version: version } of rows) {
      const state = await readTable(storeAt(this.store, table, version), table).catch(() => null);
      // A vacuum left only newer versions.
      if (state?.version !== version) continue;
      if (this.contentOf(state, instance) !== digestOf(run, table))
        this.found.add("a snapshot is not its run");
    }
  }

  #checkOrder(before: LakeRun, run: Run): void {
    const deliveries = this.live.filter((each) => each.run === run);
    const isTold = deliveries.some(({ what }) => what === "rollback");
    const old = this.runs.find(({ sha256 }) => sha256 === before.sha256) ?? assert.fail();
    const isUndone = deliveries.some(({ machine }) => machine?.undone.includes(old));
    if (!descends(run, old) && !isTold && !isUndone) this.found.add("history forks");
    const undone = this.runs.find(({ sha256 }) => sha256 === before.rollbackOf?.sha256);
    if (undone !== undefined && descends(run, undone) && !isTold)
      this.found.add("a run that was rolled back is shown again");
  }
}

function digestOf(run: Run | null, table: string): string {
  const content = run?.contents.get(table);
  return content === undefined ? "" : sha256Of(content).slice(0, 16);
}

function deliveredOf(machine: Machine, run: Run, isRollback: boolean): DeliveredRun {
  const past = ancestorsOf(run.stated);
  const contents = [...run.contents].map(([name, content]) => ({ name, path: `parquet/${name}`, content }));
  const columns = [{ name: "id", type: "text", nullable: false, comment: "Key." }];
  return {
    ...run,
    pipeline: "nightly",
    verdict: "complete",
    instance: { id: machine.instance, origin: "https://one.example" },
    directory: "/run",
    files: contents.map(({ path, content }) => ({ path, bytes: 4, sha256: sha256Of(content), rows: 1 })),
    manifest: { path: "manifest.json", bytes: 4, sha256: run.sha256 },
    past,
    known: isRollback ? [...machine.known] : [...past, ...machine.undone],
    isRollback,
    tables: contents.map(({ name, path }) => ({
      table: { name, comment: "", columns },
      files: [`/run/${path}`],
    })),
    signal: NEVER,
    onProgress: () => {},
  } as unknown as DeliveredRun;
}

/** What was found to be wrong after one schedule. */
async function violations(seed: number): Promise<ReadonlySet<string>> {
  const schedule = new Schedule(seed);
  const { machines } = schedule;
  const withVacuum = schedule.random() < 0.4;
  for (let step = 0, steps = 20 + schedule.below(40); step < steps; step++) {
    if (schedule.live.length === 0 || schedule.random() < 0.25) await beginOne(schedule, withVacuum);
    const { live } = schedule;
    if (schedule.random() < 0.06) live.splice(schedule.below(live.length), 1);
    const process = live[schedule.random() < 0.5 ? schedule.below(live.length) : live.length - 1];
    const isSleeping = process?.run != null && process.looks <= 1 && !process.isFinishing;
    if (process?.isFinishing && schedule.random() < 0.5) await schedule.overtake(process);
    else if (isSleeping && schedule.random() < 0.6)
      await (schedule.random() < 0.6 ? schedule.overtakeSleeping(process) : schedule.vacuumWith(process));
    else if (process !== undefined)
      await schedule.turns(process, 1 + schedule.below(schedule.random() < 0.3 ? 200 : 25));
  }
  await assertEnd(schedule, machines[0] ?? assert.fail());
  return schedule.found;
}

async function beginOne(schedule: Schedule, withVacuum: boolean): Promise<void> {
  const machine = schedule.machines[schedule.below(schedule.machines.length)] ?? assert.fail();
  const { instance } = machine;
  const chance = schedule.random();
  const skewDays = schedule.random() < 0.9 ? 0 : (SKEW_DAYS[schedule.below(3)] ?? 0);
  if (withVacuum && chance < 0.15) {
    // Nobody is at work for more than a day, so nobody who was before is any more.
    const days = [0, 1, 10][schedule.below(3)] ?? 0;
    if (days > 0) schedule.live = [];
    schedule.nowMs += days * DAY_MS;
    schedule.begin({ instance, what: "vacuum", machine: null, run: null, skewDays });
  } else if (chance < 0.2) schedule.begin({ instance, what: "remove", machine: null, run: null, skewDays });
  else if (chance < 0.35 && machine.current?.before) {
    machine.undone.push(machine.current);
    machine.current = machine.current.before;
    schedule.begin({ instance, what: "rollback", machine, run: machine.current, skewDays });
  } else {
    if (machine.current === null || chance < 0.85) {
      const last = await schedule.last(instance);
      if (last !== null && (machine.current === null || schedule.random() < 0.3))
        schedule.restore(machine, last);
      machine.current = schedule.newRun(machine, aboveOf(last));
      machine.known.push(machine.current);
    }
    schedule.begin({ instance, what: "deliver", machine, run: machine.current, skewDays });
  }
}

/** One machine goes on from what the lake has; then whoever is left wakes up; then it delivers once more. */
async function assertEnd(schedule: Schedule, machine: Machine): Promise<void> {
  const deliverNext = async (when: string) => {
    for (;;) {
      const process = await schedule.beginNext(machine);
      await schedule.finish(process);
      if (process.ended === "failed") continue;
      assert.equal(process.ended, "done");
      const run = process.run ?? assert.fail();
      await schedule.assertTables(machine.instance, run, when);
      return run;
    }
  };
  const run = await deliverNext("after the last delivery");
  for (const process of [...schedule.live]) await schedule.finish(process);
  const { last, isUnfinished } = await readInstance(schedule.placeOf(machine.instance, schedule.store), null);
  if (last?.sha256 === run.sha256 && !isUnfinished) await schedule.assertStraysNamed(machine.instance, run);
  // A removal that lost its claim looks again and takes the next number; if it then fails, tables have no files.
  if (last?.sha256 === run.sha256 && !isUnfinished) {
    for (const { table_name } of last.rows) {
      const state = await readTable(schedule.store, table_name);
      if (schedule.contentOf(state, machine.instance) !== digestOf(run, table_name))
        schedule.found.add("a delivery that woke up late changed a table");
    }
    for (const { key } of filesOfRun(last))
      if (!schedule.objects.has(key)) schedule.found.add("a file of the last run is gone");
  }
  await deliverNext("after the delivery that follows late ones");
}

test("L1, L2, L3: readers of run_snapshots only ever see whole runs, in an order that no delivery breaks", async (t) => {
  const schedules = many(40, 1500);
  for (let seed = 1; seed <= schedules; seed++) {
    const found = await violations(seed);
    assert.deepEqual([...found], [], `in schedule ${seed}`);
  }
  t.diagnostic(`${schedules} schedules`);
});
