/** A bucket whose server does not answer; test/engines/store.test.ts has one that does. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { type LakeTarget, lake } from "../../../src/targets/lake/lake.ts";
import { openS3Store, type Sleep, sleepWithJitter } from "../../../src/targets/store/s3-store.ts";
import type { Store } from "../../../src/targets/store/store.ts";
import { environment } from "../../environment.ts";
import { temporaryFolder } from "../../folders.ts";
import { until } from "../../until.ts";
import { INSTANCE } from "../lake/deliver.ts";
import { makeRun } from "../lake/runs.ts";
import { contentOf, keysOf } from "./laws.ts";
import { type SilentServer, silentServer } from "./silent-server.ts";

const TEXT = Buffer.from("text");
const folder = await temporaryFolder({ after });

type Step = (target: LakeTarget, signal: AbortSignal) => Promise<unknown> | undefined;
const ofStore =
  (call: (store: Store) => Promise<unknown>): Step =>
  (target, signal) =>
    target.open(signal, ({ store }) => call(store));

const last = { run: "000001-20261120T020000Z", sequence: 1 };
const STEPS: Readonly<Record<string, Step>> = {
  get: ofStore((store) => store.get("x")),
  putNew: ofStore((store) => store.putNew("x", TEXT)),
  put: ofStore((store) => store.put("x", TEXT)),
  upload: ofStore(async (store) => {
    const file = join(folder, randomUUID());
    await writeFile(file, TEXT);
    await store.upload("x", file, contentOf(TEXT));
  }),
  download: ofStore((store) => store.download("x", join(folder, randomUUID()), contentOf(TEXT))),
  list: ofStore((store) => keysOf(store)),
  folders: ofStore((store) => store.folders("")),
  remove: ofStore((store) => store.remove(["x"])),
  "last run of a lake": (target, signal) => target.last(null, signal),
  "check of a lake": (target, signal) => target.check?.(signal, []),
  "restore from a lake": (target, signal) => target.restore?.(last, "/nowhere", signal),
  "manifest of a lake": (target, signal) => target.manifest?.(last, signal),
  "delivery to a lake": async (target, signal) =>
    target.stage(await makeRun(folder, { sequence: 1, machine: "a", signal })),
};

suite("what waits for a bucket", { timeout: 60_000 }, () => {
  let restore: () => void;
  before(() => {
    restore = environment({ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" });
  });
  after(() => restore());

  /** Ends the signal in the middle of a step, which must throw the reason then. */
  async function endsWithReason(
    step: Step,
    untilMiddle = async (server: SilentServer) => await server.heard(),
    begins = false,
  ): Promise<void> {
    await using server = await silentServer({ begins });
    const ending = new AbortController();
    const target = lake({ url: "s3://bucket/lake", endpoint: server.endpoint, instance: INSTANCE });
    const inMiddle = untilMiddle(server);
    const reason = new Error("Interrupted.");
    const ended = assert.rejects(async () => step(target, ending.signal), reason);
    await inMiddle;
    ending.abort(reason);
    await ended;
  }

  for (const [name, step] of Object.entries(STEPS))
    test(`ends with the reason of its signal: ${name}`, () => endsWithReason(step));

  test("ends so while it waits for its next attempt", async () => {
    const ending = new AbortController();
    const reason = new Error("Interrupted.");
    const sleep: Sleep = (_, signal) => {
      process.nextTick(() => ending.abort(reason));
      return sleepWithJitter(1_000_000, signal);
    };
    const nobody = { endpoint: "http://127.0.0.1:9" };
    const bucket = { bucket: "bucket", prefix: "" } as const;
    await using store = await openS3Store(bucket, nobody, ending.signal, { sleep });
    await assert.rejects(store.get("x"), reason);
  });

  test("ends so in the middle of an answer, and leaves no file", async () => {
    const file = join(folder, "half");
    const download = ofStore((store) => store.download("x", file, contentOf(TEXT)));
    const isBegun = () => until("there is a file", () => existsSync(file), { everyMs: 0 });
    await endsWithReason(download, isBegun, true);
    assert.ok(!existsSync(file));
  });
});
