import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { readSealed } from "../../../src/common/sealed-file.ts";
import { either } from "../../long.ts";
import { temporaryFolder } from "../../run/running.ts";
import { type Question, Scripted } from "../../run/scripted.ts";
import { interrupted, oddItems } from "./resuming.ts";

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
    const kind = basename(path).split("-")[0] ?? "";
    if (kinds.has(kind)) continue;
    kinds.add(kind);
    const file = join(folder, path);
    const whole = await readFile(file);
    assert.ok(await readSealed(file, z.unknown()), `${path} is whole`);
    const step = Math.max(1, Math.floor(whole.length / PLACES));
    for (let place = 0; place < whole.length; place += step) {
      const damaged = Buffer.from(whole);
      damaged[place] = (damaged[place] ?? 0) ^ (1 << (place % 8));
      await writeFile(file, damaged);
      assert.equal(await readSealed(file, z.unknown()), undefined, `byte ${place} of ${path}`);
    }
    for (const torn of [whole.subarray(0, -1), Buffer.concat([whole, Buffer.from(" ")]), Buffer.alloc(0)]) {
      await writeFile(file, torn);
      assert.equal(await readSealed(file, z.unknown()), undefined, `${path} of ${torn.length} bytes`);
    }
  }
  assert.deepEqual([...kinds].sort(), ["dynamic", "full", "item", "resume.json"]);
});
