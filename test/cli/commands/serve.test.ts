import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { request } from "node:http";
import { test } from "node:test";
import { few } from "../../long.ts";
import { temporaryFolder } from "../../run/running.ts";
import { until } from "../../until.ts";
import { type Started, start } from "../running.ts";

function serve(args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  return start(["serve", ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
}

/** What it says first, up to the last line of it. */
async function introduction({ said, ended }: Started): Promise<string> {
  await until("it says how to stop it", () => said.stdout.includes("Ctrl-C"), { ended });
  return said.stdout;
}

/** Ends it with a signal, which must be cleanly. */
async function stop({ child, ended }: Started, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  child.kill(signal);
  const { code, signal: killedBy } = await ended;
  assert.deepEqual([code, killedBy], [0, null]);
}

for (const signal of few(["SIGTERM", "SIGINT"] as const, 1)) {
  test(`serves the sample set, says how to ask, and stops cleanly on ${signal}`, async (t) => {
    const started = serve(["--port", "0", "--max-per-page", "7"]);
    t.after(() => started.child.kill("SIGKILL"));
    const text = await introduction(started);
    const [, token, url] = /curl -u (\S+): '(http:\S+)\/api\/v1\/content/.exec(text) ?? [];
    assert.ok(url?.startsWith("http://127.0.0.1:"));
    const answer = await fetch(`${url}/api/v1/content?per_page=50`, {
      headers: { authorization: `Basic ${Buffer.from(`${token}:`).toString("base64")}` },
    });
    const body = (await answer.json()) as { count: number };
    assert.equal(body.count, 7);
    await stop(started, signal);
  });
}

test("serves the sample a night later, stops though an answer is held back for long, and leaves no folder", async (t) => {
  const temporary = await temporaryFolder(t);
  const flags = ["--night", "2", "--port", "0", "--latency", "600000"];
  const started = serve(flags, { TMPDIR: temporary });
  t.after(() => started.child.kill("SIGKILL"));
  const text = await introduction(started);
  assert.match(text, /^Serving 499 items of .* from the sample's second night\n/);
  const [, url] = /Address +(http:\S+)/.exec(text) ?? [];
  // Who expects so is told when the request has arrived.
  const held = request(`${url}/api/v1/content`, { headers: { expect: "100-continue" } });
  const refused = assert.rejects(once(held, "response"));
  await once(held, "continue");
  held.end();
  await stop(started);
  await refused;
  assert.deepEqual(await readdir(temporary), []);
});
