import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite, test } from "node:test";
import { checkCommand } from "../../../src/cli/commands/check.ts";
import { type Clock, systemClock } from "../../../src/common/clock.ts";
import { createLog, type Log, silentLog } from "../../../src/common/log.ts";
import { check } from "../../../src/run/preconditions/check.ts";
import type { CheckName, Finding } from "../../../src/run/preconditions/finding.ts";
import { type FreeBytes, freeBytes } from "../../../src/warehouse/disk.ts";
import { sampleWarehouse } from "../../audit/sample.ts";
import { pem, trust } from "../../extract/http/trust.ts";
import { CANARY, HurriedClock, NIGHTLY, temporaryFolder, treeOf } from "../../run/running.ts";
import { ANSWERED, item, itemsOf, listBody, Scripted } from "../../run/scripted.ts";
import { ran } from "../capture.ts";

interface Setup {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: { readonly sample?: true; readonly url?: string; readonly warehouse?: string };
  readonly freeBytes?: FreeBytes;
  readonly clock?: Clock;
  readonly log?: Log;
}

/** What a check finds with nothing configured but this, by name. */
async function found(cwd: string, setup: Setup): Promise<Record<CheckName, Finding>> {
  const findings: Finding[] = [];
  const request = {
    inputs: { cwd, env: setup.env ?? {}, flags: setup.flags ?? {}, sampleBy: "--sample" },
    pipeline: NIGHTLY,
    threads: 1,
    nodeVersion: "24.0.0",
    clock: setup.clock ?? systemClock,
    logFor: () => setup.log ?? silentLog,
    signal: new AbortController().signal,
    freeBytes: setup.freeBytes ?? freeBytes,
  };
  for await (const finding of check(request)) findings.push(finding);
  return Object.fromEntries(findings.map((finding) => [finding.check, finding])) as Record<
    CheckName,
    Finding
  >;
}

function at(service: { readonly url: string }): Setup {
  return { env: { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY } };
}

function statuses(findings: Readonly<Record<string, Finding>>): Record<string, string> {
  return Object.fromEntries(Object.values(findings).map(({ check: name, status }) => [name, status]));
}

/** The command, as to a terminal of 80 columns. */
function command(cwd: string, args: readonly string[], env: Setup["env"] = {}) {
  return ran(checkCommand, args, { env, cwd, columns: 80 });
}

test("all that a run of the sample needs is ok, one line each, and the folder stays as it was", async (t) => {
  const cwd = await temporaryFolder(t);
  const { text, exitCode } = await command(cwd, ["--sample"]);
  assert.equal(exitCode, 0);
  assert.match(text, /^A run can begin\.\n\n {2}ok {2}node {10}\d+\.\d+\.\d+\n/);
  assert.equal(text.match(/^ {2}ok /gm)?.length, 17);
  assert.match(text, /^ {2}ok {2}credentials {3}the token may read 500 items$/m);
  assert.deepEqual(await treeOf(cwd), []);
});

test("the service is asked for one item, for each destination, for full items, and in a first run for body types", async (t) => {
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
  const findings = await found(cwd, at(service));
  assert.deepEqual(
    service.questions.map(({ kind, perPage }) => [kind, perPage]),
    [
      ["list", 1],
      ["destinations", 0],
      ["destinations", 0],
      // Names that items have, since one is missing.
      ["list", 1000],
      ["list", 25],
      // In a first run nobody knows how many items are events.
      ["list", 1000],
    ],
  );
  assert.deepEqual([findings.destinations.status, findings.destinations.exitCode], ["warning", 0]);
  assert.match(findings.destinations.detail, /^There is no destination "Website" on platform "External"/);
  assert.equal(findings.configuration.detail, "content-warehouse.config.json");
});

test("a missing destination is a warning, whatever becomes of the search for what is meant, and that is short", async (t) => {
  const cwd = await temporaryFolder(t);
  const items = itemsOf(30).map((each, index) => ({ ...each, publish_destination: `Site ${index}` }));
  const service = await Scripted.start(t, items);
  const destinations = ["External", "Archive", "Print"].map((platform) => ({ name: "Website", platform }));
  await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify({ destinations }));
  const missing = await found(cwd, at(service));
  assert.deepEqual([missing.destinations.status, missing.credentials.status], ["warning", "ok"]);
  assert.equal(service.asked("destinations").length, destinations.length + 20);
  service.script = ({ columns }) => (columns.includes("publish_destination") ? { status: 500 } : undefined);
  const unhinted = await found(cwd, at(service));
  assert.deepEqual([unhinted.destinations.status, unhinted.credentials.status], ["warning", "ok"]);
  assert.match(unhinted.destinations.detail, /^There is no destination "Website" on platform "External"\. /);
});

test("fields that are called personal are looked up; a name that nothing has fails with the nearest", async (t) => {
  const check = async (personalFields: readonly string[]) => {
    const cwd = await temporaryFolder(t);
    const file = join(cwd, "config.json");
    await writeFile(file, JSON.stringify({ personalFields }));
    return command(cwd, ["--sample", "--config", file]);
  };
  const known = await check(["owner_team", "owner"]);
  assert.equal(known.exitCode, 0);
  assert.match(known.text, /^ {2}ok {2}personal fields 1 custom field found$/m);
  const unknown = await check(["owner_teem"]);
  assert.equal(unknown.exitCode, 2);
  assert.match(
    unknown.text.replace(/\s+/g, " "),
    /personal fields .*The nearest are "owner_team" and "owner"\./,
  );
});

test("a clock that is minutes off is told, with the direction", async (t) => {
  const service = await Scripted.start(t, itemsOf(1));
  const { clock } = await found(await temporaryFolder(t), at(service));
  assert.ok(Date.now() - Date.parse(ANSWERED) > 60_000, "the script answers with a Date of the past");
  assert.equal(clock.status, "warning");
  assert.match(clock.detail, /^this machine is .* ahead of the service; set the clock/);
});

test("a service that asks for fewer requests is asked again when it says, and the wait is told", async (t) => {
  const service = await Scripted.start(t, itemsOf(1));
  service.script = ({ number }) =>
    number === 1 ? { status: 429, headers: { "retry-after": "1" } } : undefined;
  const clock = new HurriedClock();
  let text = "";
  const log = createLog({
    format: "text",
    secrets: [],
    level: "info",
    clock,
    write: (line) => {
      text += line;
    },
  });
  const { credentials } = await found(await temporaryFolder(t), { ...at(service), clock, log });
  assert.match(
    text,
    / warn {2}The service refuses requests because there are too many: pausing until \d\d:\d\d:\d\d UTC/,
  );
  assert.ok((clock.slept[0] ?? 0) >= 1000);
  assert.deepEqual([credentials.status, credentials.detail], ["ok", "the token may read 1 item"]);
  assert.equal(service.asked("list").filter(({ perPage }) => perPage === 1).length, 2);
});

suite("what fails has the exit code of a run, and what needs it is left out:", () => {
  test("a redirect to a sign-in page fails credentials with 20 after one request", async (t) => {
    const service = await Scripted.start(t, itemsOf(1));
    service.script = () => ({ status: 302, headers: { location: "/sign-in" } });
    const findings = await found(await temporaryFolder(t), at(service));
    assert.deepEqual([findings.credentials.status, findings.credentials.exitCode], ["failed", 20]);
    for (const later of ["instance", "clock", "destinations"] as const)
      assert.equal(findings[later].status, "skipped");
    assert.equal(service.questions.length, 1);
  });

  test("nothing configured", async (t) => {
    const { text, exitCode } = await command(await temporaryFolder(t), []);
    assert.equal(exitCode, 2);
    assert.match(text, /^1 check failed: a run would end with 2\.\n\n/);
    assert.match(text, /^ {2}failed {3}configuration No content service is named:.*\n {25}\S/m);
    assert.match(text, /^ {2}skipped {2}credentials {3}needs configuration and token$/m);
    assert.match(text, /^ {2}ok {7}disk /m);
    for (const line of text.split("\n")) assert.ok(line.length <= 80, line);
  });

  test("a host that nobody knows", async (t) => {
    const findings = await found(await temporaryFolder(t), at({ url: "https://content.invalid" }));
    assert.deepEqual([findings.dns.status, findings.dns.exitCode], ["failed", 21]);
    assert.equal(findings.tls.status, "skipped");
  });

  test("a lock that is none: whatever cannot be looked at for want of it names it", async (t) => {
    const cwd = await temporaryFolder(t);
    const warehouse = join(cwd, "warehouse");
    await mkdir(warehouse);
    await writeFile(join(warehouse, ".lock.duckdb"), "no database");
    const { lock, instance, disk, ...others } = await found(cwd, { flags: { sample: true, warehouse } });
    assert.deepEqual([lock.status, lock.exitCode], ["failed", 2]);
    for (const { status, detail } of [others["current run"], instance, disk])
      assert.deepEqual([status, detail], ["skipped", "needs the lock"]);
  });
});

test("beside a published run: its room, its instance, and whether it is as it was published", async (t) => {
  const cwd = await temporaryFolder(t);
  const warehouse = await sampleWarehouse();
  const before = await treeOf(warehouse);
  const flags = { sample: true, warehouse } as const;
  const whole = await found(cwd, { flags });
  assert.deepEqual([...new Set(Object.values(statuses(whole)))], ["ok"], JSON.stringify(whole));
  assert.match(whole.disk.detail, /GB free; a run takes up to [\d.]+ MB$/);
  assert.match(whole.instance.detail, /, as in the current run$/);
  assert.match(whole["current run"].detail, /^000001-.*: as it was published$/);

  const full = await found(cwd, { flags, freeBytes: async () => 1000 });
  assert.deepEqual([full.disk.status, full.disk.exitCode], ["failed", 30]);

  const service = await Scripted.start(t, [item("a", 1, { newsroom_id: "other" })]);
  const elsewhere = await found(cwd, { ...at(service), flags: { warehouse } });
  assert.deepEqual([elsewhere.instance.status, elsewhere.instance.exitCode], ["failed", 2]);

  await rm(join(warehouse, "current", "report.html"));
  const damaged = await found(cwd, { flags });
  assert.deepEqual([damaged["current run"].status, damaged["current run"].exitCode], ["warning", 0]);
  assert.match(damaged["current run"].detail, /report\.html/);
  assert.deepEqual(
    (await treeOf(warehouse)).filter((path) => !path.endsWith("report.html")),
    before.filter((path) => !path.endsWith("report.html")),
  );
});

test("the certificate's end and the version of TLS are told", async (t) => {
  trust(t, pem("localhost"));
  const body = JSON.stringify(
    listBody(itemsOf(1), {
      kind: "list",
      mode: "dynamic",
      page: 1,
      perPage: 1,
      id: "",
      columns: [],
      number: 1,
    }),
  );
  const server = createServer({ key: pem("key"), cert: pem("localhost") }, (_request, response) =>
    response.end(body),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const findings = await found(await temporaryFolder(t), at({ url: `https://localhost:${port}` }));
  assert.match(findings.dns.detail, /^localhost is (?:127\.0\.0\.1|::1)$/);
  assert.equal(findings.tls.detail, "TLSv1.3, certificate valid until 2126-10-27");
});

test("what a run takes is taken, also where a run alone finds out about it", async (t) => {
  const { text, exitCode } = await command(await temporaryFolder(t), ["--sample", "--contract", "freeze"]);
  assert.equal(exitCode, 0, text);
});

test("--format json gives one object, with the exit code and every check", async (t) => {
  const service = await Scripted.start(t, itemsOf(1));
  service.script = () => ({ status: 401 });
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  const { text, exitCode } = await command(await temporaryFolder(t), ["--format", "json"], env);
  assert.equal(exitCode, 20);
  assert.ok(!text.includes(CANARY));
  const { ok, exit_code: told, checks } = JSON.parse(text);
  assert.deepEqual([ok, told, checks.length], [false, 20, 17]);
  assert.deepEqual(Object.keys(checks[0]), ["status", "check", "detail", "exit_code", "stops"]);
});
