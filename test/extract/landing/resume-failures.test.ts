import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type Log, silentLog } from "../../../src/common/log.ts";
import { failsWith } from "../../failing.ts";
import { long } from "../../long.ts";
import { exportFrom, HurriedClock, publishedIds, temporaryFolder, treeOf } from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { oddItems, SETTINGS, staged } from "./resuming.ts";

/** A log that keeps what it is warned of. */
function warnings(): { readonly log: Log; readonly told: string[] } {
  const told: string[] = [];
  return { log: { ...silentLog, warn: (message) => told.push(message) }, told };
}

test("B8: a token that is revoked at page 137 ends the run with 20, and one that holds goes on from there", async (t) => {
  const service = await Scripted.start(t, oddItems(400));
  const out = join(await temporaryFolder(t), "warehouse");
  service.script = ({ page }) => (page >= 137 ? { status: 401 } : undefined);
  const { log, told } = warnings();
  await failsWith("source.credentials", exportFrom({ url: service.url, out, config: SETTINGS, log }));
  assert.ok(told.some((message) => message.includes("run again within six hours")));
  assert.deepEqual(await readdir(join(out, "runs")), []);
  const [run] = await staged(out);
  service.script = () => undefined;
  const before = service.questions.length;
  const summary = await exportFrom({ url: service.url, out, config: SETTINGS, log });
  assert.equal(summary.run, run);
  assert.ok((summary.resumed?.pages ?? 0) >= 64);
  assert.ok(told.includes("Resuming an interrupted run."));
  const asked = service.questions.slice(before).filter(({ kind }) => kind === "list");
  assert.equal(asked.length, 400 - (summary.resumed?.pages ?? 0));
});

test("answers that cannot be written when the service ends a run are told of beside its failure", async (t) => {
  const service = await Scripted.start(t, itemsOf(60));
  const out = join(await temporaryFolder(t), "warehouse");
  service.script = ({ page }) => {
    if (page < 20) return undefined;
    const [run = ""] = readdirSync(join(out, ".staging"));
    writeFileSync(join(out, ".staging", run, "answers"), "no folder");
    return { status: 401 };
  };
  const run = exportFrom({ url: service.url, out, config: SETTINGS });
  await assert.rejects(run, /Before that: .*\(401\)/);
});

long(
  "D20: after a run that holds far less, explicit approval is enough: it goes on and asks for one pass more",
  async (t) => {
    const service = await Scripted.start(t, itemsOf(300));
    const out = await temporaryFolder(t);
    await exportFrom({ url: service.url, out, config: SETTINGS });
    service.items = itemsOf(200);
    await failsWith("guard.shrink", exportFrom({ url: service.url, out, config: SETTINGS }));
    const before = service.questions.length;
    const summary = await exportFrom({ url: service.url, out, config: { ...SETTINGS, acceptShrink: true } });
    assert.deepEqual([summary.sequence, summary.verdict], [2, "complete"]);
    const asked = service.questions.slice(before).filter(({ kind }) => kind === "list" || kind === "item");
    const gone = new Set(
      itemsOf(300)
        .slice(200)
        .map(({ id }) => id),
    );
    assert.ok(asked.every(({ mode, kind, id }) => (kind === "list" ? mode === "basic" : gone.has(id))));
    assert.equal((await publishedIds(summary.directory)).length, 200);
  },
);

long(
  "D20: without that word the next run begins anew, because the service may have come to itself",
  async (t) => {
    const service = await Scripted.start(t, itemsOf(300));
    const out = await temporaryFolder(t);
    await exportFrom({ url: service.url, out, config: SETTINGS });
    service.items = itemsOf(200);
    await failsWith("guard.shrink", exportFrom({ url: service.url, out, config: SETTINGS }));
    service.items = itemsOf(300);
    const summary = await exportFrom({ url: service.url, out, config: SETTINGS });
    assert.deepEqual([summary.verdict, summary.resumed], ["complete", null]);
    assert.equal((await publishedIds(summary.directory)).length, 300);
  },
);

test("a run that fails for its content is made anew", async (t) => {
  const service = await Scripted.start(t, [...itemsOf(200), ...Array.from({ length: 60 }, () => "no item")]);
  const out = join(await temporaryFolder(t), "warehouse");
  const run = exportFrom({ url: service.url, out, config: SETTINGS, clock: new HurriedClock() });
  await failsWith("source.rejects", run);
  assert.deepEqual(await treeOf(join(out, "..")), []);
});
