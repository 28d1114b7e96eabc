import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { packagePath } from "../../src/common/package-root.ts";
import type { OnProgress } from "../../src/common/progress.ts";
import { runPipeline, WarehouseError } from "../../src/index.ts";
import { failsWith } from "../failing.ts";
import { CANARY, publishedIds, temporaryFolder, treeOf } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

const SMALL = packagePath("test/run/small-pipeline.ts");

suite("runPipeline", () => {
  test("runs the sample, tells how far it is, and returns what was published and where", async (t) => {
    const cwd = await temporaryFolder(t);
    const stages = new Set<string>();
    const pipeline = packagePath("docs/examples/three-tables.mts");
    const onProgress: OnProgress = ({ stage }) => stages.add(stage);
    const summary = await runPipeline({ pipeline, sample: true, env: {}, cwd, onProgress });
    assert.deepEqual([summary.verdict, summary.pipeline], ["complete", "three-tables"]);
    assert.equal(summary.warehouse, join(cwd, "warehouse"));
    assert.deepEqual([...stages].sort(), ["basic", "dynamic", "load", "lookups", "publish", "transform"]);
    assert.equal((await publishedIds(summary.directory)).length, 500);
  });

  test("takes a pipeline by path from `cwd`, and by URL", async (t) => {
    const service = await Scripted.start(t, itemsOf(3));
    const cwd = await temporaryFolder(t);
    const env = { CONTENT_API_TOKEN: CANARY };
    for (const pipeline of ["./small-pipeline.ts", pathToFileURL(SMALL)]) {
      const { directory } = await runPipeline({
        pipeline,
        url: service.url,
        warehouse: join(cwd, "warehouse"),
        env,
        cwd: packagePath("test/run"),
      });
      assert.equal((await publishedIds(directory)).length, 3);
    }
  });

  test("throws WarehouseErrors, for what is configured wrongly too", async (t) => {
    const cwd = await temporaryFolder(t);
    await failsWith("config.missing_service", runPipeline({ pipeline: "nightly", env: {}, cwd }));
    await failsWith(
      "config.unknown_pipeline",
      runPipeline({ pipeline: "daily", sample: true, env: {}, cwd }),
    );
    const nowhere = pathToFileURL(join(cwd, "nowhere.ts"));
    await failsWith("config.invalid", runPipeline({ pipeline: nowhere, sample: true, env: {}, cwd }));
    assert.deepEqual(await treeOf(cwd), []);
  });

  test("is ended by its signal, with nothing published", async (t) => {
    const service = await Scripted.start(t, itemsOf(30));
    const cwd = await temporaryFolder(t);
    const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
    for (const reason of [undefined, new WarehouseError("run.terminated", "Ended by a supervisor.")]) {
      const controller = new AbortController();
      service.script = ({ mode }) => {
        if (mode === "full") controller.abort(reason);
        return undefined;
      };
      const run = runPipeline({ pipeline: SMALL, env, cwd, signal: controller.signal });
      const error = await failsWith(reason instanceof WarehouseError ? reason.code : "run.interrupted", run);
      assert.equal(error.cause ?? error, controller.signal.reason);
      const published = (await treeOf(cwd)).filter((path) => /(?:^|\/)(?:runs\/.|current)/.test(path));
      assert.deepEqual(published, []);
    }
  });

  test("passes on what onProgress throws, with nothing published", async (t) => {
    const service = await Scripted.start(t, itemsOf(3));
    const cwd = await temporaryFolder(t);
    const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
    const onProgress = () => {
      throw new Error("a caller's own mistake");
    };
    const run = runPipeline({ pipeline: SMALL, env, cwd, onProgress });
    await assert.rejects(run, { code: "internal", message: /a caller's own mistake/ });
    assert.deepEqual(await treeOf(cwd), []);
  });
});
