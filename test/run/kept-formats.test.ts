import assert from "node:assert/strict";
import { access, readlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { replayCommand } from "../../src/cli/commands/replay.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { outcome } from "../cli/capture.ts";
import { failsWith } from "../failing.ts";
import { scriptedWorld } from "./running.ts";

const PARQUET = packagePath("test/run/parquet-pipeline.ts");
const DATABASE = packagePath("test/run/duckdb-pipeline.ts");

test("G11a: no run and no replay takes the database or the Parquet files from readers, unless that is accepted", async (t) => {
  const { service, out, exported } = await scriptedWorld(t);
  const config = { details: "events" } as const;
  const { run } = await exported({ config });
  service.questions.length = 0;
  for (const [pipeline, lost] of [
    [PARQUET, "the database warehouse.duckdb"],
    [DATABASE, "the Parquet files"],
  ] as const) {
    const sentence = new RegExp(
      `^The pipeline \\S+ lacks ${lost} that the current run in .* has; name another folder with --warehouse, or, if nobody needs them any more, run once with --accept-pipeline\\.$`,
    );
    const ofRun = await failsWith("config.invalid", exported({ config, pipelineUrl: `file://${pipeline}` }));
    assert.match(ofRun.message, sentence);
    const { error } = await outcome(replayCommand, ["--pipeline", pipeline, "--warehouse", out]);
    assert.equal(error?.exitCode, 2);
    assert.match(error?.message ?? "", sentence);
  }
  assert.deepEqual(service.questions, []);
  assert.equal(await readlink(join(out, "current")), `runs/${run}`);

  const accepted = ["--pipeline", PARQUET, "--accept-pipeline", "--warehouse", out];
  assert.equal((await outcome(replayCommand, accepted)).exitCode, 0);
  await assert.rejects(access(join(out, "current/warehouse.duckdb")));
  // Nothing is lost any more.
  assert.equal((await exported({ config, pipelineUrl: `file://${PARQUET}` })).sequence, 3);
});
