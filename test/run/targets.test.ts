import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import type { InstanceIdentity } from "../../src/pipeline.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { memoryTarget } from "../targets/memory-target.ts";
import { exportFrom, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

long("a run on an empty disk is above the run that its target was rolled back from", async (t) => {
  const service = await Scripted.start(t, itemsOf(5));
  const out = join(await temporaryFolder(t), "warehouse");
  const rollbackOf = { run: "000041-20261121T020000Z", sequence: 41 };
  const last = { run: "000040-20261120T020000Z", sequence: 40, rollbackOf };
  const target = { ...memoryTarget(), last: async () => last };
  const { sequence } = await exportFrom({ url: service.url, out, config: { targets: [target] } });
  assert.equal(sequence, 42);
});

test("a run on an empty disk tells its targets whom it reads, so that it is given no run of another service", async (t) => {
  const service = await Scripted.start(t, itemsOf(5));
  const out = join(await temporaryFolder(t), "warehouse");
  const asked: (InstanceIdentity | null)[] = [];
  const other = {
    ...memoryTarget(),
    last: async (instance: InstanceIdentity | null) => {
      asked.push(instance);
      throw new WarehouseError("target.refused", "It is another's; correct the name.");
    },
    restore: async () => assert.fail("a run of another service was asked for"),
  };
  await failsWith("target.refused", exportFrom({ url: service.url, out, config: { targets: [other] } }));
  assert.deepEqual(asked, [{ id: null, origin: new URL(service.url).origin }]);
  assert.deepEqual(service.questions, []);
});
