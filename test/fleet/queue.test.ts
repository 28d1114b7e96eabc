import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { PG_BOSS } from "../../src/fleet/database.ts";
import { readFleet } from "../../src/fleet/fleet.ts";
import { openQueue } from "../../src/fleet/queue.ts";
import { program } from "../cli/running.ts";
import { failsWith } from "../failing.ts";
import { temporaryFolder } from "../folders.ts";
import { silentServer, WELCOME } from "../targets/postgres/silent-server.ts";
import { nodeWithout } from "../without-package.ts";

const NORTH = { name: "north", url: "https://north.example.com", tokenEnv: "TOKEN" };
/** Nobody listens there. */
const NOWHERE = "postgres://fleet@127.0.0.1:1/fleet";

async function fleetFile(t: TestContext, spec: object): Promise<string> {
  const files = { "fleet.json": JSON.stringify({ instances: [NORTH], ...spec }) };
  return join(await temporaryFolder(t, files), "fleet.json");
}

async function refusal(t: TestContext, code: Parameters<typeof failsWith>[0], spec: object): Promise<string> {
  const fleet = await readFleet("/", await fleetFile(t, spec));
  const { message } = await failsWith(code, openQueue(fleet, { role: "caller", onProblem: () => {} }));
  return message;
}

test("without a database, the queue says what it needs and how to do without it, wherever that is pasted", async (t) => {
  const file = await fleetFile(t, {});
  const fleet = await readFleet(dirname(file), "fleet.json");
  const opening = openQueue(fleet, { role: "caller", onProblem: () => {} });
  const { message } = await failsWith("config.invalid", opening);
  assert.match(message, /^fleet\.json: `postgres` is missing: /);
  assert.ok(message.endsWith(`"content-warehouse run --instance NAME --fleet ${file}".`), message);
});

test("a database that does not answer is told with its address, and may be tried again", async (t) => {
  const message = await refusal(t, "queue.unavailable", { postgres: NOWHERE });
  assert.match(
    message,
    /^The fleet's database postgres:\/\/fleet@127\.0\.0\.1:1\/fleet cannot be used: .*ECONNREFUSED.*; start PostgreSQL/,
  );
});

for (const [what, answers] of [
  ["from the start", []],
  ["after connecting", [WELCOME]],
] as const) {
  test(`a database that says nothing ${what} may be tried again`, async (t) => {
    const { address: postgres } = await silentServer(t, answers);
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const minutes = setInterval(() => t.mock.timers.tick(60_000), 5);
    t.after(() => clearInterval(minutes));
    const file = await fleetFile(t, { postgres, instances: { table: "fleet_instances" } });
    await failsWith("queue.unavailable", readFleet("/", file));
    await refusal(t, "queue.unavailable", { postgres });
  });
}

test("a schedule that cron does not know is told before anything else", async (t) => {
  const message = await refusal(t, "config.invalid", {
    postgres: NOWHERE,
    instances: [{ ...NORTH, schedule: "0 25 * * *" }],
  });
  assert.match(
    message,
    /fleet\.json: instances\[0\]\.schedule: expected fields of cron, found "0 25 \* \* \*"/,
  );
});

test("without pg-boss, the command says how to install it", async (t) => {
  const file = await fleetFile(t, { postgres: NOWHERE });
  const { code, stdout, stderr } = await program(["fleet", "status", "--fleet", file], {
    node: nodeWithout("pg-boss"),
  });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.ok(stderr.includes(`npm install --global ${PG_BOSS}`), stderr);
});

test("a table of instances that cannot be read now may be read later", async (t) => {
  const file = await fleetFile(t, { postgres: NOWHERE, instances: { table: "fleet_instances" } });
  await failsWith("queue.unavailable", readFleet("/", file));
});
