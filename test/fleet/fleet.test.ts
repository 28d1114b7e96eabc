import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import { type Fleet, findInstance, mostAtOnce, namedInstance, readFleet } from "../../src/fleet/fleet.ts";
import { temporaryFolder } from "../folders.ts";

const NORTH = { name: "north", url: "https://north.example.com", tokenEnv: "NORTH_TOKEN" };
const SOUTH = { name: "south", url: "https://south.example.com/tenants/s", tokenFile: "tokens/south" };
const FILE = "fleet.json";

function folderWith(t: TestContext, spec: unknown): Promise<string> {
  return temporaryFolder(t, { [FILE]: JSON.stringify(spec) });
}

async function fleetOf(t: TestContext, spec: unknown): Promise<Fleet> {
  return readFleet(await folderWith(t, spec), FILE);
}

/** The lines of the refusal, without what all of them begin with. */
async function faultsOf(t: TestContext, spec: unknown): Promise<string[]> {
  const error = await fleetOf(t, spec).then(
    () => assert.fail("nothing was refused"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof WarehouseError);
  assert.equal(error.code, "config.invalid");
  const lines = error.message.split("\n");
  return (lines.length === 1 ? lines : lines.slice(1)).map((line) => line.trim().replace("fleet.json: ", ""));
}

test("an instance takes from the fleet what it does not say itself, and paths go from the fleet's folder", async (t) => {
  const folder = await folderWith(t, {
    config: "shared.json",
    memoryMb: 512,
    warehouses: "out",
    instances: [NORTH, { ...SOUTH, config: "south.json", memoryMb: 2048, warehouse: "/srv/south" }],
  });
  const { instances, ...fleet } = await readFleet(folder, FILE);
  assert.deepEqual(fleet, {
    file: FILE,
    path: join(folder, FILE),
    folder,
    postgres: null,
    hostRatePerSecond: null,
    hostConcurrency: null,
    retries: 5,
    retryDelaySeconds: 60,
    heartbeatSeconds: 60,
  });
  assert.deepEqual(instances, [
    {
      name: "north",
      place: "fleet.json: instances[0]",
      url: "https://north.example.com",
      host: "north.example.com",
      token: { variable: "NORTH_TOKEN" },
      config: join(folder, "shared.json"),
      pipeline: "nightly",
      schedule: null,
      warehouse: join(folder, "out/north"),
      memoryMb: 512,
    },
    {
      name: "south",
      place: "fleet.json: instances[1]",
      url: "https://south.example.com/tenants/s",
      host: "south.example.com",
      token: { file: join(folder, "tokens/south") },
      config: join(folder, "south.json"),
      pipeline: "nightly",
      schedule: null,
      warehouse: "/srv/south",
      memoryMb: 2048,
    },
  ]);
});

test("a fleet file may name its JSON Schema, and keeps its meaning", async (t) => {
  const $schema = "./node_modules/content-warehouse/fleet.schema.json";
  const fleet = await fleetOf(t, { $schema, instances: [NORTH] });
  assert.equal(fleet.instances.length, 1);
  assert.ok(!("$schema" in fleet));
});

suite("a fleet file is refused with all that is wrong with it:", () => {
  const cases: Readonly<Record<string, readonly [spec: unknown, faults: readonly RegExp[]]>> = {
    "no list": [{}, [/^`instances`: expected a list of at least one instance, or .*, found nothing\.$/]],
    "a table that is none": [
      { instances: { table: "a; DROP TABLE b" }, postgres: "postgres://db/f" },
      [/found an object/],
    ],
    "a table without a database": [
      { instances: { table: "fleet_instances" } },
      [/beside `postgres`, found an object/],
    ],
    "an empty list": [{ instances: [] }, [/found an empty list/]],
    "a name that is no folder's": [
      { instances: [{ ...NORTH, name: "North/1" }] },
      [/^`instances\[0\]\.name`: expected a name of lower-case letters.*found "North\/1"\.$/],
    ],
    "a name and a warehouse twice": [
      {
        instances: [
          { ...NORTH, warehouse: "w" },
          { ...NORTH, warehouse: "w" },
        ],
      },
      [
        /^`instances\[1\]\.name`: .*found "north", which `instances\[0\]` has\.$/,
        /^`instances\[1\]\.warehouse`: /,
      ],
    ],
    "no token and two of them": [
      {
        instances: [
          { ...NORTH, tokenEnv: undefined },
          { ...SOUTH, tokenEnv: "SOUTH" },
        ],
      },
      [
        /^`instances\[0\]`: expected `tokenFile` or `tokenEnv`.*found neither\.$/,
        /^`instances\[1\]`: .*found both\.$/,
      ],
    ],
    "a token itself": [
      { instances: [{ ...NORTH, token: "s3cret" }] },
      [/^`instances\[0\]\.token` is not a setting; there are name, url, tokenFile, /],
    ],
    "an address that is none, a schedule that is none, and a misspelled setting": [
      { instances: [{ ...NORTH, url: "north", schedule: "nightly" }], hostRatePerSecnd: 1 },
      [
        /`instances\[0\]\.schedule`: expected five fields of cron/,
        /did you mean `hostRatePerSecond`/,
        /`instances\[0\]\.url`/,
      ],
    ],
    "less memory than a run of the sample takes": [
      { instances: [{ ...NORTH, memoryMb: 447 }], memoryMb: 256 },
      [
        /^`instances\[0\]\.memoryMb`: expected megabytes, a whole number from 448, found 447\.$/,
        /^`memoryMb`: expected megabytes, a whole number from 448, found 256\.$/,
      ],
    ],
    "an address of the database with a password": [
      { instances: [NORTH], postgres: "postgres://fleet:hunter2@db/fleet" },
      [/^`postgres`: a password does not belong in a file; set PGPASSWORD/],
    ],
    "an address with a password that nothing can read": [
      { instances: [NORTH], postgres: "postgres://fleet:hunter/2@db/fleet" },
      [/^`postgres`: expected an address such as postgres:\/\//],
    ],
    "an address with a password that reads as a port": [
      { instances: [NORTH], postgres: "postgres://fleet:123/hunter2@db/fleet" },
      [/^`postgres`: expected an address such as postgres:\/\//],
    ],
    "an address with a password and no host": [
      { instances: [NORTH], postgres: "postgres://fleet:hunter2@/fleet" },
      [/^`postgres`: a password does not belong in a file; set PGPASSWORD/],
    ],
    "a token in the place of its variable's name": [
      { instances: [{ ...NORTH, tokenEnv: "s3cret-1" }] },
      [
        /^`instances\[0\]\.tokenEnv`: expected the name of a variable, such as NORTH_TOKEN, found something else\.$/,
      ],
    ],
    "a database that is none": [
      { instances: [NORTH], postgres: "mysql://fleet:hunter2@db/fleet" },
      [/^`postgres`: expected an address such as postgres:\/\//],
    ],
  };
  for (const [name, [spec, faults]] of Object.entries(cases)) {
    test(name, async (t) => {
      const found = await faultsOf(t, spec);
      assert.equal(found.length, faults.length, found.join("\n"));
      for (const [index, fault] of faults.entries()) assert.match(found[index] ?? "", fault);
      assert.doesNotMatch(found.join(""), /hunter|s3cret/);
    });
  }
});

test("an instance that is not there is told with the nearest name", async (t) => {
  const fleet = await fleetOf(t, { instances: [NORTH, SOUTH] });
  assert.throws(
    () => findInstance(fleet, "nroth"),
    /There is no instance "nroth" in fleet\.json\. The nearest is "north"/,
  );
});

test("a variable that is not set is told by its setting alone, since the token itself may stand there", async (t) => {
  const fleet = await fleetOf(t, { instances: [{ ...NORTH, tokenEnv: "s3cret1" }] });
  assert.throws(() => namedInstance(fleet, findInstance(fleet, "north"), { s3cret1: " " }), {
    code: "config.invalid",
    message:
      /^fleet\.json: instances\[0\]\.tokenEnv: the variable that it names is not set; set it to the token\.$/,
  });
});

test("the address of a database may leave its host to a parameter", async (t) => {
  const postgres = "postgres://fleet@/fleet?host=/run/postgresql";
  assert.equal((await fleetOf(t, { instances: [NORTH], postgres })).postgres, postgres);
});

suite("the shares of a host's rate add up to no more than it, with as many runs as there may be at once:", () => {
  const tenants = ["a", "b", "c", "d", "e"].map((name) => ({
    ...NORTH,
    name,
    url: `https://all.example.com/${name}`,
  }));
  const cases = [
    { hostConcurrency: undefined, atOnce: 5 },
    { hostConcurrency: 2, atOnce: 2 },
    { hostConcurrency: 9, atOnce: 5 },
  ];
  for (const { hostConcurrency, atOnce } of cases) {
    test(`hostConcurrency ${hostConcurrency}`, async (t) => {
      const fleet = await fleetOf(t, {
        hostRatePerSecond: 10,
        hostConcurrency,
        instances: [...tenants, SOUTH],
      });
      const most = mostAtOnce(fleet, "all.example.com");
      assert.equal(most, atOnce);
      const shares = fleet.instances.map(
        (each) => namedInstance(fleet, each, { NORTH_TOKEN: "t" }).mostPerSecond,
      );
      assert.deepEqual(shares, [...tenants.map(() => 10 / atOnce), 10]);
    });
  }
});
