/** Every step of a lake ends with its signal. */
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type LakeTarget, lake } from "../../../src/targets/lake/lake.ts";
import { environment } from "../../environment.ts";
import { temporaryFolder } from "../../folders.ts";
import { silentServer } from "../store/silent-server.ts";
import { INSTANCE } from "./deliver.ts";
import { makeRun } from "./runs.ts";

const last = { run: "000001-20261120T020000Z", sequence: 1 };
type Step = (target: LakeTarget, signal: AbortSignal, folder: string) => Promise<unknown> | undefined;
const STEPS: Readonly<Record<string, Step>> = {
  last: (target, signal) => target.last(null, signal),
  check: (target, signal) => target.check?.(signal, []),
  restore: (target, signal) => target.restore?.(last, "/nowhere", signal),
  manifest: (target, signal) => target.manifest?.(last, signal),
  open: (target, signal) => target.open(signal, ({ store }) => store.get("x")),
  stage: async (target, signal, folder) =>
    target.stage(await makeRun(folder, { sequence: 1, machine: "a", signal })),
};

suite("a step of a lake that waits for its store throws the reason of its signal", {
  timeout: 60_000,
}, () => {
  let restore: () => void;
  before(() => {
    restore = environment({ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" });
  });
  after(() => restore());

  for (const [name, step] of Object.entries(STEPS))
    test(name, async (t) => {
      await using server = await silentServer({ begins: false });
      const target = lake({ url: "s3://bucket/lake", endpoint: server.endpoint, instance: INSTANCE });
      const ending = new AbortController();
      const folder = await temporaryFolder(t);
      const heard = server.heard();
      const reason = new Error("Interrupted.");
      const ended = assert.rejects(async () => step(target, ending.signal, folder), reason);
      await heard;
      ending.abort(reason);
      await ended;
    });
});
