import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { rollback } from "../../src/warehouse/retention.ts";
import { long } from "../long.ts";
import { SMALL, scriptedWorld } from "./running.ts";
import { item, itemsOf } from "./scripted.ts";

suite("a run that is compared with the run before", () => {
  test("counts new, changed and removed items and finds new fields, in the summary and the manifest", async (t) => {
    const { service, exported } = await scriptedWorld(t, itemsOf(5));
    const first = await exported();
    assert.deepEqual([first.previousRun, first.changes, first.mappedValues], [null, null, null]);
    const [, , edited, ...rest] = itemsOf(5);
    const updated_at = "2026-11-03T10:00:00Z";
    service.items = [{ ...edited, updated_at, mood: "glad" }, ...rest, item("new", 1)];
    const second = await exported();
    assert.equal(second.previousRun, first.run);
    assert.deepEqual(second.changes, { new: 1, edited: 1, removed: 2 });
    assert.deepEqual((await readManifest(second.directory)).changes, second.changes);
    const fresh = second.drift?.newFields.filter(({ before }) => before === 0);
    assert.deepEqual(
      fresh?.map(({ path, example }) => [path, example]),
      [["mood", "glad"]],
    );
  });

  test("shows no value of that run where it kept personal values and this one drops them", async (t) => {
    const { service, exported } = await scriptedWorld(t, [item("a", 1, { team: "needle@example.com" })]);
    const of = (policy: "keep" | "drop") => exported({ config: { personalData: { policy, key: null } } });
    await of("keep");
    service.items = [item("a", 1, { slug: null })];
    const { drift } = await of("drop");
    assert.deepEqual(
      drift?.vanishedFields.map(({ path, before, example }) => [path, before, example]),
      [
        ["team", 2, null],
        ["slug", 1, null],
      ],
    );
  });

  long("is published all the same where the run before cannot be read, with a warning", async (t) => {
    const { exported } = await scriptedWorld(t, itemsOf(2));
    const first = await exported({ pipelineUrl: SMALL });
    const database = join(first.directory, "warehouse.duckdb");
    await chmod(first.directory, 0o755);
    await chmod(database, 0o644);
    await writeFile(database, "no database");
    const { verdict, changes, drift, warnings, comparedWith } = await exported();
    assert.deepEqual([verdict, changes, drift, comparedWith], ["complete", null, null, null]);
    assert.match(warnings.join("\n"), new RegExp(`^The run could not be compared with ${first.run}: `, "m"));
  });
});

const CHECK = "foreign key content.localized_from_id → content";

test("a check that warns two nights in a row is new in the first, whatever its figures", async (t) => {
  const { service, exported } = await scriptedWorld(t, itemsOf(4));
  const night = async (dangling: number) => {
    service.items = itemsOf(4).map((item, place) => ({
      ...item,
      localized_from_id: place < dangling ? "c-999" : "c-000",
    }));
    return (await exported()).newWarnings;
  };
  assert.deepEqual(await night(1), [
    `1 check warns since this run (${CHECK}: 1); "content-warehouse runs show" lists them.`,
  ]);
  assert.deepEqual(await night(2), []);
});

test("a warning is new again after a rollback to a run without it", async (t) => {
  const { service, exported, out } = await scriptedWorld(t, itemsOf(2));
  const night = async (localized_from_id: string) => {
    service.items = itemsOf(2).map((item) => ({ ...item, localized_from_id }));
    return (await exported({ pipelineUrl: SMALL })).newWarnings.length;
  };
  assert.deepEqual([await night("c-000"), await night("c-999"), await night("c-999")], [0, 1, 0]);
  await rollback(outputFolder(out), "1");
  assert.deepEqual([await night("c-999"), await night("c-999")], [1, 0]);
});
