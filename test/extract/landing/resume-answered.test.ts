/** A run that goes on asks for nothing that was answered. */
import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { WarehouseError } from "../../../src/common/errors.ts";
import { failsWith } from "../../failing.ts";
import { long } from "../../long.ts";
import { exportFrom, HurriedClock, temporaryFolder } from "../../run/running.ts";
import { type Item, type Question, Scripted } from "../../run/scripted.ts";
import { until } from "../../until.ts";
import { assertSame, keptIn, oddItems } from "./resuming.ts";

const ITEMS = 120;
/** All pages of a listing are one group, and all single items are another. */
const CONFIG = { perPage: 4, details: "all" } as const;
const PAGES = ITEMS / CONFIG.perPage;

/** A run that is resumed also asks for one item, to know the instance. */
const ofTheWork = ({ kind, mode, perPage }: Question): boolean =>
  kind === "item" || (kind === "list" && mode !== "basic" && perPage === CONFIG.perPage);

function keyOf({ kind, mode, page, id }: Question): string {
  return `${kind} ${mode} ${page} ${id}`;
}

async function serviceOf(t: TestContext) {
  const service = await Scripted.start(t, oddItems(ITEMS));
  const whole = await exportFrom({ url: service.url, out: await temporaryFolder(t), config: CONFIG });
  const needed = service.questions.filter(ofTheWork).length;
  assert.equal(needed, 2 * PAGES + oddItems(ITEMS).filter((each) => (each as Item).id !== undefined).length);
  service.questions.length = 0;
  return { service, whole, needed };
}

test("G8, B6: runs that a service ends with 503, each after 47 answers, ask for nothing twice, and come to the end", async (t) => {
  const { service, whole, needed } = await serviceOf(t);
  const out = join(await temporaryFolder(t), "warehouse");
  const answered: string[] = [];
  const run = () => exportFrom({ url: service.url, out, config: CONFIG, clock: new HurriedClock() });
  for (let night = 1; night <= Math.floor(needed / 47); night++) {
    let left = 47;
    service.script = (question) => {
      if (!ofTheWork(question)) return undefined;
      if (left === 0) return { status: 503 };
      left -= 1;
      answered.push(keyOf(question));
      return undefined;
    };
    await failsWith("source.unavailable", run());
    assert.deepEqual([new Set(answered).size, answered.length], [night * 47, night * 47]);
  }
  service.script = (question) => {
    if (ofTheWork(question)) answered.push(keyOf(question));
    return undefined;
  };
  const summary = await run();
  assert.equal(summary.verdict, "complete");
  assert.deepEqual([new Set(answered).size, answered.length], [needed, needed]);
  await assertSame(summary, whole);
});

/** Stands still until it is told otherwise. */
class SetClock extends HurriedClock {
  laterMs = 0;

  override elapsedMs(): number {
    return super.elapsedMs() + this.laterMs;
  }
}

interface Point {
  readonly stage: "dynamic" | "item" | "full";
  readonly of: (question: Question) => boolean;
}

const POINTS: readonly Point[] = [
  { stage: "dynamic", of: ({ kind, mode }) => kind === "list" && mode === "dynamic" },
  { stage: "item", of: ({ kind }) => kind === "item" },
  { stage: "full", of: ({ kind, mode }) => kind === "list" && mode === "full" },
];

/** The last questions of a stage; the ones before them come when the clock was set on, and are written. */
const LAST = 10;

for (const { stage, of } of POINTS) {
  long(
    `G8: a run that is killed in the ${stage} requests asks again only for what came since it wrote last`,
    async (t) => {
      const { service, whole } = await serviceOf(t);
      const total = stage === "item" ? ITEMS - 2 : PAGES;
      const folder = await temporaryFolder(t);
      const out = join(folder, "ended");
      const clock = new SetClock();
      const controller = new AbortController();
      const before: string[] = [];
      const reached = Promise.withResolvers<void>();
      let asked = 0;
      service.script = (question) => {
        if (!of(question)) return undefined;
        asked += 1;
        if (asked < total - LAST) before.push(keyOf(question));
        if (asked === total - LAST) clock.laterMs = 10_000;
        if (asked < total) return undefined;
        reached.resolve();
        return "hang";
      };
      const { signal } = controller;
      const run = exportFrom({ url: service.url, out, config: CONFIG, clock, signal });
      const ended = assert.rejects(run, { code: "run.interrupted" });
      await reached.promise;
      const kept = `${stage}-00000`;
      await until(`${kept} is there`, async () => (await keptIn(out)).includes(kept), { ended });
      // What a kill leaves.
      await cp(out, join(folder, "killed"), { recursive: true, verbatimSymlinks: true });
      controller.abort(new WarehouseError("run.interrupted", "Interrupted; nothing was published."));
      await ended;
      service.script = () => undefined;
      service.questions.length = 0;
      const again = { url: service.url, out: join(folder, "killed"), config: CONFIG };
      const summary = await exportFrom({ ...again, clock: new HurriedClock() });
      const twice = new Set(service.questions.map(keyOf));
      // Of the requests under way at the time, some were answered after that.
      assert.ok(before.filter((key) => twice.has(key)).length < 8, `${twice.size} again`);
      assert.equal(summary.verdict, "complete");
      await assertSame(summary, whole);
    },
  );
}
