/** Which warnings are new, night after night. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../src/common/log.ts";
import { newWarningCauses } from "../../src/run/publication.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { exportFrom, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

const CHECK = "foreign key content.localized_from_id → content";

test("a cause is new when the run before did not have it", async (t) => {
  const folder = outputFolder(await temporaryFolder(t));
  const night = async (...causes: string[]) => [...(await newWarningCauses(folder, causes, silentLog))];
  assert.deepEqual(await night("a", "b"), ["a", "b"]);
  assert.deepEqual(await night("a", "c"), ["c"]);
  assert.deepEqual(await night(), []);
  assert.deepEqual(await night("a"), ["a"]);
});

test("a check that warns two nights in a row is new in the first, whatever its figures", async (t) => {
  const service = await Scripted.start(t, itemsOf(4));
  const out = await temporaryFolder(t);
  const night = async (dangling: number) => {
    service.items = itemsOf(4).map((item, place) => ({
      ...item,
      localized_from_id: place < dangling ? "c-999" : "c-000",
    }));
    return (await exportFrom({ url: service.url, out })).newWarnings;
  };
  assert.deepEqual(await night(1), [
    `1 check warns since this run (${CHECK}: 1); "content-warehouse runs show" lists them.`,
  ]);
  assert.deepEqual(await night(2), []);
});
