/** A limited run by the command, and what other commands do with it. */
import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { packagePath } from "../../../src/common/package-root.ts";
import { createService } from "../../../src/service/service.ts";
import { temporaryFolder } from "../../run/running.ts";
import { type CallOutcome, callAll } from "../calls.ts";

test("run --limit reads the first items in a few requests, into a folder that no full run shares", async (t) => {
  const service = await createService({ data: packagePath("data/sample") });
  t.after(() => service.close());
  const [token = ""] = service.contentSet.tokens.keys();
  const cwd = await temporaryFolder(t);
  const settings = { targets: [{ type: "lake", url: `file://${join(cwd, "lake")}`, instance: "main" }] };
  await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify(settings));
  const warehouse = join(cwd, "warehouse");
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: token, CONTENT_WAREHOUSE_DIR: warehouse };
  const there = ["--warehouse", "first-look"];
  const [run, verify, audit, deliver, diff, full, replay, runs] = await callAll(
    [
      ["run", "nightly", "--limit", "20", "--destination", "Web CMS"],
      ["verify", ...there],
      ["audit", ...there, "--format", "json"],
      ["deliver", ...there],
      ["diff", ...there],
      ["run", "nightly", ...there],
      ["replay", ...there, "--json"],
      ["runs", "list", ...there, "--format", "json"],
    ],
    { cwd, env },
  );
  assert.equal(run?.code, 0, run?.stderr);
  for (const line of [
    /^Limited: run 000001-\w+ of nightly, /,
    /^ {2}Evidence {3}not certified: dynamic 20 items, full 20 items; the service counts 500$/m,
    /^ {2}Limited {4}no more than 20 items /m,
    // Destinations, custom fields, a page of each listing, and an event.
    /^ {2}Requests +5\b/m,
  ])
    assert.match(run?.stdout ?? "", line);
  assert.deepEqual(await readdir(cwd), ["content-warehouse.config.json", "first-look"]);

  assert.equal(verify?.code, 0, verify?.stderr);
  assert.equal(JSON.parse(audit?.stdout ?? "").verdict, "limited");
  for (const [outcome, sentence] of [
    [deliver, "is limited to its first items"],
    [diff, "is limited to its first items"],
    [full, "has limited runs, and this run is a full one"],
  ] as const) {
    assert.equal(outcome?.code, 2);
    assert.ok(outcome?.stderr.includes(sentence), outcome?.stderr);
  }
  const { verdict, deliveries } = JSON.parse(replay?.stdout ?? "");
  assert.deepEqual([replay?.code, verdict, deliveries], [0, "limited", []]);
  assert.deepEqual(listed(runs), [
    { sequence: 2, verdict: "limited", items: 20 },
    { sequence: 1, verdict: "limited", items: 20 },
  ]);
});

function listed(outcome: CallOutcome | undefined): object[] {
  const { runs } = JSON.parse(outcome?.stdout ?? "") as { runs: Record<string, unknown>[] };
  return runs.map(({ sequence, verdict, items }) => ({ sequence, verdict, items }));
}
