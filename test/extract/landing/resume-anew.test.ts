import assert from "node:assert/strict";
import {
  cp,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import { z } from "zod";
import { silentLog } from "../../../src/common/log.ts";
import { readSealed, writeSealed } from "../../../src/common/sealed-file.ts";
import { removeTree } from "../../../src/common/tree.ts";
import { readResumeState } from "../../../src/extract/landing/checkpoint.ts";
import { outputFolder } from "../../../src/warehouse/layout.ts";
import { readManifest } from "../../../src/warehouse/manifest.ts";
import { prune } from "../../../src/warehouse/retention.ts";
import { either, few, long } from "../../long.ts";
import {
  type ExportOptions,
  exportFrom,
  HurriedClock,
  publishedIds,
  rowsOf,
  SMALL,
  temporaryFolder,
  textsIn,
  treeOf,
} from "../../run/running.ts";
import { item, itemsOf, type Question, Scripted } from "../../run/scripted.ts";
import {
  assertSame,
  interrupted,
  oddItems,
  PAGES_PER_GROUP,
  SETTINGS,
  staged,
  stagedFiles,
} from "./resuming.ts";

const ITEMS = 320;

/** A clock that shows what it is told. */
class SetClock extends HurriedClock {
  hours = 0;

  override now(): number {
    return super.now() + this.hours * 3_600_000;
  }
}

const inFull = ({ mode, kind, page }: Question) => kind === "list" && mode === "full" && page === 150;

/** A service, what an undisturbed run over it publishes, and a folder with a run that was ended in the full listing. */
async function prepare() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "resume-")));
  const service = new Scripted(oddItems(ITEMS));
  await service.listen();
  const left = join(folder, "left");
  await interrupted(service, { out: left, clock: new SetClock() }, inFull);
  const whole = await exportFrom({ url: service.url, out: join(folder, "whole"), config: SETTINGS });
  const [run = ""] = await staged(left);
  const { pages: kept } = await readResumeState(join(left, ".staging", run));
  assert.ok(kept > ITEMS / SETTINGS.perPage + PAGES_PER_GROUP);
  return { folder, service, left, whole, kept };
}

/** A copy of the folder with the run that was ended. */
async function ended({ service, left }: Awaited<ReturnType<typeof prepare>>, t: TestContext) {
  const out = join(await temporaryFolder(t), "warehouse");
  await cp(left, out, { recursive: true });
  const clock = new SetClock();
  const again = (options: Partial<ExportOptions> = {}) =>
    exportFrom({ url: service.url, out, clock, config: SETTINGS, ...options });
  return { service, out, clock, again };
}

type Ended = Awaited<ReturnType<typeof ended>>;

async function inStaging(out: string, pattern: RegExp): Promise<string> {
  const found = (await stagedFiles(out)).sort().find((path) => pattern.test(path));
  assert.ok(found, `${pattern} is staged`);
  return join(out, ".staging", found);
}

/** What is done to the folder, and the pages that are not used again. */
type Case = readonly [spoil: (at: Ended) => unknown, lost: number | "all"];

const set = (hours: number) => (at: Ended) => Object.assign(at.clock, { hours });
const remove =
  (pattern: RegExp) =>
  async ({ out }: Ended) =>
    rm(await inStaging(out, pattern));
const alter = async ({ out }: Ended) => {
  const file = await inStaging(out, /dynamic-\d+-1-00001\.parquet$/);
  const bytes = await readFile(file);
  bytes[1000] = (bytes[1000] ?? 0) ^ 1;
  await writeFile(file, bytes);
};

const ANEW: Readonly<Record<string, Case>> = {
  "a start six hours ago": [set(6), "all"],
  "a clock that was set back": [set(-1), "all"],
  "no word of how it began": [remove(/resume\.json$/), "all"],
  "a second group that is missing": [remove(/dynamic-\d+-\d-00001\.json$/), PAGES_PER_GROUP],
  "a raw file of the second group with one byte changed": [alter, PAGES_PER_GROUP],
  "a raw file that is missing": [remove(/dynamic-\d+-1-00001\.parquet$/), PAGES_PER_GROUP],
  "single items that were not kept": [remove(/item-\d+-\d-00000\.json$/), 0],
};

suite("G8: staged work that is in doubt is not used again:", () => {
  let prepared: Awaited<ReturnType<typeof prepare>>;

  before(async () => {
    prepared = await prepare();
  });

  after(async () => {
    prepared.service.close();
    await removeTree(prepared.folder);
  });

  for (const [what, [spoil, lost]] of few(Object.entries(ANEW), 1)) {
    test(what, async (t) => {
      const at = await ended(prepared, t);
      await spoil(at);
      const summary = await at.again();
      assert.equal(summary.resumed?.pages ?? 0, lost === "all" ? 0 : prepared.kept - lost);
      assert.equal(summary.verdict, "complete");
      assert.deepEqual(await staged(at.out), []);
      await assertSame(summary, prepared.whole);
    });
  }

  test("F22, F23: a checkpoint whose raw file is not in the staged folder ends the run before it writes", async (t) => {
    const named = await ended(prepared, t);
    const checkpoint = await inStaging(named.out, /dynamic-\d+-1-00001\.json$/);
    const { content } = JSON.parse(await readFile(checkpoint, "utf8"));
    const outside = join(named.out, "outside.parquet");
    await rename(join(dirname(dirname(checkpoint)), content.rawFile), outside);
    await writeSealed(checkpoint, { ...content, rawFile: relative(dirname(dirname(checkpoint)), outside) });

    const linked = await ended(prepared, t);
    const raw = dirname(await inStaging(linked.out, /dynamic-\d+-1-00001\.parquet$/));
    const away = join(linked.out, "away");
    await rename(raw, away);
    await symlink(away, raw);
    for (const { again, out } of [named, linked]) {
      const before = await treeOf(out);
      await assert.rejects(again(), {
        code: "verify.failed",
        exitCode: 31,
        message:
          /^The checkpoint \S+\.json names the raw file "\S+\.parquet", which leads out of \S+; remove that/,
      });
      assert.deepEqual(await treeOf(out), before);
    }
  });

  test("what another version of the program or other settings began is passed over with one sentence", async (t) => {
    const told = async (at: Ended, options: Partial<ExportOptions> = {}) => {
      const warnings: string[] = [];
      const log = { ...silentLog, warn: (message: string) => warnings.push(message) };
      const { resumed } = await at.again({ ...options, log });
      return { resumed, warnings };
    };
    const [run = ""] = await staged(prepared.left);
    const sentence = `The interrupted run ${run} is not resumed: it was started by another version of the program, or with another configuration, pipeline or options, or its record cannot be read.`;
    const config = { ...SETTINGS, customFields: ["Other"] };
    const otherSettings = await told(await ended(prepared, t), { config });
    assert.deepEqual(otherSettings, { resumed: null, warnings: [sentence] });

    const before = await ended(prepared, t);
    const file = await inStaging(before.out, /resume\.json$/);
    const { peakBytes: _later, ...content } = JSON.parse(await readFile(file, "utf8")).content;
    await writeSealed(file, content);
    assert.deepEqual(await told(before), { resumed: null, warnings: [sentence] });
  });

  test("no byte of what is kept can change without the file counting as not there", async (t) => {
    const { out } = await ended(prepared, t);
    const byKind = new Map<string, string>();
    for (const path of (await stagedFiles(out)).filter((each) => each.endsWith(".json")))
      byKind.set(basename(path).split("-")[0] ?? "", join(out, ".staging", path));
    assert.deepEqual([...byKind.keys()].sort(), ["dynamic", "full", "item", "resume.json"]);
    for (const [kind, file] of byKind) {
      const whole = await readFile(file);
      const isThere = async (content: Buffer) => {
        await writeFile(file, content);
        return (await readSealed(file, z.unknown())) !== undefined;
      };
      assert.ok(await isThere(whole), kind);
      const step = Math.max(1, Math.floor(whole.length / either(120, 400)));
      for (let place = 0; place < whole.length; place += step) {
        const damaged = Buffer.from(whole);
        damaged[place] = (damaged[place] ?? 0) ^ (1 << (place % 8));
        assert.ok(!(await isThere(damaged)), `byte ${place} of ${kind}`);
      }
      for (const torn of [whole.subarray(0, -1), Buffer.concat([whole, Buffer.from(" ")]), Buffer.alloc(0)])
        assert.ok(!(await isThere(torn)), `${kind} of ${torn.length} bytes`);
    }
  });

  long("a run was published since", async (t) => {
    const { service, out, again } = await ended(prepared, t);
    const url = service.url;
    const { run } = await exportFrom({ url, out, config: { ...SETTINGS, raw: false } });
    assert.deepEqual(await staged(out), [], "what another run cannot use is cleared away");
    await cp(join(prepared.left, ".staging"), join(out, ".staging"), { recursive: true });
    const summary = await again();
    assert.deepEqual([summary.sequence, summary.resumed], [2, null]);
    assert.equal((await readManifest(summary.directory)).previousRun, run);
  });
});

long("G8: what was edited between the kill and the next start is found", async (t) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  const out = join(await temporaryFolder(t), "warehouse");
  await interrupted(service, { out }, inFull);
  const later = item("c-010", 10, { title: "Edited", updated_at: "2026-11-20T01:00:00Z" });
  const fresh = [
    ...itemsOf(ITEMS).filter(({ id }) => id !== "c-010" && id !== "c-020"),
    later,
    item("new", 1),
  ];
  service.items = fresh;
  const summary = await exportFrom({ url: service.url, out, config: SETTINGS });
  assert.equal(summary.verdict, "complete");
  assert.ok((summary.resumed?.pages ?? 0) > ITEMS / SETTINGS.perPage);
  assert.equal(summary.items.vanished, 1);
  assert.deepEqual(await publishedIds(summary.directory), fresh.map(({ id }) => id).sort());
  assert.deepEqual(await rowsOf(summary.directory, "SELECT content_id FROM content WHERE title = 'Edited'"), [
    ["c-010"],
  ]);
  const whole = await exportFrom({ url: service.url, out: await temporaryFolder(t), config: SETTINGS });
  const titles = "SELECT content_id, title, updated_at FROM content ORDER BY 1";
  assert.deepEqual(await rowsOf(summary.directory, titles), await rowsOf(whole.directory, titles));
});

long("G8: a run of a pipeline module that was edited since is not resumed", async (t) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  const folder = await temporaryFolder(t);
  const out = join(folder, "warehouse");
  const module = join(folder, "pipeline.ts");
  const pipelineUrl = `file://${module}`;
  const text = `export { default } from ${JSON.stringify(SMALL)};\n`;
  await writeFile(module, text);
  await interrupted(service, { out, pipelineUrl }, inFull);
  const left = join(folder, "left");
  await cp(out, left, { recursive: true });
  await writeFile(module, `${text}// Edited.\n`);
  const summary = await exportFrom({ url: service.url, out, config: SETTINGS, pipelineUrl });
  assert.deepEqual([summary.verdict, summary.resumed], ["complete", null]);
  await writeFile(module, text);
  const same = await exportFrom({ url: service.url, out: left, config: SETTINGS, pipelineUrl });
  assert.ok((same.resumed?.pages ?? 0) > 0, "the same module goes on");
});

long(
  "G8: only the run that goes on is left in staging, for its owner alone, and what it kept is proven",
  async (t) => {
    const service = await Scripted.start(t, oddItems(ITEMS));
    const out = join(await temporaryFolder(t), "warehouse");
    for (let time = 0; time < 2; time++) {
      await interrupted(service, { out }, inFull);
      assert.equal((await staged(out)).length, 1);
    }
    const files = (await readdir(join(out, ".staging"), { recursive: true, withFileTypes: true })).filter(
      (entry) => entry.isFile(),
    );
    for (const { parentPath, name } of files) {
      assert.equal((await stat(join(parentPath, name))).mode & 0o077, 0, name);
    }
    const texts = (await textsIn(out)).map(({ text }) => text).join();
    assert.ok(!texts.includes("jane@example.org") && !texts.includes("+49 30"), "the policy holds for it");
    await prune(outputFolder(out), 1);
    const { resumed } = await exportFrom({ url: service.url, out, config: SETTINGS });
    assert.ok((resumed?.pages ?? 0) > ITEMS / SETTINGS.perPage);
  },
);
