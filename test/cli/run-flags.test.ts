import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { commandAdvice } from "../../src/cli/advice.ts";
import { runCommand } from "../../src/cli/commands/run.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { failsWith } from "../failing.ts";
import { temporaryFolder } from "../folders.ts";
import { long } from "../long.ts";
import { CANARY } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";
import { ran } from "./capture.ts";

const SMALL = packagePath("test/run/small-pipeline.ts");

const offered = (...names: string[]) =>
  names.map((name) => ({ id: name, identification: name, platform: "External" }));

/** A service with two items and two destinations, and runs against it. */
async function nights(t: TestContext, settings: object = {}) {
  const service = await Scripted.start(t, itemsOf(2));
  const there = offered("Shop", "Mall");
  service.script = ({ kind }) => (kind === "destinations" ? { body: there } : undefined);
  const cwd = await temporaryFolder(t);
  const destinations = [{ name: "Shop" }, { name: "Mall" }];
  const text = JSON.stringify({ destinations, ...settings });
  await writeFile(join(cwd, "content-warehouse.config.json"), text);
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  return {
    night: (...flags: readonly string[]) => ran(runCommand, [SMALL, ...flags], { env, cwd }),
    service,
    there,
  };
}

long(
  "flags of a run are explicit approval: to publish what shrank, and to freeze the contract",
  async (t) => {
    // Fields of the dynamic view are unknown in the full one, which is a departure.
    const { night, service } = await nights(t);
    await assert.rejects(night("--contract", "freeze"), { code: "contract.drift", exitCode: 23 });
    await night("--contract", "evolve");
    service.items = [];
    await assert.rejects(night(), { code: "guard.shrink", exitCode: 24 });
    await night("--accept-shrink");
  },
);

test("--destination replaces the configured ones; an unknown name ends with 2, and the nearest is named", async (t) => {
  const { night } = await nights(t);
  const names = ["Web CMS", "Print Archive:Archive", "Print: Archive"];
  const error = await failsWith("config.invalid", night(...names.flatMap((name) => ["--destination", name])));
  const unknown = Array.from(error.message.matchAll(/no destination "(.*?)" on platform "(.*?)"/g));
  assert.deepEqual(
    unknown.map(([, name, platform]) => [name, platform]),
    [
      ["Web CMS", "External"],
      ["Print Archive", "Archive"],
      ["Print: Archive", "External"],
    ],
  );
  const misspelled = await failsWith("config.invalid", night("--destination", "Shpo"));
  assert.match(misspelled.message, /\(did you mean "Shop"\?\)/);
  for (const wrong of [":Archive", "Web CMS:"])
    await assert.rejects(night("--destination", wrong), { code: "commander.invalidArgument" });
});

test("the next command works where the run was typed, finds its warehouse, and is for people alone", async (t) => {
  const { service, there } = await nights(t);
  service.script = ({ kind }) => (kind === "destinations" ? { body: there } : undefined);
  const other = await temporaryFolder(t);
  const cwd = await temporaryFolder(t, {
    "content-warehouse.config.json": JSON.stringify({ warehouse: "exports" }),
    "north.json": JSON.stringify({ warehouse: "north's own" }),
  });
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY, TERM: "dumb" };
  const next = async (flags: readonly string[], setting: object = {}) => {
    const { text } = await ran(runCommand, [SMALL, ...flags], { env, cwd, isTTY: true, ...setting });
    return /^ {2}Next +(.*)$/m.exec(text)?.[1];
  };
  const command = 'sql "FROM content LIMIT 5"';
  const byNpx = { env: { ...env, npm_command: "exec" } };
  assert.equal(await next([]), `content-warehouse ${command}`);
  assert.equal(await next([], byNpx), `npx content-warehouse ${command}`);
  assert.equal(await next(["--warehouse", "exports"]), `content-warehouse ${command}`);
  for (const [flags, place] of [
    [["--limit", "1"], "first-look"],
    [["--warehouse", other], other],
    [["--config", "north.json"], "'north'\\''s own'"],
  ] as const)
    assert.equal(await next(flags), `content-warehouse ${command} --warehouse ${place}`);
  assert.equal(await next([], { isTTY: false }), undefined);
  const advice = await commandAdvice({ env, cwd }, { warehouse: join(cwd, "wh"), config: "north.json" });
  assert.equal(advice("deliver"), "content-warehouse deliver --warehouse wh --config north.json");
});

test("--quiet says each night that an observer failed, and a warning in its first night alone", async (t) => {
  const { night, there } = await nights(t, { metricsFile: "missing/run.prom" });
  const failed = /`metricsFile` failed: \S+ cannot be written \(ENOENT\)/;
  const gone =
    'Destination "Shop" on platform "External" no longer exists, so its mapped values are missing.';
  const quiet = async (...flags: string[]) => {
    const { text, err } = await night("--quiet", ...flags);
    return { text, lines: err.trimEnd().split("\n") };
  };
  const first = await quiet();
  assert.equal(first.lines.length, 1);
  assert.match(first.lines[0] ?? "", failed);
  there.shift();
  const second = await quiet("--log-format", "json");
  const messages = second.lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    messages.map(({ level }) => level),
    ["warn", "warn"],
  );
  assert.ok(messages.some(({ msg }) => msg === gone) && messages.some(({ msg }) => failed.test(msg)));
  const third = await quiet("--json");
  assert.equal(third.lines.length, 1);
  const { warnings, newWarnings } = JSON.parse(third.text);
  assert.ok(warnings.includes(gone) && !newWarnings.includes(gone));
  assert.equal(first.text + second.text, "");
});
