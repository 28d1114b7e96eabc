/** Another instance answers at the address of a run that was interrupted, or of one that is under way. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../src/common/log.ts";
import { interrupted, SETTINGS, staged } from "../extract/landing/resuming.ts";
import { failsWith } from "../failing.ts";
import { exportFrom, HurriedClock, rowsOf, temporaryFolder } from "./running.ts";
import { itemsOf, type Question, Scripted } from "./scripted.ts";

/** The same IDs and times in each instance, and other titles. `ids`: what each item names. */
const of = (title: string, ...ids: readonly (string | null)[]) =>
  itemsOf(40).map((item, index) => ({
    ...item,
    title: `${title} ${item.id}`,
    newsroom_id: ids[index % ids.length],
  }));

const isPage = (mode: Question["mode"], at: number) => (question: Question) =>
  question.kind === "list" && question.mode === mode && question.page === at;

/** A run over `before` that is ended in its first listing, and the next one, over `after`. */
async function resumedOver(t: TestContext, before: readonly unknown[], after: readonly unknown[]) {
  const service = await Scripted.start(t, before);
  const out = join(await temporaryFolder(t), "warehouse");
  await interrupted(service, { out }, isPage("dynamic", 12));
  service.items = [...after];
  service.questions.length = 0;
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => warnings.push(message) };
  const [run] = await staged(out);
  const summary = await exportFrom({ url: service.url, out, config: SETTINGS, log });
  const titles = await rowsOf(summary.directory, "SELECT DISTINCT split_part(title, ' ', 1) FROM content");
  return { service, run, summary, warnings, titles: titles.flat().sort() };
}

test("G3a: where another instance with the same IDs and times answers, a run that was interrupted begins anew", async (t) => {
  const { service, summary, warnings, titles } = await resumedOver(t, of("Old", "one"), of("New", "two"));
  assert.deepEqual([titles, summary.resumed, summary.verdict], [["New"], null, "complete"]);
  assert.deepEqual(warnings, [
    "The interrupted run is not resumed, and its documents are removed, because it read instance one, and the service now has two.",
  ]);
  const probes = service.questions.filter(({ perPage }) => perPage === 1);
  assert.deepEqual(
    probes.map(({ columns }) => columns),
    [["id", "newsroom_id", "instance"]],
  );
});

test("G3a: it goes on where one of the two names no instance or several, or both the same", async (t) => {
  const cases = [
    [["one"], ["one"]],
    [["one"], [null]],
    [[null], ["two"]],
    [["one", "other"], ["two"]],
  ] as const;
  for (const [before, after] of cases) {
    const { run, summary, warnings } = await resumedOver(t, of("Old", ...before), of("New", ...after));
    const said = [summary.run, warnings];
    assert.deepEqual(said, [run, ["Resuming an interrupted run."]], `${before} and ${after}`);
    assert.ok((summary.resumed?.pages ?? 0) > 1);
  }
});

test("G3a: a run whose first page cannot be read goes on all the same", async (t) => {
  const service = await Scripted.start(t, of("Old", "one"));
  const out = join(await temporaryFolder(t), "warehouse");
  await interrupted(service, { out }, isPage("dynamic", 12));
  service.script = ({ perPage }) => (perPage === 1 ? { body: "{" } : undefined);
  const clock = new HurriedClock(Date.now());
  const { resumed, verdict } = await exportFrom({ url: service.url, out, config: SETTINGS, clock });
  assert.equal(verdict, "complete");
  assert.ok((resumed?.pages ?? 0) > 1);
});

test("G3a: a run ends with 2 where all items of a pass name one instance, and all of a later pass another", async (t) => {
  const service = await Scripted.start(t, of("Old", "one"));
  const out = join(await temporaryFolder(t), "warehouse");
  const swap = (after: readonly unknown[]) => {
    service.items = of("Old", "one");
    service.script = (question) => {
      if (isPage("full", 1)(question)) service.items = [...after];
      return undefined;
    };
    return exportFrom({ url: service.url, out, config: SETTINGS });
  };
  const error = await failsWith("config.other_instance", swap(of("New", "two")));
  assert.equal(error.exitCode, 2);
  assert.equal(
    error.message,
    "The service changed during the run: pass 2 read the instance two, and an earlier pass the instance one; find out which of them answers at this address, and run again.",
  );
  assert.equal(existsSync(out), false, "nothing of it is kept");
  assert.equal((await swap(of("Old", "one", "two"))).verdict, "complete");
});
