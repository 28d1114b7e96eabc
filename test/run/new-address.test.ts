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

/** A warehouse with one run, of an instance. `at`: runs of services at other addresses. */
async function warehouse(t: TestContext, instance: string | null) {
  const out = join(await temporaryFolder(t), "warehouse");
  const old = await Scripted.start(t, of(instance));
  const first = await exportFrom({ url: old.url, out });
  const at = async (other: string | null) => {
    const service = await Scripted.start(t, of(other));
    return { service, run: (config = {}) => exportFrom({ url: service.url, out, config }) };
  };
  return { out, old, first, at };
}

test("a service that moved is refused with the option that accepts it, and needs it once; another instance stays refused", async (t) => {
  const { out, old, first, at } = await warehouse(t, "one");
  const other = await at("two");
  const { message } = await failsWith("config.other_instance", other.run(ACCEPTED));
  assert.match(message, /\(instance one\), and this run reads .* \(instance two\); name another folder/);
  assert.deepEqual(
    other.service.questions.map(({ kind, perPage, columns }) => [kind, perPage, ...columns]),
    [["list", 1, "id", "newsroom_id", "instance"]],
  );
  assert.equal(await readlink(join(out, "current")), `runs/${first.run}`);

  const { service, run } = await at("one");
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

long("a new address is refused where the current run names no instance", async (t) => {
  const { at } = await warehouse(t, null);
  const { message } = await failsWith("config.other_instance", (await at("one")).run(ACCEPTED));
  assert.match(message, /one of them names no single instance ID/);
});
