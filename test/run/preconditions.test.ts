/** What keeps a run from its end and is known beforehand: `check` names it, and ends as `run` does. */
import assert from "node:assert/strict";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import { checkCommand } from "../../src/cli/commands/check.ts";
import { runCommand } from "../../src/cli/commands/run.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { acquireLock, prepareOutput } from "../../src/warehouse/lock.ts";
import { outcome } from "../cli/capture.ts";
import { few } from "../long.ts";
import { missingPackage } from "../missing-package.ts";
import { CANARY, temporaryFolder, treeOf } from "./running.ts";
import { item, type Reply, Scripted } from "./scripted.ts";

const PARQUET = packagePath("test/run/parquet-pipeline.ts");
const ONE_LISTING = packagePath("test/engines/small-pipeline.ts");
const DATABASE = packagePath("test/run/duckdb-pipeline.ts");
const THREE_TABLES = packagePath("docs/examples/three-tables.mts");

interface Place {
  readonly service: Scripted;
  readonly cwd: string;
  readonly warehouse: string;
  /** Of the configuration file. */
  readonly settings: Record<string, unknown>;
  readonly env: Record<string, string>;
  /** Of `run` and of `check`. */
  readonly args: string[];
}

interface World extends Place {
  readonly t: TestContext;
}

const ITEMS = [item("a", 1, { newsroom_id: "one" }), item("b", 1, { newsroom_id: "one" })];

/** A service that has been exported once, into a warehouse and a lake. */
const service = new Scripted(ITEMS);
let nightBefore = "";

async function worldOf(t: TestContext): Promise<World> {
  Object.assign(service, { items: ITEMS, script: () => undefined });
  return { t, ...worldIn(await temporaryFolder(t)) };
}

function worldIn(cwd: string): Place {
  return {
    service,
    cwd,
    warehouse: join(cwd, "warehouse"),
    settings: { url: service.url, outageMinutes: 0, details: "none", perPage: 5 },
    env: { CONTENT_API_TOKEN: CANARY },
    args: [PARQUET],
  };
}

/** The night before. */
async function published({ cwd }: World): Promise<void> {
  await cp(nightBefore, cwd, { recursive: true, verbatimSymlinks: true });
}

/** A service at another address. */
async function elsewhere(world: World, newsroom: string): Promise<Scripted> {
  const other = await Scripted.start(world.t, [item("a", 1, { newsroom_id: newsroom })]);
  world.settings.url = other.url;
  return other;
}

/** `err`: with the sentence of the failure. */
async function command(make: typeof checkCommand, args: readonly string[], world: Place) {
  const { cwd, env } = world;
  const { text: out, err, exitCode, error } = await outcome(make, args, { env, cwd });
  return { exitCode, out, err: err + (error?.message ?? "") };
}

async function configured(world: Place): Promise<void> {
  const { cwd, settings } = world;
  await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify(settings));
}

async function night(world: Place) {
  await configured(world);
  return await command(runCommand, [...world.args, "--quiet"], world);
}

/**
 * The check, which changes nothing. `failed`: the step that failed; undefined: none did. `sentences`: what the run says
 * too: why it fails, else what it warns of.
 */
async function checked(world: World) {
  await configured(world);
  const found = await treeOf(world.cwd);
  const { exitCode, out, err } = await command(checkCommand, [...world.args, "--format", "json"], world);
  assert.deepEqual(await treeOf(world.cwd), found);
  assert.ok(!(out + err).includes(CANARY));
  // What is wrong with the arguments is no finding.
  if (out === "") return { exitCode, failed: undefined, sentences: [err] };
  const { checks } = JSON.parse(out) as {
    readonly checks: readonly Record<"status" | "check" | "detail", string>[];
  };
  const failures = checks.filter(({ status }) => status === "failed");
  // The first failure ends the check.
  assert.deepEqual(failures, exitCode === 0 ? [] : [checks.at(-1)]);
  const warnings = checks.filter(({ status, check }) => status === "warning" && check !== "destinations");
  const sentences = (failures.length > 0 ? failures : warnings).map(({ detail }) => detail);
  return { exitCode, failed: failures[0]?.check, sentences };
}

type Fault = (world: World) => unknown;

/** Faults by how both commands end: the exit code and the check that fails, unless the arguments are refused. */
const FAULTS: Readonly<Record<string, Readonly<Record<string, Fault>>>> = {
  "2 configuration": {
    "no service": ({ settings }) => delete settings.url,
  },
  "2": {
    "a pipeline that there is not": ({ args }) => args.splice(0, 1, "nigthly"),
  },
  "2 pipeline": {
    "a module that exports no pipeline": async ({ cwd, args }) => {
      await writeFile(join(cwd, "mine.mjs"), "export default 1;");
      args.splice(0, 1, "./mine.mjs");
    },
    "targets of a pipeline without Parquet files": (world) => {
      lakeIn(world);
      world.args.splice(0, 1, DATABASE);
    },
  },
  "2 folder": {
    "a folder that is a file": ({ warehouse }) => writeFile(warehouse, ""),
  },
  "75 lock": {
    "a run under way": async ({ t, warehouse }) => {
      const lock = await acquireLock(await prepareOutput(warehouse));
      t.after(() => lock[Symbol.asyncDispose]());
    },
  },
  "24 run before": {
    "a current run that is damaged": (world) => change(world, () => "{}"),
  },
  "2 run before": {
    "a current run that a newer program wrote": (world) =>
      change(world, (text) => text.replace(/"manifestVersion":\s*\d+/, '"manifestVersion": 1000')),
    "G11: a pipeline that lacks tables of the current run": async (world) => {
      await published(world);
      world.args.splice(0, 1, THREE_TABLES);
      world.service.script = () => assert.fail("the service is asked");
    },
    "K2: a target whose package is not installed": (world) => {
      missingPackage(world.t, "pg");
      world.settings.targets = [{ type: "postgres", url: "postgres://nobody@127.0.0.1:1/nothing" }];
      world.service.script = () => assert.fail("the service is asked");
    },
    "G11a: a pipeline without the Parquet files of the current run": async (world) => {
      await published(world);
      world.args.splice(0, 1, DATABASE);
      world.service.script = () => assert.fail("the service is asked");
    },
    "another key of the hashes": async (world) => {
      const personalData = '"personalData": { "policy": "hash", "keyId": "0123456789abcdef"';
      await change(world, (text) =>
        text.replace(/"personalData":\s*\{\s*"policy":\s*"\w+",\s*"keyId":\s*null/, personalData),
      );
      world.settings.personalData = "hash";
      world.env.CONTENT_WAREHOUSE_HASH_KEY = "b".repeat(40);
    },
  },
  "30 disk": {
    "a disk that is too small for a run like the one before": (world) =>
      change(world, (text) => text.replace(/"peakBytes":\s*\d+/, '"peakBytes": 1000000000000000')),
  },
  "2 service": {
    "another instance at the new address that is to be accepted": async (world) => {
      await published(world);
      await elsewhere(world, "two");
      world.args.push("--accept-new-address");
    },
    "another instance at the same address": async (world) => {
      await published(world);
      world.service.items = [item("a", 1, { newsroom_id: "two" })];
    },
    "no service at the address": answering({ status: 404 }),
  },
  "20 service": {
    "a token that is refused": answering({ status: 401 }),
    "full documents that the token may not read": ({ service }) => {
      service.script = ({ kind, mode }) => (kind === "list" && mode === "full" ? { status: 403 } : undefined);
    },
    "a list of IDs and times that the token may not read": ({ service, args }) => {
      args.splice(0, 1, ONE_LISTING);
      service.script = ({ kind, mode }) =>
        kind === "list" && mode === "basic" ? { status: 403 } : undefined;
    },
    "B11: custom fields of items that the token may not read": ({ service }) => {
      service.items = [
        item("a", 1, { newsroom_id: "one" }),
        item("b", 1, { custom_fields: [{ id: "1", name: "x" }] }),
      ];
      service.script = ({ kind }) => (kind === "custom_fields" ? { status: 403 } : undefined);
    },
  },
  "21 service": {
    "a service that is down": async (world) => {
      await published(world);
      lakeIn(world, "file:///dev/null/lake");
      // A run asks again for seconds, unless it must end before.
      world.settings.deadlineMinutes = 0.01;
      world.service.script = () => ({ status: 503 });
    },
  },
  "22 service": {
    "answers that are none": answering({ body: { rows: [] } }),
  },
  "20 destinations": {
    "B11: destinations that the token may not read": (world) => {
      world.settings.destinations = [{ name: "Website" }];
      world.service.script = ({ kind }) => (kind === "destinations" ? { status: 403 } : undefined);
    },
  },
  "2 destinations": {
    "G13: a destination that neither the service nor the run before has": async (world) => {
      await published(world);
      world.settings.destinations = [{ name: "Websiet" }];
      world.service.items = ITEMS.map((each) => ({ ...each, publish_destination: "Website" }));
    },
  },
  "2 personal fields": {
    "a personal field that there is not": ({ settings }) =>
      Object.assign(settings, { personalFields: ["x"] }),
  },
  "26 run before": {
    "an empty disk, and a manifest of the lake's last run that is gone": lost,
    "a lake that has another instance by that name": async (world) => {
      await published(world);
      await elsewhere(world, "two");
      lakeIn(world);
      world.settings.warehouse = "./other";
    },
  },
};

/** An empty disk, and a lake without the manifest of its last run. */
async function lost(world: World): Promise<void> {
  await published(world);
  await removeTree(world.warehouse);
  lakeIn(world);
  const place = join(world.cwd, "lake");
  for (const file of await readdir(place, { recursive: true }))
    if (file.endsWith("manifest.json")) await rm(join(place, file));
}

/** The same of what keeps no run from being published, by the exit code. */
const LATER: Readonly<Record<string, Readonly<Record<string, Fault>>>> = {
  26: {
    "a lake that cannot be reached": async (world) => {
      await published(world);
      lakeIn(world, "file:///dev/null/lake");
    },
    "a database that cannot be reached": ({ settings }) => {
      settings.targets = [{ type: "postgres", url: "postgres://nobody@127.0.0.1:1/nothing" }];
    },
  },
  0: {
    "G13: a destination that the service has no more": async (world) => {
      world.settings.destinations = [{ name: "Website" }];
      const body = [{ id: "d", identification: "Website", platform: "External" }];
      world.service.script = ({ kind }) => (kind === "destinations" ? { body } : undefined);
      assert.equal((await night(world)).exitCode, 0);
      world.service.script = () => undefined;
    },
    "a pipeline that lacks tables of the current run, where that is accepted": async (world) => {
      await published(world);
      world.args.splice(0, 1, THREE_TABLES, "--accept-pipeline");
    },
    "metrics in a folder that is not there": ({ settings }) =>
      Object.assign(settings, { metricsFile: "no/such.prom" }),
  },
};

function answering(reply: Reply): Fault {
  return ({ service }) => {
    service.script = () => reply;
  };
}

function lakeIn({ cwd, settings }: Place, url = `file://${cwd}/lake`): void {
  settings.targets = [{ type: "lake", url, instance: "one" }];
}

/** Changes the manifest of the current run. */
async function change(world: World, to: (text: string) => string): Promise<void> {
  await published(world);
  const file = join(world.warehouse, "current", "manifest.json");
  const text = to(await readFile(file, "utf8"));
  await chmod(dirname(file), 0o755);
  await rm(file);
  await writeFile(file, text);
}

/** Both commands with a fault: the check that failed, and how many runs are published. */
async function both(t: TestContext, exitCode: number, fault: Fault) {
  const world = await worldOf(t);
  await fault(world);
  const runs = async () => (await readdir(join(world.cwd, "warehouse/runs")).catch(() => [])).length;
  const earlier = await runs();
  const check = await checked(world);
  const ran = await night(world);
  assert.deepEqual([check.exitCode, ran.exitCode], [exitCode, exitCode], check.sentences + ran.err);
  const said = withoutFree(ran.err);
  for (const sentence of check.sentences.map(withoutFree)) {
    assert.ok(
      sentence.split("\n").every((line) => said.includes(line)),
      `${sentence}\n\n${said}`,
    );
  }
  return { failed: check.failed, published: (await runs()) - earlier };
}

/** What is free on the disk is another figure a moment later. */
function withoutFree(text: string): string {
  return text.replace(/has [\d.]+ MB free/g, "has some free");
}

suite("check ends as a run does, and says what the run says, of", () => {
  before(async () => {
    await service.listen();
    nightBefore = await mkdtemp(join(tmpdir(), "night-before-"));
    const world = worldIn(nightBefore);
    lakeIn(world);
    const { exitCode, err } = await night(world);
    assert.equal(exitCode, 0, err);
  });
  after(async () => {
    service.close();
    await removeTree(nightBefore);
  });
  for (const [end, faults] of Object.entries(FAULTS)) {
    const [, exitCode, failed] = /^(\d+)(?: (.+))?$/.exec(end) ?? [];
    for (const [name, fault] of Object.entries(faults)) {
      test(name, async (t) => {
        assert.deepEqual(await both(t, Number(exitCode), fault), { failed, published: 0 });
      });
    }
  }
  test("an empty disk, for which the lake has a run to go on from", async (t) => {
    const world = await worldOf(t);
    await published(world);
    const [run = ""] = await readdir(join(world.warehouse, "runs"));
    await removeTree(world.warehouse);
    lakeIn(world);
    await configured(world);
    const { exitCode, out } = await command(checkCommand, world.args, world);
    assert.equal(exitCode, 0, out);
    assert.ok(out.includes(`a run restores ${run} from the target lake, and goes on from it`), out);
    const ran = await night(world);
    assert.equal(ran.exitCode, 0, ran.err);
    assert.ok(ran.err.includes(`Restored the run ${run} from the target lake`), ran.err);
  });
  test("G13: a misspelled destination, and what an interrupted run has read is kept", async (t) => {
    const world = await worldOf(t);
    await published(world);
    const interrupted = "000002-20261120T020000Z";
    await mkdir(join(world.warehouse, ".staging", interrupted));
    world.settings.destinations = [{ name: "Websiet" }];
    assert.equal((await night(world)).exitCode, 2);
    assert.deepEqual(await readdir(join(world.warehouse, ".staging")), [interrupted]);
  });
  for (const [exitCode, faults] of Object.entries(LATER)) {
    for (const [name, fault] of few(Object.entries(faults), 1)) {
      test(`${name}, once it is published`, async (t) => {
        assert.equal((await both(t, Number(exitCode), fault)).published, 1);
      });
    }
  }
});
