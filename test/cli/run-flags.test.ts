import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { runCommand } from "../../src/cli/commands/run.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { CANARY, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { ran } from "./capture.ts";

const SMALL = packagePath("test/run/small-pipeline.ts");

long(
  "flags of a run are explicit approval: to publish what shrank, and to freeze the contract",
  async (t) => {
    // Fields of the dynamic view are unknown in the full one, which is a departure.
    const service = await Scripted.start(t, itemsOf(2));
    const out = await temporaryFolder(t);
    const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
    const run = (...flags: string[]) =>
      ran(runCommand, [SMALL, "--warehouse", out, ...flags], { env, cwd: out });
    await assert.rejects(run("--contract", "freeze"), { code: "contract.drift", exitCode: 23 });
    await assert.rejects(run("--contract", "frozen"), { code: "commander.invalidArgument" });
    await run("--contract", "evolve");
    service.items = [];
    await assert.rejects(run(), { code: "guard.shrink", exitCode: 24 });
    await run("--accept-shrink");
  },
);

const offered = (...names: string[]) =>
  names.map((name) => ({ id: name, identification: name, platform: "External" }));

/** Runs against a service that has these destinations: what each wrote. */
async function nights(t: TestContext, pipeline = SMALL) {
  const service = await Scripted.start(t, itemsOf(2));
  const there = offered("Shop", "Mall");
  service.script = ({ kind }) => (kind === "destinations" ? { body: there } : undefined);
  const cwd = await temporaryFolder(t);
  const settings = { destinations: [{ name: "Shop" }, { name: "Mall" }] };
  await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify(settings));
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  const night = (flags: readonly string[]) => ran(runCommand, [pipeline, ...flags], { env, cwd });
  return { night, cwd, service, there };
}

test("--destination replaces the configured ones; a name that the service does not have ends with 2 and the nearest", async (t) => {
  const { night } = await nights(t);
  const names = ["Web CMS", "Print Archive:Archive", "Print: Archive"];
  const error = await failsWith("config.invalid", night(names.flatMap((name) => ["--destination", name])));
  const unknown = (name: string, platform: string) =>
    `There is no destination "${name}" on platform "${platform}". `;
  assert.ok(
    error.message.startsWith(
      unknown("Web CMS", "External") +
        unknown("Print Archive", "Archive") +
        unknown("Print: Archive", "External"),
    ),
    error.message,
  );
  const misspelled = await failsWith("config.invalid", night(["--destination", "Shpo"]));
  assert.match(misspelled.message, /^There is no destination "Shpo" .* \(did you mean "Shop"\?\)\. /);
  for (const wrong of [":Archive", "Web CMS:"])
    await assert.rejects(night(["--destination", wrong]), { code: "commander.invalidArgument" });
});

const gone = (name: string) =>
  `Destination "${name}" on platform "External" no longer exists, so its mapped values are missing.`;

test("--quiet says a warning once: of a night like the one before nothing, and again once it was gone", async (t) => {
  const { night, there } = await nights(t);
  const quiet = async () => (await night(["--quiet"])).err;
  const said = (name: string) => new RegExp(`^\\d\\d:\\d\\d:\\d\\d warn {2}${gone(name)}[^\\n]*\\n$`);
  assert.equal(await quiet(), "");
  there.splice(0, 1);
  assert.match(await quiet(), said("Shop"));
  assert.deepEqual(await night(["--quiet"]), { text: "", err: "", exitCode: 0 });
  there.splice(0, 1);
  assert.match(await quiet(), said("Mall"));
  const { warnings, newWarnings } = JSON.parse((await night(["--json"])).text);
  assert.deepEqual([warnings, newWarnings], [[gone("Shop"), gone("Mall")], []]);
  there.push(...offered("Shop"));
  assert.equal(await quiet(), "");
  there.splice(0, 1);
  assert.match(await quiet(), said("Shop"));
});

test("--quiet says each night that an observer failed, and of checks what is new, the same no second time", async (t) => {
  const { night, cwd, service } = await nights(t, "parquet");
  const settings = { metricsFile: "missing/run.prom" };
  const config = join(cwd, "content-warehouse.config.json");
  await writeFile(config, JSON.stringify(settings));
  for (const _night of [1, 2])
    assert.match(
      (await night(["--quiet"])).err,
      /^[^\n]* warn {2}`metricsFile` failed: \S+ cannot be written \(ENOENT\); [^\n]*\n$/,
    );
  await writeFile(config, "{}");
  service.items = itemsOf(2).map((item) => ({ ...item, author: "5f1e0c2ab4d3e90017c0ffe1" }));
  const { err } = await night(["--quiet"]);
  assert.match(
    err,
    /^[^\n]* warn {2}1 check warns since this run \([^()]*: 2\); "content-warehouse runs show" lists them\.\n$/,
  );
  assert.equal((await night(["--quiet"])).err, "");
});

long("--quiet leaves warnings alone, as JSON where that is asked for", async (t) => {
  const { night, there } = await nights(t);
  await night([]);
  there.splice(0, 1);
  const json = await night(["--quiet", "--log-format", "json"]);
  const { time, ...line } = JSON.parse(json.err);
  assert.deepEqual(line, { level: "warn", msg: gone("Shop") });
  assert.ok(!Number.isNaN(Date.parse(time)));
});
