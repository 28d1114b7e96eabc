import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { runPipeline, WarehouseError } from "../../src/index.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { CANARY, failsWith, publishedIds, rowsOf, temporaryFolder, treeOf } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

const EXAMPLE = "docs/examples/headlines.ts";
const SMALL = packagePath("test/run/small-pipeline.ts");

test("the example of a pipeline of one's own runs over the sample and makes its table", async (t) => {
  const cwd = await temporaryFolder(t);
  const stages = new Set<string>();
  const summary = await runPipeline({
    pipeline: packagePath(EXAMPLE),
    sample: true,
    env: {},
    cwd,
    onProgress: ({ stage }) => stages.add(stage),
  });
  assert.deepEqual([summary.verdict, summary.pipeline], ["complete", "headlines"]);
  assert.equal(summary.out, join(cwd, "warehouse"));
  assert.deepEqual([...stages].sort(), ["dynamic", "full", "items", "load", "lookups", "publish"]);
  const { directory } = summary;
  const titled = "SELECT content_id, title FROM content WHERE trim(title) <> '' ORDER BY content_id";
  assert.deepEqual(
    await rowsOf(directory, "SELECT content_id, title FROM content_headlines ORDER BY content_id"),
    await rowsOf(directory, titled),
  );
  const ascii = "regexp_full_match(title, '[A-Za-z0-9 ]+')";
  const lengths = `SELECT count(*), bool_and(characters = length(title)),
    bool_and(words = len(string_split_regex(trim(title), ' +'))) FROM content_headlines WHERE ${ascii}`;
  const [counted, ...right] = (await rowsOf(directory, lengths))[0] ?? [];
  assert.ok(Number(counted) > 50);
  assert.deepEqual(right, [true, true]);
  const comment =
    "SELECT comment FROM duckdb_columns() WHERE table_name = 'content_headlines' AND column_name = 'words'";
  assert.deepEqual(await rowsOf(directory, comment), [["Words in the title."]]);
  const lineage =
    "SELECT resource, path FROM run_lineage WHERE table_name = 'content_headlines' ORDER BY ALL";
  assert.deepEqual(await rowsOf(directory, lineage), [
    ["dynamic", "title"],
    ["full", "title"],
  ]);
});

test("the example uses the library as its users do", async () => {
  const text = await readFile(packagePath(EXAMPLE), "utf8");
  const imported = [...text.matchAll(/from "([^"]*)"/g)].map(([, specifier]) => specifier);
  assert.deepEqual(imported, ["content-warehouse"]);
});

suite("runPipeline", () => {
  test("takes a pipeline by path from `cwd`, and by URL", async (t) => {
    const service = await Scripted.start(t, itemsOf(3));
    const cwd = await temporaryFolder(t);
    const env = { CONTENT_API_TOKEN: CANARY };
    for (const pipeline of ["./small-pipeline.ts", pathToFileURL(SMALL)]) {
      const { directory } = await runPipeline({
        pipeline,
        url: service.url,
        out: join(cwd, "warehouse"),
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
    const reasons = [
      undefined,
      new Error("enough"),
      new WarehouseError("run.terminated", "Ended by a supervisor."),
    ];
    for (const reason of reasons) {
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
