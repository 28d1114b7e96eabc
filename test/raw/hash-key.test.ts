import assert from "node:assert/strict";
import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Secret } from "../../src/common/secret.ts";
import { keyId, type PersonalSettings } from "../../src/config/config.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { exportFrom, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

const KEY = new Secret("CANARY-KEY-0123456789abcdef0123456789abcdef");
const OTHER = new Secret("CANARY-KEY-fedcba9876543210fedcba9876543210");
const hashing = (key: Secret): PersonalSettings => ({ policy: "hash", key });

test("S23: a changed hash key is refused before any request, and the sentence says what to do", async (t) => {
  const service = await Scripted.start(t, itemsOf(5));
  const out = await temporaryFolder(t);
  const run = (personalData: PersonalSettings) =>
    exportFrom({ url: service.url, out, config: { personalData } });
  const first = await run(hashing(KEY));
  service.questions.length = 0;
  const error = await failsWith("config.invalid", run(hashing(OTHER)));
  assert.equal(error.exitCode, 2);
  assert.match(error.message, /restore that key, or name another folder with --warehouse/);
  assert.ok(
    error.message.includes(keyId(KEY)) && error.message.includes(keyId(OTHER)),
    "both keys are named",
  );
  assert.ok(!error.message.includes(KEY.reveal()) && !error.message.includes(OTHER.reveal()));
  assert.deepEqual(service.questions, []);
  assert.deepEqual(await readdir(join(out, "runs")), [first.run]);
  assert.equal(await readlink(join(out, "current")), `runs/${first.run}`);
  assert.equal((await run(hashing(KEY))).sequence, 2);
});

long("S23: the key may change with the policy, for then nothing is joined over the runs", async (t) => {
  const service = await Scripted.start(t, itemsOf(5));
  const out = await temporaryFolder(t);
  const policies: PersonalSettings[] = [hashing(KEY), { policy: "drop", key: null }, hashing(OTHER)];
  for (const [index, personalData] of policies.entries()) {
    const summary = await exportFrom({ url: service.url, out, config: { personalData } });
    assert.equal(summary.sequence, index + 1);
  }
});
