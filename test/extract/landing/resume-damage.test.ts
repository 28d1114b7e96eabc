import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { readSealed } from "../../../src/common/sealed-file.ts";
import { forms } from "../../../src/extract/landing/checkpoint-form.ts";
import { resumeRecordForm } from "../../../src/run/resume.ts";
import { either } from "../../long.ts";
import { temporaryFolder } from "../../run/running.ts";
import { type Question, Scripted } from "../../run/scripted.ts";
import { interrupted, oddItems } from "./resuming.ts";

const FORMS = { ...forms, beginning: resumeRecordForm };

function formOf(name: string): keyof typeof FORMS {
  if (name === "resume.json") return "beginning";
  if (name.endsWith("-end.json")) return "end";
  if (name.endsWith("-open.json")) return name.startsWith("item-") ? "openSingle" : "openListed";
  return name.startsWith("item-") ? "single" : "listed";
}

const ENDS: Readonly<Record<string, (question: Question) => boolean>> = {
  items: ({ kind, id }) => kind === "item" && id === "c-0200",
  full: ({ kind, mode, page }) => kind === "list" && mode === "full" && page === 100,
};

/** So many places of each file are damaged, all of them in a small one. */
const PLACES = either(120, 400);

test("G8: no byte of what is kept can change without the file counting as not there", async (t) => {
  const service = await Scripted.start(t, oddItems(300));
  const folder = await temporaryFolder(t);
  for (const [name, at] of Object.entries(ENDS)) await interrupted(service, { out: join(folder, name) }, at);
  const kinds = new Set<string>();
  const paths = await readdir(folder, { recursive: true });
  for (const path of paths.filter((each) => each.includes(".staging") && each.endsWith(".json"))) {
    const form = formOf(basename(path));
    if (kinds.has(form)) continue;
    kinds.add(form);
    const file = join(folder, path);
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
