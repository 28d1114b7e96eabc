import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type Log, silentLog } from "../../../src/common/log.ts";
import { failsWith } from "../../failing.ts";
import { long } from "../../long.ts";
import { exportFrom, publishedIds, temporaryFolder } from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { oddItems, SETTINGS, staged } from "./resuming.ts";

/** A log that keeps what it is warned of. */
function warnings(): { readonly log: Log; readonly told: string[] } {
  const told: string[] = [];
  return { log: { ...silentLog, warn: (message) => told.push(message) }, told };
}

test("B8: a token that is revoked at page 137 ends the run with 20, and one that holds goes on from there", async (t) => {
  const service = await Scripted.start(t, oddItems(290));
  const out = join(await temporaryFolder(t), "warehouse");
  service.script = ({ page }) => (page >= 137 ? { status: 401 } : undefined);
  const { log, told } = warnings();
  await failsWith("source.credentials", exportFrom({ url: service.url, out, config: SETTINGS, log }));
  assert.ok(told.some((message) => message.includes("run again within 6 hours")));
  assert.deepEqual(await readdir(join(out, "runs")), []);
  const [run] = await staged(out);
  service.script = () => undefined;
  const before = service.questions.length;
  const summary = await exportFrom({ url: service.url, out, config: SETTINGS, log });
  assert.equal(summary.run, run);
  assert.ok((summary.resumed?.pages ?? 0) >= 64);
  assert.ok(told.includes("Resuming an interrupted run."));
  const asked = service.questions.slice(before).filter(({ kind }) => kind === "list");
  const [probe, ...pages] = asked;
  assert.deepEqual([probe?.perPage, pages.length], [1, 290 - (summary.resumed?.pages ?? 0)]);
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
  "D20: after a run that holds far less the next begins anew, and with explicit approval goes on with one pass more",
  async (t) => {
    const service = await Scripted.start(t, itemsOf(300));
    const out = await temporaryFolder(t);
    const run = (more: object = {}) =>
      exportFrom({ url: service.url, out, config: { ...SETTINGS, ...more } });
    await run();
    service.items = itemsOf(200);
    await failsWith("guard.shrink", run());
    // The service may have come to itself.
    service.items = itemsOf(300);
    const second = await run();
    assert.deepEqual([second.sequence, second.verdict, second.resumed], [2, "complete", null]);
    assert.equal((await publishedIds(second.directory)).length, 300);
    service.items = itemsOf(200);
    await failsWith("guard.shrink", run());
    const before = service.questions.length;
    const third = await run({ acceptShrink: true });
    assert.deepEqual([third.sequence, third.verdict], [3, "complete"]);
    const asked = service.questions.slice(before);
    const [probe, ...listed] = asked.filter(({ kind }) => kind === "list");
    assert.equal(probe?.perPage, 1);
    assert.ok(listed.every(({ mode }) => mode === "basic"));
    const gone = itemsOf(300).slice(200);
    assert.deepEqual(
      asked.flatMap(({ kind, id }) => (kind === "item" ? [id] : [])).sort(),
      gone.map(({ id }) => id),
    );
    assert.equal((await publishedIds(third.directory)).length, 200);
  },
);
