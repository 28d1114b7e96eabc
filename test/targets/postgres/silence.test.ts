import assert from "node:assert/strict";
import { once } from "node:events";
import { suite, test } from "node:test";
import { WarehouseError } from "../../../src/common/errors.ts";
import type { DeliveredRun, Target } from "../../../src/pipeline.ts";
import { postgres } from "../../../src/targets/postgres/postgres.ts";
import { failsWith } from "../../failing.ts";
import { COPY_BEGINS, DONE, NO_ROWS, silentServer, TAKEN, WELCOME } from "./silent-server.ts";

const QUIET = new AbortController().signal;
const run = (signal: AbortSignal) => ({ signal, tables: [], instance: { id: null, origin: "" } });

suite("a PostgreSQL that says nothing", () => {
  for (const [what, answers] of [
    ["from the start", []],
    ["after connecting", [WELCOME, DONE]],
  ] as const) {
    for (const [call, ask] of Object.entries<(target: Target, signal: AbortSignal) => Promise<unknown>>({
      last: (target, signal) => target.last(null, signal),
      check: async (target, signal) => target.check?.(signal, []),
      stage: (target, signal) => target.stage(run(signal) as unknown as DeliveredRun),
    })) {
      test(`${what}: ${call} ends with the signal, and so does the connection`, async (t) => {
        const { address, asked } = await silentServer(t, answers);
        const stop = new AbortController();
        const asking = ask(postgres({ url: address }), stop.signal);
        const closed = once(await asked, "close");
        const reason = new WarehouseError("run.terminated", "Terminated; nothing was published.");
        stop.abort(reason);
        await assert.rejects(asking, (thrown) => thrown === reason);
        (await asked).end();
        await closed;
      });
    }

    test(`${what}: is told as one that may answer later`, async (t) => {
      t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
      const { address, asked } = await silentServer(t, answers);
      const asking = failsWith("target.unavailable", postgres({ url: address }).last(null, QUIET));
      await asked;
      t.mock.timers.tick(answers.length === 0 ? 30_000 : 60_000);
      const why = answers.length === 0 ? "timeout expired" : "it has not answered for 60 s";
      assert.match(
        (await asking).message,
        new RegExp(
          `^PostgreSQL at 127\\.0\\.0\\.1:\\d+/reports failed: ${why}; check that it runs and can be reached`,
        ),
      );
    });
  }

  test("in mid-copy: is waited for as long as it takes rows, and not half an hour more", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    const answers = [WELCOME, DONE, DONE, TAKEN, DONE, NO_ROWS, DONE, DONE, COPY_BEGINS];
    const { address } = await silentServer(t, answers);
    let tookAll = false;
    async function* cells() {
      for (const row of [1, 2, 3]) {
        yield [row];
        t.mock.timers.tick(14 * 60_000);
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      }
      tookAll = true;
      t.mock.timers.tick(30 * 60_000);
    }
    const columns = [{ name: "n", type: "integer" }];
    const table = { name: "numbers", comment: "", columns, key: ["n"], references: [] };
    const delivered = { ...run(QUIET), tables: [{ table, cells }], onProgress: () => {} };
    const staging = postgres({ url: address }).stage(delivered as unknown as DeliveredRun);
    const { message } = await failsWith("target.unavailable", staging);
    assert.match(message, /failed: it has not answered for 900 s; check that it runs/);
    assert.ok(tookAll);
  });

  test("is not waited for once all was answered", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    const { address, asked } = await silentServer(t, [WELCOME, DONE, NO_ROWS]);
    const asking = postgres({ url: address }).last(null, QUIET);
    await asked;
    t.mock.timers.tick(60_000);
    assert.equal(await asking, null);
  });
});
