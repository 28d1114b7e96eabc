/** The audit of a run that has mapped values, and none of the tables that only give names. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runPipeline } from "../../../src/run/run-pipeline.ts";
import { program } from "../../cli/running.ts";
import { few, long } from "../../long.ts";
import { temporaryFolder } from "../../run/running.ts";
import { pageItems } from "./page-data.ts";

const PIPELINE = `import {
  contentTables, customFields, customTable, definePipeline, destinations, listing, mappedValues, text, LOADERS,
} from "content-warehouse";
const titles = customTable({
  name: "titles",
  comment: "Titles.",
  columns: [text("wording", { comment: "Words of the title.", from: ["full:title"] })],
  key: [],
  rows: ({ full }) => [{ wording: full?.title }],
});
export default definePipeline({
  name: "unnamed",
  extract: [destinations(), customFields(), listing("full")],
  transform: [contentTables({ except: ["content_types", "users"] }), mappedValues(), titles],
  load: [LOADERS()],
});
`;

for (const loader of few(["duckdb", "parquet"], 1)) {
  long(
    `a run without content_types and users, as ${loader}, has its report, and its questions are answered`,
    async (t) => {
      const folder = await temporaryFolder(t);
      const pipeline = join(folder, "unnamed.mjs");
      await writeFile(pipeline, PIPELINE.replaceAll("LOADERS", loader));
      const out = join(folder, "warehouse");
      const { directory, warnings } = await runPipeline({
        pipeline,
        sample: true,
        warehouse: out,
        cwd: folder,
      });
      assert.doesNotMatch(warnings.join(), /report/);
      const page = await readFile(join(directory, "report.html"), "utf8");
      assert.match(page, /<title>[^<]+, run 1: complete/);
      const [item = ""] = pageItems(page).keys();
      assert.notEqual(item, "");
      const explained = await program(["explain", item, "--warehouse", out]);
      assert.deepEqual([explained.code, explained.stderr], [0, ""]);
      const filtered = await program(["audit", "--content-type", "no_such_type", "--warehouse", out]);
      assert.equal(filtered.code, 3);
      assert.match(filtered.stderr, /no_such_type/);
    },
  );
}
