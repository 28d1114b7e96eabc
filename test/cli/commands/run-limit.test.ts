/** A first look by the command: at a slow service that refuses many requests, and then by the commands that read it. */
import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { packagePath } from "../../../src/common/package-root.ts";
import { createService } from "../../../src/service/service.ts";
import { temporaryFolder } from "../../run/running.ts";
import { type Call, type CallOutcome, callAll } from "../calls.ts";

suite("run --limit", () => {
  test("has a first look at a slow service in a few requests, into a folder of its own", async (t) => {
    const service = await createService({
      data: packagePath("data/sample"),
      latency: 50,
      rateLimit: 10,
    });
    t.after(() => service.close());
    const [token = ""] = service.contentSet.tokens.keys();
    const cwd = await temporaryFolder(t);
    const settings = { targets: [{ type: "lake", url: `file://${join(cwd, "lake")}`, instance: "main" }] };
    await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify(settings));
    const env = {
      CONTENT_API_URL: service.url,
      CONTENT_API_TOKEN: token,
      CONTENT_WAREHOUSE_DIR: join(cwd, "warehouse"),
    };
    const calls: readonly Call[] = [
      ["run", "nightly", "--limit", "20", "--destination", "Web CMS", "--json"],
      ["runs", "list", "--warehouse", "first-look", "--format", "json"],
      ["verify", "--warehouse", "first-look"],
      ["audit", "--warehouse", "first-look", "--format", "json"],
      ["deliver", "--warehouse", "first-look"],
      ["diff", "--warehouse", "first-look"],
      ["run", "nightly", "--warehouse", "first-look"],
      ["replay", "--warehouse", "first-look"],
      ["runs", "list", "--warehouse", "first-look", "--format", "json"],
      ["run", "nightly", "--limit", "2"],
    ];
    const outcomes = await callAll(calls, { cwd, env });
    const [run, before, whole, audit, deliver, diff, full, replay, after, later] = outcomes;
    assert.equal(run?.code, 0, run?.stderr);
    const summary = JSON.parse(run?.stdout ?? "");
    assert.deepEqual(
      [summary.verdict, summary.accounting.loaded, summary.warehouse],
      ["limited", 20, join(cwd, "first-look")],
    );
    // Destinations, custom fields, a page of each listing, and an event.
    assert.equal(summary.requests, 5);
    assert.ok(summary.warnings.includes("Nothing is delivered to lake: a limited run never is."));
    assert.deepEqual(await readdir(cwd), ["content-warehouse.config.json", "first-look"]);

    const runs = (listed: CallOutcome | undefined) =>
      JSON.parse(listed?.stdout ?? "").runs.map((each: object) => pick(each, "sequence", "verdict", "items"));
    assert.deepEqual(runs(before), [{ sequence: 1, verdict: "limited", items: 20 }]);
    assert.equal(whole?.code, 0, whole?.stderr);
    assert.equal(JSON.parse(audit?.stdout ?? "").verdict, "limited");
    const refused = [
      [deliver, "is limited to its first items, and such a run is never delivered"],
      [diff, "is limited to its first items and has no history"],
      [full, "has limited runs, and this run is a full one"],
    ] as const;
    for (const [outcome, sentence] of refused) {
      assert.equal(outcome?.code, 2);
      assert.ok(outcome?.stderr.includes(sentence), outcome?.stderr);
    }
    assert.equal(replay?.code, 0, replay?.stderr);
    assert.match(replay?.stdout ?? "", /Nothing is delivered to lake: a limited run never is\./);
    assert.deepEqual(runs(after), [
      { sequence: 2, verdict: "limited", items: 20 },
      { sequence: 1, verdict: "limited", items: 20 },
    ]);
    assert.equal(later?.code, 0, later?.stderr);
    const text = later?.stdout ?? "";
    assert.match(text, /^Limited: run 000003-\w+ of nightly, .+; a run without --limit reads all items$/m);
    assert.match(
      text,
      /^ {2}Evidence {3}not certified: dynamic 2 items, full 2 items; the service counts 500$/m,
    );
    assert.match(text, /^ {2}Limited {4}no more than 2 items were to be read; the service counts 500$/m);
  });
});

function pick(object: object, ...names: readonly string[]): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));
}
