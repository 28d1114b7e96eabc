/** A table of the lake that another program made unwritable: what each command says of it, night by night. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { deliverCommand } from "../../../src/cli/commands/deliver.ts";
import { lakeCommand } from "../../../src/cli/commands/lake.ts";
import { targetsCommand } from "../../../src/cli/commands/targets.ts";
import { exitCodeOf } from "../../../src/observe/outcome.ts";
import { deliveryError } from "../../../src/targets/deliver.ts";
import { lake } from "../../../src/targets/lake/lake.ts";
import { temporaryFolder } from "../../run/running.ts";
import { nightOf, steps, worldOf } from "../../run/two-machines.ts";
import { outcome } from "../capture.ts";

async function lakeWorld(t: TestContext) {
  const cwd = await temporaryFolder(t);
  const options = { url: pathToFileURL(join(cwd, "lake")).href, instance: "main" };
  const targets = [{ type: "lake", ...options }];
  await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify({ targets }));
  const world = await worldOf(t, lake(options));
  const ask = async (make: Parameters<typeof outcome>[0], ...args: string[]) => {
    const { text, error } = await outcome(make, args, { cwd });
    return { text, code: error?.exitCode ?? 0 };
  };
  const night = async (at: number) =>
    (await nightOf(world, { night: at, order: steps("A") })).get("A") ?? assert.fail();
  /** Another program's next version of a table. */
  const change = (version: number, protocol: object) =>
    writeFile(
      join(cwd, `lake/content/_delta_log/${String(version).padStart(20, "0")}.json`),
      `${JSON.stringify({ protocol })}\n`,
    );
  return { cwd, warehouse: world.folders.A, ask, night, change };
}

const WHY =
  'The table content of the lake has deletionVectors, which we do not write; take it away in Spark with "ALTER TABLE content DROP FEATURE deletionVectors", and what stays in its protocol (checkpointProtection) is no obstacle.';
const WAITS = `Only content waits. ${WHY}`;

test("a blocked table waits with 26 and its statements in every command, until they were run", async (t) => {
  const { cwd, warehouse, ask, night, change } = await lakeWorld(t);
  await night(0);
  const whole = JSON.parse((await ask(lakeCommand, "verify", "--json")).text);
  assert.deepEqual(whole.missing, []);
  const vectors = ["deletionVectors"];
  const features = { readerFeatures: vectors, writerFeatures: vectors };
  await change(1, { minReaderVersion: 3, minWriterVersion: 7, ...features });

  const summary = await night(1);
  assert.equal(exitCodeOf(summary), 26);
  const { run } = summary;
  assert.equal(
    deliveryError(run, summary.deliveries)?.message,
    `The run ${run} is published, but was not delivered whole to lake: ${WAITS} "content-warehouse deliver" repeats it, and the next run delivers itself.`,
  );

  const again = await ask(deliverCommand, "--warehouse", warehouse);
  assert.deepEqual([again.code, again.text], [26, `lake: has ${run}, but NOT whole\n`]);
  const asked = await outcome(targetsCommand, ["--warehouse", warehouse], { cwd });
  assert.equal(asked.error?.message, `1 target is not whole: ${WAITS}`);
  const { targets } = JSON.parse((await ask(targetsCommand, "--warehouse", warehouse, "--json")).text);
  assert.deepEqual(
    targets.map(({ run, state, code, problem }: Record<string, unknown>) => [run, state, code, problem]),
    [[run, "current", "target.waits", WAITS]],
  );

  const status = await ask(lakeCommand, "status");
  assert.equal(status.code, 26);
  assert.match(status.text, /│ main .* but not content /);
  assert.ok(status.text.endsWith(`WAITS: ${WHY}\n`), status.text);
  assert.doesNotMatch(status.text, /DAMAGED/);
  const verified = await ask(lakeCommand, "verify");
  assert.equal(verified.code, 26);
  assert.match(
    verified.text,
    new RegExp(`^Whole but for content: run ${run} of main, .*${whole.tables - 1} tables\n`),
  );
  assert.ok(verified.text.endsWith(`\nWAITS: content does not have the run. ${WHY}\n`), verified.text);
  const vacuumed = await ask(lakeCommand, "vacuum");
  assert.deepEqual([vacuumed.code, vacuumed.text], [26, `nothing to remove\n\nWAITS: ${WHY}\n`]);

  const writerFeatures = ["appendOnly", "checkpointProtection", "invariants"];
  await change(2, { minReaderVersion: 1, minWriterVersion: 7, writerFeatures });
  const brings = '"content-warehouse deliver" brings it there.';
  const why = `The table content of the lake does not have the last run of each instance. ${brings}`;
  const late = await outcome(lakeCommand, ["status"], { cwd });
  assert.deepEqual([late.error?.exitCode, late.error?.message], [26, `Only content waits. ${why}`]);
  assert.ok(late.text.endsWith(`WAITS: ${why}\n`), late.text);
  const unbrought = await ask(lakeCommand, "verify");
  assert.equal(unbrought.code, 26);
  assert.ok(unbrought.text.endsWith(`\nWAITS: content does not have the run. ${brings}\n`), unbrought.text);
  const delivered = await ask(deliverCommand, "--warehouse", warehouse);
  assert.deepEqual([delivered.code, delivered.text], [0, `lake: has ${run} already\n`]);
  for (const command of ["status", "verify"]) {
    const { code, text } = await ask(lakeCommand, command);
    assert.equal(code, 0, text);
    assert.doesNotMatch(text, /WAITS|but (not|for)/);
  }
});
