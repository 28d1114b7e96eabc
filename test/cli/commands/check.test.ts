import assert from "node:assert/strict";
import { chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { checkCommand } from "../../../src/cli/commands/check.ts";
import { type Clock, systemClock } from "../../../src/common/clock.ts";
import { type Log, silentLog } from "../../../src/common/log.ts";
import { check } from "../../../src/run/check.ts";
import { freeBytes } from "../../../src/warehouse/disk.ts";
import { sampleWarehouse } from "../../audit/sample.ts";
import { AS_ROOT } from "../../run/as-ordinary-user.ts";
import { CANARY, NIGHTLY, temporaryFolder, treeOf } from "../../run/running.ts";
import { item, itemsOf, Scripted } from "../../run/scripted.ts";
import { ran } from "../capture.ts";

interface Setup {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: { readonly sample?: true; readonly url?: string; readonly warehouse?: string };
  readonly freeBytes?: typeof freeBytes;
  readonly clock?: Clock;
  readonly log?: Log;
}

type CheckRow = Readonly<Record<"status" | "check" | "detail", string>>;

interface Found {
  readonly exitCode: number;
  readonly steps: readonly CheckRow[];
  /** The last of that name. */
  readonly step: (name: string) => CheckRow | undefined;
}

/** What a check finds with nothing configured but this. */
async function found(cwd: string, setup: Setup): Promise<Found> {
  const { answer, exitCode } = await check({
    inputs: { cwd, env: setup.env ?? {}, flags: setup.flags ?? {}, sampleBy: "--sample" },
    pipeline: NIGHTLY,
    threads: 1,
    nodeVersion: "24.0.0",
    clock: setup.clock ?? systemClock,
    logFor: () => setup.log ?? silentLog,
    signal: new AbortController().signal,
    freeBytes: setup.freeBytes ?? freeBytes,
  });
  const steps = (answer.sections[0]?.rows ?? []) as unknown as readonly CheckRow[];
  return { exitCode, steps, step: (name) => steps.findLast((each) => each.check === name) };
}

function at(service: { readonly url: string }): Setup {
  return { env: { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY } };
}

/** The command, as to a terminal of 80 columns. */
function command(cwd: string, args: readonly string[], env: Setup["env"] = {}) {
  return ran(checkCommand, args, { env, cwd, columns: 80 });
}

test("all that a run of the sample needs is ok, one line each, and the folder stays as it was", async (t) => {
  const cwd = await temporaryFolder(t);
  const { text, exitCode } = await command(cwd, ["--sample"]);
  assert.equal(exitCode, 0);
  assert.match(text, /^A run can start\.\n\n {2}ok {2}configuration +no file; options/);
  assert.deepEqual(
    Array.from(text.matchAll(/^ {2}ok {2}([a-z]+(?: before)?) /gm), ([, name]) => name),
    ["configuration", "pipeline", "folder", "lock", "run before", "disk", "service", "destinations"],
  );
  assert.match(text, /^ {2}ok {2}service +500 items, \d+\.\d s$/m);
  assert.deepEqual(await treeOf(cwd), []);
});

test("F24: root is warned of a warehouse that belongs to somebody else", AS_ROOT, async (t) => {
  const cwd = await temporaryFolder(t);
  await mkdir(join(cwd, "warehouse"));
  await chown(join(cwd, "warehouse"), 65534, 65534);
  const { steps, exitCode } = await found(cwd, { flags: { sample: true } });
  const warning = steps.find(({ status }) => status === "warning")?.detail;
  assert.equal(exitCode, 0);
  assert.match(warning ?? "", /warehouse belongs to user 65534, and this is root, .* run as user 65534, or/);
});

test("an entry of NO_PROXY that can match nothing is a warning", async (t) => {
  const useless = ["10.0.0.0/8", "10.*", "a.example;b.example", "192.168.", "http://a.example"];
  const env = { NO_PROXY: ["localhost, .example.com *.a.example:443 [::1] *", ...useless].join(",") };
  const { steps, exitCode } = await found(await temporaryFolder(t), { env, flags: { sample: true } });
  const warnings = steps.filter(({ status }) => status === "warning").map(({ detail }) => detail);
  assert.equal(exitCode, 0);
  assert.deepEqual(
    warnings.map((detail) => /^NO_PROXY: "(.*)" matches no host; list hosts/.exec(detail)?.[1]),
    useless,
  );
});

test("the service is asked for one item, for full items and for each destination", async (t) => {
  const cwd = await temporaryFolder(t);
  const service = await Scripted.start(t, itemsOf(30));
  await writeFile(
    join(cwd, "content-warehouse.config.json"),
    JSON.stringify({ destinations: [{ name: "Website" }, { name: "Web CMS" }] }),
  );
  service.script = ({ kind }) =>
    kind === "destinations"
      ? { body: [{ id: "d1", identification: "Web CMS", platform: "External", settings: [] }] }
      : undefined;
  const { step, exitCode } = await found(cwd, at(service));
  assert.deepEqual(
    service.questions.map(({ kind, perPage }) => [kind, perPage]),
    [
      ["list", 1],
      ["list", 25],
      ["destinations", 0],
      ["destinations", 0],
      // Names that items have, since one is missing.
      ["list", 100],
    ],
  );
  assert.deepEqual([step("destinations")?.status, exitCode], ["failed", 2]);
  assert.match(
    step("destinations")?.detail ?? "",
    /^There is no destination "Website" on platform "External"/,
  );
  assert.equal(step("configuration")?.detail, "content-warehouse.config.json");
});

test("the names that items show are listed if no destination is configured, or one is gone or misspelled", async (t) => {
  const cwd = await temporaryFolder(t);
  const shown = ["Web CMS", "Partner Portal"].map((name, i) =>
    item(`c-${i}`, i, { publish_destination: name }),
  );
  const service = await Scripted.start(t, shown);
  const seen = " (seen in items: Web CMS, Partner Portal; another platform may have the name)";
  const told = async (destinations: object[]) => {
    await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify({ destinations }));
    const { step } = await found(cwd, at(service));
    return [step("destinations")?.status, step("destinations")?.detail];
  };
  assert.deepEqual(await told([]), ["warning", `none are configured, so they appear under their IDs${seen}`]);
  assert.deepEqual(await told([{ name: "Intranet" }]), [
    "failed",
    `There is no destination "Intranet" on platform "External". Correct \`destinations\` or --destination${seen}.`,
  ]);
});

test("J4: custom fields whose names look personal are a warning, but for those that the policy covers; unknown names fail", async (t) => {
  const cwd = await temporaryFolder(t);
  const fields = ["author_email", "region", "customer_phone"].map((name) => ({ id: name, name, value: "x" }));
  const service = await Scripted.start(t, [item("c-1", 1, { custom_fields: fields })]);
  service.script = ({ kind }) => (kind === "custom_fields" ? { body: fields } : undefined);
  const named = async (settings: object, wanted: CheckRow["status"] = "warning") => {
    await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify(settings));
    const { steps } = await found(cwd, at(service));
    const ofNames = steps.filter(({ status, check }) => status === wanted && check === "personal fields");
    return ofNames.map(({ detail }) => detail);
  };
  const sentence = (names: string) =>
    `Custom fields that look personal are published: ${names}. If they hold personal data, name them in \`personalFields\`.`;
  assert.deepEqual(await named({}), [sentence("author_email, customer_phone")]);
  assert.deepEqual(await named({ personalFields: ["author_email"] }), [sentence("customer_phone")]);
  assert.deepEqual(await named({ personalFields: ["author_email"] }, "ok"), ["1 custom field found"]);
  assert.deepEqual(await named({ personalData: "keep" }), []);
  assert.match(
    (await named({ personalFields: ["author_emial"] }, "failed")).join(),
    /The nearest are .*"author_email"/,
  );
});

suite("what fails has the exit code of a run, and ends the check:", () => {
  test("nothing configured", async (t) => {
    const { text, exitCode } = await command(await temporaryFolder(t), []);
    assert.equal(exitCode, 2);
    assert.match(text, /^A run would fail at "configuration", and exit with 2\.\n\n/);
    assert.match(text, /^ {2}failed {2}configuration +The address of the service is missing:.*\n +\S/m);
    for (const line of text.split("\n")) assert.ok(line.length <= 80, line);
  });

  test("a lock that is none", async (t) => {
    const cwd = await temporaryFolder(t);
    const warehouse = join(cwd, "warehouse");
    await mkdir(warehouse);
    await writeFile(join(warehouse, ".lock.duckdb"), "no database");
    const { steps, exitCode } = await found(cwd, { flags: { sample: true, warehouse } });
    assert.deepEqual([steps.at(-1)?.check, steps.at(-1)?.status, exitCode], ["lock", "failed", 2]);
  });
});

test("beside a published run: its room, what it asked for, and whether the service is its instance", async (t) => {
  const cwd = await temporaryFolder(t);
  const warehouse = await sampleWarehouse();
  const before = await treeOf(warehouse);
  const flags = { sample: true, warehouse } as const;
  const { steps, step, exitCode } = await found(cwd, { flags });
  assert.equal(exitCode, 0);
  assert.ok(
    steps.every(({ status }) => status === "ok"),
    JSON.stringify(steps),
  );
  assert.match(step("disk")?.detail ?? "", /GB free; a run takes up to [\d.]+ MB$/);
  assert.match(step("run before")?.detail ?? "", /^000001-\w+: [\d,]+ requests, [\d.]+ s, [\d.]+ MB$/);

  const full = await found(cwd, { flags, freeBytes: async () => 1000 });
  assert.deepEqual([full.steps.at(-1)?.check, full.exitCode], ["disk", 30]);

  const service = await Scripted.start(t, [item("a", 1, { newsroom_id: "other" })]);
  const elsewhere = await found(cwd, { ...at(service), flags: { warehouse } });
  assert.deepEqual([elsewhere.steps.at(-1)?.check, elsewhere.exitCode], ["run before", 2]);
  assert.deepEqual(await treeOf(warehouse), before);
});

test("--format json gives one object, with the exit code and every check", async (t) => {
  const service = await Scripted.start(t, itemsOf(1));
  service.script = () => ({ status: 401 });
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  const { text, exitCode } = await command(await temporaryFolder(t), ["--format", "json"], env);
  assert.equal(exitCode, 20);
  assert.ok(!text.includes(CANARY));
  const { ok, exit_code: told, checks } = JSON.parse(text);
  assert.deepEqual([ok, told, checks.at(-1).check], [false, 20, "service"]);
  assert.deepEqual(Object.keys(checks[0]), ["status", "check", "detail"]);
});
