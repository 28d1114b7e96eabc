import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packagePath } from "../../../src/common/package-root.ts";
import { runPipeline } from "../../../src/run/run-pipeline.ts";
import { createService } from "../../../src/service/service.ts";
import { program } from "../../cli/running.ts";
import { long } from "../../long.ts";
import { temporaryFolder } from "../../run/running.ts";

long("a run whose report cannot be made is published without it, and says so", async (t) => {
  const folder = await temporaryFolder(t);
  const out = join(folder, "warehouse");
  const summary = await runPipeline({
    pipeline: "nightly",
    sample: true,
    warehouse: out,
    cwd: folder,
    onProgress: ({ stage, done, total }) => {
      if (stage !== "load" || done !== total) return;
      const [run = ""] = readdirSync(join(out, ".staging"));
      mkdirSync(join(out, ".staging", run, "result", "report.html"), { recursive: true });
    },
  });
  assert.equal(summary.verdict, "complete");
  assert.match(
    summary.warnings.join("\n"),
    /^The run has no report: .* Make it with "content-warehouse report"\.$/m,
  );
  const target = join(folder, "later.html");
  const later = await program(["report", "--warehouse", out, "--out", target]);
  assert.equal(later.code, 0, later.stderr);
  assert.match(await readFile(target, "utf8"), /<title>[^<]+, run 1: complete/);
});

long("a service without items and mappings gets a page that says so in words", async (t) => {
  const folder = await temporaryFolder(t);
  const data = join(folder, "content");
  await cp(packagePath("data/sample"), data, { recursive: true });
  for (const file of ["content", "custom_fields", "campaigns"])
    await writeFile(join(data, `${file}.ndjson`), "");
  const service = await createService({ data });
  t.after(() => service.close());
  const [token = ""] = service.contentSet.tokens.keys();
  const out = join(folder, "warehouse");
  const { warnings } = await runPipeline({
    pipeline: "nightly",
    url: service.url,
    warehouse: out,
    cwd: folder,
    env: { CONTENT_API_TOKEN: token },
  });
  assert.deepEqual(warnings, []);
  const page = await readFile(join(out, "current", "report.html"), "utf8");
  for (const sentence of [
    "There is no value to look at: no custom field is mapped for a destination.",
    "The history begins with this run",
    "The service listed no item.",
    "No value to look at",
  ]) {
    assert.ok(page.includes(sentence), sentence);
  }
});
