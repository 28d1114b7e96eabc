/** docs/examples/notify-chat.ts, as its comment says. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { runPipeline } from "../../src/index.ts";
import { environment } from "../environment.ts";
import { CANARY, failsWith, SMALL, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { Endpoint, warningsIn } from "./observing.ts";

test("the chat has a line for each run: the verdict and the items, or why nothing is published", async (t) => {
  const chat = await Endpoint.start(t);
  const service = await Scripted.start(t, itemsOf(3));
  t.after(environment({ CHAT_URL: `${chat.url}/hooks/1` }));
  const warnings: string[] = [];
  const run = async (warehouse: string) =>
    runPipeline({
      pipeline: new URL(SMALL),
      config: packagePath("docs/examples/notify-chat.ts"),
      env: { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY },
      warehouse,
      log: warningsIn(warnings),
    });
  const warehouse = join(await temporaryFolder(t), "warehouse");
  const summary = await run(warehouse);
  service.script = () => ({ status: 401 });
  const error = await failsWith("source.credentials", run(warehouse));
  const texts = chat.posted.map(({ body }) => JSON.parse(body).text);
  assert.deepEqual(
    texts.map((text) => text.split("\n")[0]),
    [
      `🟢 small is complete: run ${summary.run}, 3 of 3 items`,
      `🔴 Nothing is published (exit code 20): ${error.message}`,
    ],
  );
  assert.ok(chat.posted.every(({ path }) => path === "/hooks/1"));
  assert.deepEqual(warnings, []);
  chat.status = 404;
  await failsWith("source.credentials", run(warehouse));
  assert.deepEqual(warnings, [
    "`onFinish` failed: the chat answered with 404; the run does not depend on it.",
  ]);
});
