import assert from "node:assert/strict";
import { chmod } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { DYNAMIC_COLUMN_NAMES } from "../../src/api/dynamic.ts";
import { warehouseFolder } from "../../src/cli/command.ts";
import { type ErrorCode, WarehouseError } from "../../src/common/errors.ts";
import { Secret } from "../../src/common/secret.ts";
import {
  type Config,
  type ConfigFlags,
  type ConfigInputs,
  type ConfigSpec,
  configFingerprint,
  defineConfig,
  loadConfig,
} from "../../src/config/config.ts";
import { configSpec, DATA_SETTINGS } from "../../src/config/config-spec.ts";
import { assertNoToken } from "../failing.ts";
import { temporaryFolder } from "../folders.ts";
import { CANARY } from "../run/canary.ts";

const ENV = { CONTENT_API_URL: "https://content.example.com", CONTENT_API_TOKEN: CANARY };
const JSON_FILE = "content-warehouse.config.json";
const HASH_KEY = "a key of thirty-two bytes or more";

function load(cwd: string, inputs: Partial<ConfigInputs> = {}): Promise<Config> {
  return loadConfig({ cwd, env: ENV, flags: {}, sampleBy: "--sample", ...inputs });
}

async function loadSpec(
  t: TestContext,
  spec: ConfigSpec,
  inputs: Partial<ConfigInputs> = {},
): Promise<Config> {
  return load(await temporaryFolder(t, { [JSON_FILE]: JSON.stringify(spec) }), inputs);
}

/** The message of the error that this ends with; it shows no token. */
async function refusal(code: ErrorCode, loading: Promise<unknown>): Promise<string> {
  const error = await loading.then(
    (value) => assert.fail(`nothing was refused: ${inspect(value)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof WarehouseError, inspect(error));
  assert.equal(error.code, code, error.message);
  assert.equal(error.exitCode, 2);
  assertNoToken(error);
  return error.message;
}

const { warehouse: _folder, ...SETTINGS } = configSpec.parse({});
/** Configuration without any file, flag or variable, except the source and the folder of the warehouse. */
const DEFAULTS = {
  ...SETTINGS,
  columns: DYNAMIC_COLUMN_NAMES,
  details: undefined,
  personalData: { policy: "drop", key: null },
  observe: { onFinish: null, metricsFile: null },
  reread: false,
  acceptShrink: false,
  acceptLost: false,
  acceptNewAddress: false,
  acceptPipeline: false,
  limit: null,
};

test("without a file, everything has its default", async (t) => {
  const cwd = await temporaryFolder(t);
  const { source, ...config } = await load(cwd);
  assert.deepEqual(config, { ...DEFAULTS, warehouse: join(cwd, "warehouse") });
  assert.ok(source.kind === "service");
  assert.equal(source.url.origin, "https://content.example.com");
  assert.equal(source.token.reveal(), CANARY);
  assertNoToken(source);
});

test("a JSON file says what it wants, the rest has its default", async (t) => {
  const given: ConfigSpec = {
    ignoreDestinations: ["Shop:Mail"],
    customFields: ["color"],
    columns: ["id", "custom_fields"],
    details: "all",
    perPage: 25,
    rereadDays: 3,
    concurrency: 2,
    ratePerSecond: 0.5,
    deadlineMinutes: 30,
    outageMinutes: 5,
    lookupMethod: "post",
    raw: false,
    personalFields: ["owner_team"],
    contract: "freeze",
    keepRuns: 30,
    maxShrinkPercent: 25,
    minShrink: 5,
  };
  const spec: ConfigSpec = {
    ...given,
    $schema: "./node_modules/content-warehouse/config.schema.json",
    url: "https://other.example.com/tenants/a",
    destinations: [{ name: "Website" }, { name: "Shop", platform: "Mail" }],
    personalData: { policy: "keep" },
    maxRejects: "1%",
    warehouse: "data/out",
  };
  const cwd = await temporaryFolder(t, { [JSON_FILE]: `\ufeff${JSON.stringify(spec)}` });
  const { source, ...config } = await load(cwd, { env: { CONTENT_API_TOKEN: CANARY, CONTENT_API_URL: " " } });
  assert.deepEqual(config, {
    ...DEFAULTS,
    ...given,
    maxRejects: { items: 0, share: 0.01 },
    destinations: [
      { name: "Website", platform: "External" },
      { name: "Shop", platform: "Mail" },
    ],
    personalData: { policy: "keep", key: null },
    warehouse: join(cwd, "data/out"),
  });
  assert.ok(source.kind === "service" && source.url.prefix === "/tenants/a");
});

test("a TypeScript file is imported as it is", async (t) => {
  const text =
    "interface Own { perPage: number }\nconst own: Own = { perPage: 7 };\nexport default own satisfies Own;\n";
  const cwd = await temporaryFolder(t, {
    "content-warehouse.config.ts": text,
    "other.config.mts": text.replace("7", "8"),
  });
  assert.equal((await load(cwd)).perPage, 7);
  assert.equal((await load(cwd, { flags: { config: "other.config.mts" } })).perPage, 8);
  assert.deepEqual(defineConfig({ perPage: 7 }), { perPage: 7 });
});

test("flags win over the environment, the environment over the file", async (t) => {
  const spec = { url: "https://file.example.com", warehouse: "from-file" };
  const urlOf = (config: Config) => (config.source.kind === "service" ? config.source.url.host : "");
  assert.equal(urlOf(await loadSpec(t, spec, { env: { CONTENT_API_TOKEN: "t" } })), "file.example.com");
  assert.equal(urlOf(await loadSpec(t, spec)), "content.example.com");
  const cwd = await temporaryFolder(t, { [JSON_FILE]: JSON.stringify(spec) });
  const flagged = await load(cwd, { flags: { url: "http://127.0.0.1:8080", warehouse: "from-flag" } });
  assert.equal(urlOf(flagged), "127.0.0.1:8080");
  assert.equal(flagged.warehouse, join(cwd, "from-flag"));
  await assert.rejects(load(cwd, { flags: { warehouse: "" } }), {
    code: "config.invalid",
    message: "`warehouse` is empty; give it the path of a folder, or leave it out.",
  });
});

test("the folder of the warehouse is named alike for all: flag, environment, file, ./warehouse", async (t) => {
  const cwd = await temporaryFolder(t, { [JSON_FILE]: '{"warehouse":"from-file"}' });
  const folderOf = (flags: ConfigFlags, env = {}) => warehouseFolder({ cwd, env, flags });
  const variable = { CONTENT_WAREHOUSE_DIR: "from-variable" };
  assert.equal(await folderOf({ warehouse: "from-flag" }, variable), join(cwd, "from-flag"));
  assert.equal(await folderOf({}, variable), join(cwd, "from-variable"));
  assert.equal(await folderOf({}, { CONTENT_WAREHOUSE_DIR: " " }), join(cwd, "from-file"));
  assert.equal(await folderOf({ sample: true }), join(cwd, "warehouse"));
  const { warehouse } = await load(cwd, { env: { ...ENV, ...variable } });
  assert.equal(warehouse, join(cwd, "from-variable"));
});

test("a limited run lies in ./first-look, or where its flag says, whatever folder is named for all runs", async (t) => {
  const cwd = await temporaryFolder(t, { [JSON_FILE]: '{"warehouse":"from-file"}' });
  const env = { ...ENV, CONTENT_WAREHOUSE_DIR: "from-variable" };
  const limited = await load(cwd, { env, flags: { limit: 5 } });
  assert.deepEqual([limited.limit, limited.warehouse], [5, join(cwd, "first-look")]);
  const named = await load(cwd, { env, flags: { limit: 5, warehouse: "from-flag" } });
  assert.equal(named.warehouse, join(cwd, "from-flag"));
  const full = await load(cwd);
  assert.notEqual(configFingerprint(limited), configFingerprint(full));
  for (const limit of [0, -1, 1.5, Number.NaN]) {
    const sentence = await refusal("config.invalid", load(cwd, { flags: { limit } }));
    assert.equal(sentence, `\`limit\` is ${limit}; give a whole number from 1.`);
  }
});

test("paths in a file go from its folder, wherever the program is started", async (t) => {
  const etc = await temporaryFolder(t, {
    "nightly.json": '{"warehouse":"warehouse","tokenFile":"token"}',
    token: ` ${CANARY}\n`,
  });
  await chmod(join(etc, "token"), 0o600);
  const config = await load(await temporaryFolder(t), {
    flags: { config: join(etc, "nightly.json") },
    env: { CONTENT_API_URL: "https://content.example.com" },
  });
  assert.equal(config.warehouse, join(etc, "warehouse"));
  assert.ok(config.source.kind === "service");
  assert.equal(config.source.token.reveal(), CANARY, "the space around a token is no part of it");
});

test("a missing service or token is refused, with what to set", async (t) => {
  const cwd = await temporaryFolder(t);
  const url = "https://content.example.com";
  for (const [env, says] of [
    [{}, /set CONTENT_API_URL and CONTENT_API_TOKEN, .* "content-warehouse init".*--sample/],
    [{ CONTENT_API_URL: "", CONTENT_API_TOKEN: "t" }, /set CONTENT_API_URL.*--sample/],
    ...[undefined, "", "  "].map(
      (token) =>
        [
          { CONTENT_API_URL: url, CONTENT_API_TOKEN: token },
          /set CONTENT_API_TOKEN, or `tokenFile`/,
        ] as const,
    ),
  ] as const)
    assert.match(await refusal("config.missing_service", load(cwd, { env })), says);
});

test("~/ in a path is the home folder, whoever names it, and ~name is refused", async (t) => {
  const home = join(homedir(), "never made");
  const env = { ...ENV, CONTENT_WAREHOUSE_DIR: "~/never made" };
  const settings = { warehouse: "~/never made", metricsFile: "~/never made/run.prom" };
  const { warehouse, observe } = await loadSpec(t, settings);
  assert.deepEqual([warehouse, observe.metricsFile], [home, join(home, "run.prom")]);
  const cwd = await temporaryFolder(t);
  assert.equal((await load(cwd, { env })).warehouse, home);
  assert.equal((await load(cwd, { flags: { warehouse: "~/never made" } })).warehouse, home);
  const missing = load(cwd, { flags: { config: "~/never made.json" } });
  assert.match(await refusal("config.invalid", missing), /There is no configuration file/);
  const says = /"~night" could be .*; write the path in full, or "\.\/~night\/x"\.$/;
  for (const name of ["warehouse", "metricsFile", "tokenFile"]) {
    const message = await refusal("config.invalid", loadSpec(t, { [name]: "~night/x" }));
    assert.match(message, says);
    assert.match(message, new RegExp(`\`${name}\``));
  }
  for (const inputs of [
    { env: { ...ENV, CONTENT_WAREHOUSE_DIR: "~night/x" } },
    { flags: { warehouse: "~night/x" } },
    { flags: { config: "~night/x" } },
  ])
    assert.match(await refusal("config.invalid", load(cwd, inputs)), says);
  const lake = { type: "lake", url: "file:///~/lake", instance: "north" } as const;
  assert.match(await refusal("config.invalid", loadSpec(t, { targets: [lake] })), /expected file:/);
});

test("the sample needs no service and reads no file that is not named", async (t) => {
  const cwd = await temporaryFolder(t, {
    [JSON_FILE]: '{"perPage":"broken"}',
    "sample.json": '{"perPage":5}',
  });
  const config = await load(cwd, { env: {}, flags: { sample: true } });
  assert.deepEqual(config.source, { kind: "sample" });
  assert.equal(config.perPage, "auto");
  assert.equal((await load(cwd, { env: {}, flags: { sample: true, config: "sample.json" } })).perPage, 5);
  const both = load(cwd, { flags: { sample: true, url: "https://content.example.com" } });
  assert.match(await refusal("config.invalid", both), /--sample and --url/);
});

const LAKE = { type: "lake", url: "file:///srv/lake", instance: "north" } as const;
const POSTGRES = { type: "postgres", url: "postgres://loader@db.example.com/reports" };

/** Targets that are wrong beside another one. */
const TARGETS: readonly (readonly [target: unknown, says: string])[] = [
  [{ ...LAKE, type: "lakes" }, "`targets[1].type`: expected 'lake' | 'postgres'"],
  [{ ...LAKE, instnce: "a" }, '`targets[1]`: Unrecognized key: "instnce" (did you mean "instance"?)'],
  [
    { ...LAKE, secretAccessKey: "s" },
    '`targets[1]`: Unrecognized key: "secretAccessKey"; credentials come from the environment or from separate files',
  ],
  [{ type: "postgres" }, "`targets[1].url`: expected string, found nothing"],
  [
    { ...POSTGRES, url: "https://db.example.com" },
    "`targets[1].url`: expected an address such as postgres://user@host/database",
  ],
  [
    { ...POSTGRES, url: "postgres://loader:hunter2@db.example.com/reports" },
    "`targets[1].url`: has a password in it: leave it out, and set PGPASSWORD or PGPASSFILE",
  ],
  [
    { ...POSTGRES, url: `${POSTGRES.url}\u200b` },
    "`targets[1].url`: expected an address such as postgres://user@host/database, found one with an invisible character: U+200B at the end",
  ],
  [
    { ...LAKE, url: "s3://bucket/lake\u200b" },
    "`targets[1]`: url: found one with an invisible character: U+200B at the end",
  ],
  [
    { ...LAKE, url: "lake" },
    '`targets[1]`: url: expected file:///folder, or s3://bucket/prefix with letters, digits, ".", "_", "=" and "-"; credentials come from the environment or the files of the AWS tools',
  ],
  [
    { ...LAKE, instance: "No name" },
    "`targets[1].instance`: expected a name of lower-case letters, digits and hyphens, 63 at most",
  ],
  [LAKE, '`targets`: two have the name "lake"; set a different `name` for each'],
];

/** Settings that are wrong, with what follows the name of the file. */
const WRONG: readonly (readonly [spec: unknown, says: string])[] = [
  ...[[], null, "x", 7].map((spec) => [spec, /^expected object, found \w+$/.source] as const),
  [{ url: "a.com" }, '`url`: expected an address such as https://content.example.com, found "a.com"'],
  [{ url: "http://a.com" }, '`url`: expected https (http is for this machine only), found "http://a.com"'],
  [
    { destinations: [{ name: "a", plattform: "b" }] },
    '`destinations[0]`: Unrecognized key: "plattform" (did you mean "platform"?)',
  ],
  [{ destinations: ["Web Portal"] }, '`destinations[0]`: expected { "name": "Web Portal" }, found a text'],
  [{ destinations: [{}] }, "`destinations[0].name`: expected string, found nothing"],
  [{ keepRuns: 0 }, "`keepRuns`: expected number to be >=1"],
  [{ perPage: "100" }, '`perPage`: expected a whole number from 1 to 1000, or "auto"'],
  [{ maxRejects: "101%" }, '`maxRejects`: expected a whole number, or a share such as "1%"'],
  ...["all", { policy: 1 }].map(
    (personalData) => [{ personalData }, '`personalData`: expected "drop", "hash" or "keep"'] as const,
  ),
  [
    { aliases: { a: "x", b: "x" } },
    '`aliases`: expected each name of the specification once, found "x" twice',
  ],
  [
    { aliases: { changed_at: "updated_at", id: "id" } },
    '`aliases`: no other name may stand for "updated_at", by which listings are compared; leave it out',
  ],
  [
    { personalFields: ["owner_team", "updated_at"] },
    '`personalFields[1]`: listings are compared by "updated_at", which is not personal; leave it out',
  ],
  [
    { columns: ["id", "titel"] },
    '`columns[1]`: there is no column "titel". The nearest is "title". If the service has one, add it to `aliases`: { "titel": "titel" }',
  ],
  [{ onFinish: "notify" }, "`onFinish`: expected a function, which a JSON file cannot have"],
  [
    { metricsFile: "{instance}.prom" },
    "`metricsFile`: set CONTENT_WAREHOUSE_INSTANCE, the name that `{instance}` stands for",
  ],
  [{ tokenfile: "x" }, 'Unrecognized key: "tokenfile" (did you mean "tokenFile"?)'],
  ...TARGETS.map(([target, says]) => {
    const first = target === LAKE ? LAKE : { ...LAKE, name: "first" };
    return [{ targets: [first, target] }, says] as const;
  }),
];

test("a setting that is wrong is told by its name, without what was found", async (t) => {
  for (const [spec, says] of WRONG) {
    const cwd = await temporaryFolder(t, { [JSON_FILE]: JSON.stringify(spec) });
    // A service that a wrong file does not name is not called missing: the file may mean to.
    const message = await refusal("config.invalid", load(cwd, { env: {} }));
    assert.ok(message.startsWith(`${JSON_FILE}: `) && message.endsWith("."), message);
    const found = message.slice(`${JSON_FILE}: `.length, -1);
    if (says.startsWith("^")) assert.match(found, new RegExp(says));
    else assert.ok(found.startsWith(says), `${found}, not ${says}`);
  }
});

test("a lake's instance may come from a variable, and where it does not, the variable is named", async (t) => {
  const { instance: _instance, ...shared } = LAKE;
  const named = (CONTENT_WAREHOUSE_INSTANCE?: string) =>
    loadSpec(t, { targets: [shared] }, { env: { ...ENV, CONTENT_WAREHOUSE_INSTANCE } });
  const missing = "lake: instance is missing: name it, or set CONTENT_WAREHOUSE_INSTANCE.";
  assert.equal(await refusal("config.invalid", named()), `${JSON_FILE}: \`targets[0]\`: ${missing}`);
  assert.equal((await named("north")).targets.length, 1);
  assert.match(await refusal("config.invalid", named("No name")), /`targets\[0\]`: lake: instance: expected/);
});

test("a metrics file is found from the folder of the configuration, and may have the name of the instance", async (t) => {
  const etc = await temporaryFolder(t, {
    "night.mts": 'export default { onFinish: () => {}, metricsFile: "night.prom" };',
    "shared.json": '{"metricsFile":"{instance}.prom"}',
  });
  const read = (config: string, more: Record<string, string> = {}) =>
    load(etc, { env: { ...ENV, ...more }, flags: { config: join(etc, config) } });
  const { onFinish, metricsFile } = (await read("night.mts")).observe;
  assert.equal(typeof onFinish, "function");
  assert.equal(metricsFile, join(etc, "night.prom"));
  const shared = await read("shared.json", { CONTENT_WAREHOUSE_INSTANCE: "north" });
  assert.equal(shared.observe.metricsFile, join(etc, "north.prom"));
});

test("a fault of any setting is said without words of the validator", async (t) => {
  const odd = [
    null,
    "",
    "\u0000",
    -1,
    1.5,
    true,
    [],
    [7],
    {},
    { a: 7 },
    ["Web Portal"],
    [{ type: "x" }],
    [{}],
  ];
  for (const name of Object.keys(configSpec.shape))
    for (const value of odd) {
      const cwd = await temporaryFolder(t, { [JSON_FILE]: JSON.stringify({ [name]: value }) });
      const message = await load(cwd).then(
        () => "",
        (thrown: Error) => thrown.message,
      );
      assert.doesNotMatch(message, /invalid|discriminator|received|too (?:small|big)/i, `${name}: ${value}`);
    }
});

test("all that is wrong in a file is told at once: its form, and where that is right, its meaning", async (t) => {
  for (const [spec, says] of [
    [
      { url: "http://example.com", perPage: 0, raw: 1, fruit: 2 },
      [
        "`url`: expected https",
        "`perPage`: expected",
        "`raw`: expected boolean",
        'Unrecognized key: "fruit".',
      ],
    ],
    [
      { columns: ["id", "titel"], personalFields: ["id"], targets: [] },
      ["`columns[1]`: ", "`personalFields[0]`: "],
    ],
  ] as const) {
    const cwd = await temporaryFolder(t, { [JSON_FILE]: JSON.stringify(spec) });
    const [first, ...lines] = (await refusal("config.invalid", load(cwd))).split("\n");
    assert.equal(first, `The configuration has ${says.length} faults:`);
    assert.deepEqual(
      lines.map((line, at) => line.slice(0, `  ${JSON_FILE}: ${says[at]}`.length)),
      says.map((each) => `  ${JSON_FILE}: ${each}`),
    );
  }
});

test("S2: a token in a configuration file is refused, whatever it is called, and not shown", async (t) => {
  for (const key of ["token", "apiToken", "CONTENT_API_TOKEN", "password", "clientSecret"]) {
    const cwd = await temporaryFolder(t, { [JSON_FILE]: JSON.stringify({ [key]: CANARY }) });
    assert.match(
      await refusal("config.invalid", load(cwd)),
      /Unrecognized key: .*; credentials come from the environment or from separate files\.$/,
    );
  }
});

test("S3: an address with credentials is refused without showing them", async (t) => {
  const url = `https://user:${CANARY}@content.example.com`;
  const cwd = await temporaryFolder(t, { [JSON_FILE]: JSON.stringify({ url }) });
  const env = { CONTENT_API_TOKEN: "t" };
  assert.match(
    await refusal("config.invalid", load(cwd, { env })),
    /^content-warehouse\.config\.json: `url`: .*CONTENT_API_TOKEN/,
  );
  const bare = await temporaryFolder(t);
  assert.match(await refusal("config.invalid", load(bare, { env, flags: { url } })), /^--url: /);
  assert.match(
    await refusal("config.invalid", load(bare, { env: { ...env, CONTENT_API_URL: url } })),
    /^CONTENT_API_URL: /,
  );
});

test("S2: a token file that others can read is refused, with what to run", async (t) => {
  const cwd = await temporaryFolder(t, { [JSON_FILE]: '{"tokenFile":"token"}', token: CANARY });
  const env = { CONTENT_API_URL: "https://content.example.com" };
  for (const mode of [0o644, 0o640, 0o604, 0o620, 0o601]) {
    await chmod(join(cwd, "token"), mode);
    const message = await refusal("config.invalid", load(cwd, { env }));
    assert.match(
      message,
      new RegExp(`\`tokenFile\`: expected .*with mode 0${mode.toString(8)}; run chmod 600`),
    );
  }
  for (const mode of [0o600, 0o400]) {
    await chmod(join(cwd, "token"), mode);
    assert.equal((await load(cwd, { env })).source.kind, "service");
  }
});

test("S9: a token that cannot be one, of a variable or a file, is refused without a word about it", async (t) => {
  const env = { CONTENT_API_URL: "https://content.example.com" };
  const none = await temporaryFolder(t, { [JSON_FILE]: '{"tokenFile":"token"}' });
  assert.match(
    await refusal("config.invalid", load(none, { env })),
    /`tokenFile`: there is no file .*token; put the API token into it/,
  );
  const says = "expected an API token, found something empty or with spaces, colons or control characters.";
  for (const token of [`${CANARY} x`, `${CANARY}:x`, `${CANARY}\u0000`, `${CANARY}\nx`, "", "\n"]) {
    const cwd = await temporaryFolder(t, { [JSON_FILE]: '{"tokenFile":"token"}', token });
    await chmod(join(cwd, "token"), 0o600);
    assert.equal(await refusal("config.invalid", load(cwd, { env })), `${JSON_FILE}: \`tokenFile\`: ${says}`);
    if (token.trim() === "") continue;
    const variable = load(cwd, { env: { ...ENV, CONTENT_API_TOKEN: token } });
    assert.equal(await refusal("config.invalid", variable), `CONTENT_API_TOKEN: ${says}`);
  }
});

test("S6: a run with unchecked certificates is refused", async (t) => {
  const env = { ...ENV, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  assert.match(
    await refusal("config.invalid", load(await temporaryFolder(t), { env })),
    /unset it.*NODE_EXTRA_CA_CERTS/,
  );
});

test("S23: hashing needs a key of 32 bytes from the environment", async (t) => {
  for (const personalData of ["hash", { policy: "hash" }] as const) {
    for (const key of [undefined, "", "too short"]) {
      const env = { ...ENV, CONTENT_WAREHOUSE_HASH_KEY: key };
      const message = await refusal("config.invalid", loadSpec(t, { personalData }, { env }));
      assert.match(message, /CONTENT_WAREHOUSE_HASH_KEY: expected a key of at least 32 bytes/);
      assert.ok(key === undefined || key === "" || !message.includes(key));
    }
    const env = { ...ENV, CONTENT_WAREHOUSE_HASH_KEY: HASH_KEY };
    const config = await loadSpec(t, { personalData }, { env });
    assert.equal(config.personalData.key?.reveal(), HASH_KEY);
    assert.ok(!inspect(config, { depth: Number.POSITIVE_INFINITY }).includes(HASH_KEY));
  }
});

test("a file that cannot be read is told by name and place, without its text", async (t) => {
  const broken = await temporaryFolder(t, { [JSON_FILE]: `{\n  "perPage": 5,\n  "tokenFile": ${CANARY}\n}` });
  assert.match(
    await refusal("config.invalid", load(broken)),
    /^content-warehouse\.config\.json is not JSON: look for/,
  );
  const cut = await temporaryFolder(t, { [JSON_FILE]: '{\n "perPage": 5' });
  assert.match(await refusal("config.invalid", load(cut)), /line 2, column 14/);
  for (const comment of ["// nightly", "/* nightly */", "# nightly"]) {
    const text = `{\n  "url": "https://content.example.com",\n  ${comment}\n  "perPage": 5\n}`;
    const noted = await temporaryFolder(t, { [JSON_FILE]: text });
    const says = /^content-warehouse\.config\.json has a comment at line 3, and JSON has none; remove it, or/;
    assert.match(await refusal("config.invalid", load(noted)), says);
  }
  for (const text of ["", " \n", "\ufeff"]) {
    const empty = await temporaryFolder(t, { [JSON_FILE]: text });
    assert.match(
      await refusal("config.invalid", load(empty)),
      /\.json is empty; write \{\} to use the defaults\.$/,
    );
  }
  const cwd = await temporaryFolder(t, {
    "a.ts": "export const x = 1;",
    "b.ts": "export default {",
    "c.yaml": "",
    "d.ts": "throw new Error('no\\nluck')",
  });
  const refused = (config: string) => refusal("config.invalid", load(cwd, { flags: { config } }));
  assert.match(await refused("a.ts"), /a\.ts exports no settings: write `export default defineConfig/);
  assert.match(await refused("b.ts"), /b\.ts cannot be imported/);
  assert.match(await refused("c.yaml"), /ends in \.ts, .* or \.json, found c\.yaml/);
  assert.equal(await refused("d.ts"), "d.ts cannot be imported: no luck.");
  assert.match(await refused("missing.json"), /There is no configuration file missing\.json/);
  const two = await temporaryFolder(t, {
    [JSON_FILE]: "{}",
    "content-warehouse.config.ts": "export default {};",
  });
  assert.match(await refusal("config.invalid", load(two)), /2 configuration files.*keep one/);
});

test("A21: a proxy comes from the setting, else from HTTPS_PROXY, and NO_PROXY names what goes without", async (t) => {
  const PROXY = "http://night:p%40ss@proxy.example.com:3128";
  const directly = [
    "*",
    "content.example.com",
    "a.b, .example.com",
    "*.example.com c",
    "example.com:443",
    "EXAMPLE.com.",
  ];
  const same = [
    ["https://[2001:db8::1]", "2001:db8:0:0:0:0:0:1"],
    ["https://[2001:db8::1]:8443", "[2001:0DB8:0::0001]:8443"],
    ["https://xn--bcher-kva.example", "B\u00fccher.example"],
    ["https://b\u00fccher.example", "xn--bcher-kva.example"],
    ["https://10.1.2.3", "10.1.2.3"],
  ] as const;
  const useless = ["10.0.0.0/8", "content.*", "content.example.com;b", "https://content.example.com"];
  const proxied = [...useless, "", "example.com:80", "tent.example.com", "a.content.example.com", "example"];
  const cases: readonly (readonly [spec: ConfigSpec, env: Readonly<Record<string, string>>, by: boolean])[] =
    [
      [{ proxy: PROXY }, { HTTPS_PROXY: "http://other:1" }, true],
      [{}, { HTTPS_PROXY: PROXY }, true],
      [{}, { https_proxy: PROXY, HTTPS_PROXY: "http://other:1" }, true],
      [{}, { HTTPS_PROXY: PROXY, CONTENT_API_URL: "https://localhost" }, false],
      [{}, { HTTPS_PROXY: PROXY, CONTENT_API_URL: "http://[::1]:8080" }, false],
      [{}, { HTTP_PROXY: PROXY, ALL_PROXY: PROXY }, false],
      ...directly.map((NO_PROXY) => [{ proxy: PROXY }, { NO_PROXY }, false] as const),
      ...same.map(
        ([url, NO_PROXY]) => [{ proxy: PROXY }, { CONTENT_API_URL: url, NO_PROXY }, false] as const,
      ),
      ...proxied.map((NO_PROXY) => [{ proxy: PROXY }, { NO_PROXY }, true] as const),
    ];
  for (const [spec, env, by] of cases) {
    const { source } = await loadSpec(t, spec, { env: { ...ENV, ...env } });
    assert.ok(source.kind === "service");
    assert.ok(!inspect(source, { depth: 9, showHidden: true }).includes("p%40ss"));
    assert.deepEqual(
      [source.proxy?.host, ...source.secrets.map((secret) => secret.reveal())],
      by ? ["proxy.example.com:3128", CANARY, "night:p@ss"] : [undefined, CANARY],
      JSON.stringify([spec, env]),
    );
  }
});

test("a proxy of another kind, and an http:// service by a proxy, are refused without showing a password", async (t) => {
  for (const [proxy, url] of [
    ["socks5://night:CANARY-PW@proxy:1080", undefined],
    ["https://night:CANARY-PW@proxy:443", undefined],
    ["http://night:CANARY-PW%@proxy:3128", undefined],
    ["night:CANARY-PW@proxy", undefined],
    ["http://night:CANARY-PW@proxy:3128/x", undefined],
    ["http://night:CANARY-PW@proxy:3128?x=1", undefined],
    ["http://night:CANARY-PW@proxy:3128/#x", undefined],
    ["http://night:CANARY-PW@proxy:3128", "http://127.0.0.1:8080"],
  ] as const) {
    const named = { ...ENV, ...(url !== undefined && { CONTENT_API_URL: url }) };
    const variable = { ...named, HTTPS_PROXY: proxy };
    const messages = [
      await refusal("config.invalid", loadSpec(t, { proxy }, { env: named })),
      url === undefined ? await refusal("config.invalid", loadSpec(t, {}, { env: variable })) : "",
    ];
    for (const message of messages) assert.ok(!message.includes("CANARY-PW"), message);
    const expected = "expected an address such as http://proxy.example.com:3128";
    assert.ok(
      messages[0]?.includes(url === undefined ? expected : "add 127.0.0.1:8080 to NO_PROXY"),
      messages[0],
    );
    if (url === undefined) assert.match(messages[1] ?? "", /^HTTPS_PROXY: expected an address such as http:/);
  }
});

test("the fingerprint holds what decides the data, and nothing else", async (t) => {
  const base = await load(await temporaryFolder(t));
  assert.ok(base.source.kind === "service");
  const { url } = base.source;
  const same: Partial<Config>[] = [
    { observe: { onFinish: () => {}, metricsFile: "/m" } },
    { concurrency: 9, ratePerSecond: 3, lookupMethod: "post", warehouse: "/elsewhere" },
    { source: { ...base.source, token: new Secret("another") } },
  ];
  const hashed = (key: string) => ({ policy: "hash", key: new Secret(key) }) as const;
  const others: Partial<Config>[] = [
    { source: { kind: "sample" } },
    { source: { ...base.source, url: { ...url, prefix: "/a" } } },
    ...DATA_SETTINGS.flatMap((name) => (name === "personalData" ? [] : [{ [name]: "another" }])),
    ...[HASH_KEY, `${HASH_KEY}!`].map((key) => ({ personalData: hashed(key) })),
  ];
  const print = (changes: Partial<Config>) => configFingerprint({ ...base, ...changes });
  assert.match(print({}), /^[0-9a-f]{64}$/);
  for (const changes of same) assert.equal(print(changes), print({}));
  assert.equal(new Set([{}, ...others].map(print)).size, others.length + 1);
  assert.equal(print({ aliases: { a: "b", c: "d" } }), print({ aliases: { c: "d", a: "b" } }));
});
