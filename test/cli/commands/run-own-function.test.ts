/** A function of a user's own that throws in a worker: the user's file and line are named, and --debug shows all of it. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { few } from "../../long.ts";
import { CANARY, temporaryFolder } from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { program } from "../running.ts";

const IMPORTS = "contentTables, customTable, definePipeline, listing, parquet, text";
const BODY = `
const titles = customTable({
  name: "titles",
  comment: "Titles.",
  columns: [text("title", { comment: "Title." })],
  *rows({ full }) {
    yield { title: full?.title };
    deep(full);
  },
});
function deep(full) {
  throw new Error("no luck", { cause: new TypeError("the \\u001b[31mreason") });
}
const stages = { extract: [listing("full")], transform: [titles], load: [parquet()] };
`;
const MODULE = `import { ${IMPORTS} } from "content-warehouse";${BODY}
export default definePipeline({ name: "mine", ...stages });
`;

const LINE = BODY.split("\n").findIndex((line) => line.includes("no luck")) + 1;

const MODULES: Readonly<Record<string, string>> = {
  "mine.ts": MODULE.replace("deep(full) {", "deep(full: unknown): never {"),
  "mine.mts": MODULE.replace("deep(full) {", "deep(full: unknown): never {"),
  "mine.mjs": MODULE,
  "mine.js": MODULE,
  "a folder (of mine) 100%/mine.ts": MODULE.replace("deep(full) {", "deep(full: unknown): never {"),
  "mine.cjs": MODULE.replace(
    /import (.*) from "content-warehouse";/,
    'const $1 = require("content-warehouse");',
  ).replace("export default", "module.exports ="),
};

const service = new Scripted(itemsOf(12));
before(() => service.listen());
after(() => service.close());

for (const [name, text] of few(Object.entries(MODULES), 1)) {
  test(`in ${name}`, async (t) => {
    const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
    const folder = await temporaryFolder(t);
    const path = join(folder, name);
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, text);
    const run = ["run", path, "--warehouse", join(folder, "out")];
    const { code, stdout, stderr } = await program(["--debug", ...run], { cwd: folder, env });
    assert.deepEqual([code, stdout], [2, ""]);
    const lines = stderr.split("\n");
    const sentence = lines.findIndex((line) => line.startsWith("The table titles of the pipeline"));
    assert.notEqual(sentence, -1, stderr);
    assert.match(lines[sentence] ?? "", /cannot be made from item [\w-]+: its function failed: no luck, at /);
    assert.ok(
      lines[sentence]?.endsWith(`: its function failed: no luck, at ${path}:${LINE}.`),
      lines[sentence],
    );
    const shown = lines.slice(sentence + 1).join("\n");
    assert.match(shown, /\ncaused by: Error: no luck\n +at deep \(.*mine\.\w+:\d+:\d+\)\n +at .*rows/);
    assert.match(shown, /\ncaused by: TypeError: the \S*\[31mreason\n +at deep/);
    assert.ok(!shown.includes("\u001b"), "nothing of it reaches the terminal as a command");
  });
}
