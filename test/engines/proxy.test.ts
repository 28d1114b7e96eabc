/** The service and a bucket behind a real proxy. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { type Outcome, program } from "../cli/running.ts";
import { CANARY } from "../run/canary.ts";
import { temporaryFolder, treeOf } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { startS3 } from "./s3-server.ts";
import { CA, PASSWORD, serveTls, startTinyproxy, type Tinyproxy, USER } from "./tinyproxy.ts";

const PIPELINE = packagePath("test/run/parquet-pipeline.ts");
const WITHOUT_WAITING = { outageMinutes: 0, details: "none" };

interface World {
  readonly proxy: Tinyproxy;
  readonly service: Scripted;
  /** Of the service: `https://localhost:PORT`. */
  readonly url: string;
  readonly cwd: string;
}

async function world(t: TestContext): Promise<World> {
  const service = await Scripted.start(t, itemsOf(3));
  const [proxy, url, cwd] = await Promise.all([
    startTinyproxy(t),
    serveTls(t, service.url),
    temporaryFolder(t),
  ]);
  return { proxy, service, url, cwd };
}

interface Given {
  readonly settings?: object;
  readonly env?: Readonly<Record<string, string>>;
}

/** A command in the world's folder; what it says shows no secret. */
async function command(
  { url, cwd }: World,
  name: string,
  { settings = {}, env = {} }: Given,
): Promise<Outcome> {
  const file = JSON.stringify({ url, ...WITHOUT_WAITING, ...settings });
  await writeFile(join(cwd, "content-warehouse.config.json"), file);
  const variables = { CONTENT_API_TOKEN: CANARY, NODE_EXTRA_CA_CERTS: CA, ...env };
  const args = [name, PIPELINE, ...(name === "run" ? ["--debug"] : ["--format", "json"])];
  const outcome = await program(args, { cwd, env: variables });
  for (const text of [outcome.stdout, outcome.stderr]) assertNoSecret(text);
  return outcome;
}

const SECRETS = [CANARY, PASSWORD, Buffer.from(`${USER}:${PASSWORD}`).toString("base64")];

function assertNoSecret(text: string): void {
  for (const secret of SECRETS) assert.ok(!text.includes(secret), `a secret shows in ${text}`);
}

test("a run goes through the proxy, which sees neither token nor content, and its password is in no file", async (t) => {
  const at = await world(t);
  const { proxy, service, url, cwd } = at;
  const ran = await command(at, "run", { settings: { proxy: proxy.withPassword } });
  assert.equal(ran.code, 0, ran.stderr);
  assert.ok(service.questions.length > 0);
  assert.deepEqual(new Set(await proxy.asked()), new Set([new URL(url).host]));
  assertNoSecret(await proxy.log());
  for (const path of await treeOf(join(cwd, "warehouse/runs"))) {
    if (path.endsWith("/")) continue;
    assertNoSecret((await readFile(join(cwd, "warehouse/runs", path))).toString("latin1"));
  }
});

test("check reaches the service through the proxy, and says so", async (t) => {
  const at = await world(t);
  const { proxy } = at;
  const checked = await command(at, "check", { settings: { proxy: proxy.withPassword } });
  assert.equal(checked.code, 0, checked.stdout);
  assert.ok(found(checked).service?.endsWith(`through the proxy ${proxy.host}`), checked.stdout);
});

test("what NO_PROXY names is reached directly, and so is this machine where HTTPS_PROXY alone is set", async (t) => {
  const at = await world(t);
  const { proxy } = at;
  const { withPassword } = proxy;
  const named = { settings: { proxy: withPassword }, env: { NO_PROXY: "example.com, localhost" } };
  for (const given of [named, { env: { HTTPS_PROXY: withPassword } }]) {
    const checked = await command(at, "check", given);
    assert.equal(checked.code, 0, checked.stdout);
    assert.doesNotMatch(found(checked).service ?? "", /proxy/);
  }
  assert.deepEqual(await proxy.asked(), []);
});

test("a proxy that is not there, or opens no way, is named with what to do", async (t) => {
  const at = await world(t);
  const { proxy } = at;
  const { url, host, withPassword } = proxy;
  const cases: readonly [Record<string, string>, number, RegExp][] = [
    [
      { HTTPS_PROXY: url },
      2,
      /^The proxy HOST requires another user name and password \(407\).* HTTPS_PROXY/,
    ],
    [
      { HTTPS_PROXY: withPassword },
      21,
      /^The proxy HOST cannot reach content\.invalid \(500\); check the URL \(CONTENT_API_URL\)/,
    ],
    [
      { HTTPS_PROXY: withPassword, CONTENT_API_URL: "https://refused.example" },
      2,
      /^The proxy HOST refuses to connect to refused\.example \(403\); .* NO_PROXY\.$/,
    ],
    [
      { HTTPS_PROXY: "http://night:CANARY-PW-7d30af91@127.0.0.1:9" },
      21,
      /^The proxy 127\.0\.0\.1:9 cannot be reached \(ECONNREFUSED\); check the URL \(HTTPS_PROXY\) and the network, and whether the proxy is up\.$/,
    ],
  ];
  for (const [env, code, sentence] of cases) {
    const checked = await command(at, "check", {
      env: { CONTENT_API_URL: "https://content.invalid", ...env },
    });
    assert.equal(checked.code, code, checked.stdout);
    assert.match(found(checked).service ?? "", new RegExp(sentence.source.replace("HOST", host)));
  }
  assert.ok(!(await proxy.log()).includes(CANARY));
});

function found({ stdout }: Outcome): Partial<Record<string, string>> {
  const { checks } = JSON.parse(stdout) as { checks: readonly { check: string; detail: string }[] };
  return Object.fromEntries(checks.map(({ check, detail }) => [check, detail]));
}

test("a lake in a bucket is written through the proxy, and a bucket that it refuses is told", async (t) => {
  await using s3 = await startS3();
  const at = await world(t);
  const { proxy, url } = at;
  const endpoint = await serveTls(t, s3.endpoint);
  const lake = { type: "lake", url: `s3://${s3.bucket}/lake`, instance: "main", endpoint };
  const settings = { proxy: proxy.withPassword, targets: [lake] };
  const ran = await command(at, "run", { settings, env: s3.env });
  assert.equal(ran.code, 0, ran.stderr);
  assert.deepEqual(new Set(await proxy.asked()), new Set([url, endpoint].map((each) => new URL(each).host)));
  const refused = { ...lake, endpoint: "https://refused.example" };
  const checked = await command(at, "check", { settings: { ...settings, targets: [refused] }, env: s3.env });
  assert.equal(checked.code, 26, checked.stdout);
  const sentence = `The connection to https://refused.example through the proxy ${proxy.host} for s3://`;
  assert.ok(checked.stdout.includes(sentence), checked.stdout);
});
