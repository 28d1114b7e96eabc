import assert from "node:assert/strict";
import { readlink } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { exportFrom, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

const of = (instance: string | null) => itemsOf(5).map((item) => ({ ...item, newsroom_id: instance }));
const ACCEPTED = { acceptNewAddress: true };

/** A warehouse with one run, of an instance; and a service at another address. */
async function moved(t: TestContext, before: string | null, now: string | null) {
  const out = join(await temporaryFolder(t), "warehouse");
  const old = await Scripted.start(t, of(before));
  const first = await exportFrom({ url: old.url, out });
  const service = await Scripted.start(t, of(now));
  const run = (config = {}) => exportFrom({ url: service.url, out, config });
  return { out, old, service, first, run, current: () => readlink(join(out, "current")) };
}

test("a service that moved is refused with the option that accepts it, and needs it once", async (t) => {
  const { old, service, run } = await moved(t, "one", "one");
  const error = await failsWith("config.other_instance", run());
  assert.equal(error.exitCode, 2);
  assert.match(error.message, /if the service has moved, run once with --accept-new-address/);
  assert.deepEqual(service.questions, []);
  old.close();
  const accepted = await run(ACCEPTED);
  assert.equal(accepted.sequence, 2);
  const { instance } = await readManifest(accepted.directory);
  assert.deepEqual(instance, { id: "one", origin: service.url });
  assert.equal((await run()).sequence, 3);
});

test("another instance at the new address is refused after one request for one item", async (t) => {
  const { first, service, run, current } = await moved(t, "one", "two");
  const error = await failsWith("config.other_instance", run(ACCEPTED));
  assert.match(
    error.message,
    /\(instance one\), and this run reads .* \(instance two\); name another folder/,
  );
  assert.deepEqual(
    service.questions.map(({ kind, perPage, columns }) => [kind, perPage, ...columns]),
    [["list", 1, "id", "newsroom_id", "instance"]],
  );
  assert.equal(await current(), `runs/${first.run}`);
});

long("a new address is refused where the current run names no instance", async (t) => {
  const { run } = await moved(t, null, "one");
  const { message } = await failsWith("config.other_instance", run(ACCEPTED));
  assert.match(message, /one of them names no single instance ID/);
});
