import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { forms } from "../../src/run/checkpoint-form.ts";
import { beginningForm } from "../../src/run/resume.ts";
import { readSealed } from "../../src/run/sealed-file.ts";
import { interrupted, oddItems, stagedFiles } from "./resuming.ts";
import { temporaryFolder } from "./running.ts";
import { Scripted } from "./scripted.ts";

const FORMS = { listed: forms.listed, single: forms.single, end: forms.end, beginning: beginningForm };

function formOf(name: string): keyof typeof FORMS {
  if (name === "resume.json") return "beginning";
  if (name.endsWith("-end.json")) return "end";
  return name.startsWith("item-") ? "single" : "listed";
}

/** So many places of each file are damaged, all of them in a small one. */
const PLACES = 400;

test("G8: no byte of what is kept can change without the file counting as not there", async (t) => {
  const service = await Scripted.start(t, oddItems(300));
  const out = join(await temporaryFolder(t), "warehouse");
  await interrupted(
    service,
    { out },
    ({ kind, mode, page }) => kind === "list" && mode === "full" && page === 100,
  );
  const kinds = new Set<string>();
  for (const path of (await stagedFiles(out)).filter((each) => each.endsWith(".json"))) {
    const form = formOf(basename(path));
    if (kinds.has(form)) continue;
    kinds.add(form);
    const file = join(out, ".staging", path);
    const whole = await readFile(file);
    assert.ok(await readSealed<unknown>(file, FORMS[form]), `${path} is whole`);
    const step = Math.max(1, Math.floor(whole.length / PLACES));
    for (let place = 0; place < whole.length; place += step) {
      const damaged = Buffer.from(whole);
      damaged[place] = (damaged[place] ?? 0) ^ (1 << (place % 8));
      await writeFile(file, damaged);
      assert.equal(await readSealed<unknown>(file, FORMS[form]), undefined, `byte ${place} of ${path}`);
    }
    for (const torn of [whole.subarray(0, -1), Buffer.concat([whole, Buffer.from(" ")]), Buffer.alloc(0)]) {
      await writeFile(file, torn);
      assert.equal(
        await readSealed<unknown>(file, FORMS[form]),
        undefined,
        `${path} of ${torn.length} bytes`,
      );
    }
  }
  assert.deepEqual([...kinds].sort(), Object.keys(FORMS).sort());
});
