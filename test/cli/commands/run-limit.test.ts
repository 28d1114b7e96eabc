/** A first look by the command: at a slow service that refuses many requests, and then by the commands that read it. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { packagePath } from "../../../src/common/package-root.ts";
import { createService } from "../../../src/service/service.ts";
import { temporaryFolder } from "../../run/running.ts";
import { type Call, callAll } from "../calls.ts";

suite("run --limit", () => {
  test("has a first look at a slow service in a few requests, into a folder of its own", async (t) => {
    const service = await createService({
      data: packagePath("data/sample"),
      latency: 50,
      rateLimit: 10,
      maxConcurrent: 4,
    });
    t.after(() => service.close());
    const [token = ""] = service.contentSet.tokens.keys();
    const cwd = await temporaryFolder(t);
    await mkdir(join(cwd, "lake"));
    const settings = { targets: [{ kind: "lake", path: "lake" }] };
    await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify(settings));
    const env = {
      CONTENT_API_URL: service.url,
      CONTENT_API_TOKEN: token,
      CONTENT_WAREHOUSE_DIR: join(cwd, "warehouse"),
    };
    const there = ["--warehouse", "first-look"];
    const calls: readonly Call[] = [
      ["run", "nightly", "--limit", "20", "--destination", "Web CMS", "--json"],
      ["runs", "list", ...there, "--json"],
      ["runs", "show", "current", ...there],
      ["verify", ...there],
      ["sql", "SELECT count(*) AS n FROM content", ...there, "--format", "csv"],
      ["audit", ...there, "--format", "json"],
      ["deliver", ...there],
      ["diff", ...there],
      ["run", "nightly", ...there],
      ["replay", ...there],
      ["runs", "list", ...there, "--json"],
    ];
    const [run, ...others] = await callAll(calls, { cwd, env });
    assert.equal(run?.code, 0, run?.stderr);
    const summary = JSON.parse(run?.stdout ?? "");
    assert.deepEqual(
      [summary.verdict, summary.accounting.loaded, summary.warehouse, summary.exitCode],
      ["limited", 20, join(cwd, "first-look"), 0],
    );
    console.log(summary.requests, summary.milliseconds);
    for (const each of others) console.log(each.code, each.stdout.slice(0, 3000), each.stderr);
  });
});
