/** `build`: builds a small result. `publish`: publishes the one that lies staged, as a run does. Ends as the program does. */
import { systemClock } from "../../src/common/clock.ts";
import { asWarehouseError } from "../../src/common/errors.ts";
import {
  nextRun,
  outputFolder,
  removeStaging,
  stagingFolder,
  stagingLeftovers,
} from "../../src/warehouse/layout.ts";
import { publishRun } from "../../src/warehouse/publish.ts";
import { buildResult, NIGHT, STAGED_ITEMS, statement } from "../warehouse/published.ts";

const [, , action, out = ""] = process.argv;
const folder = outputFolder(out);
try {
  if (action === "build") await buildResult(folder, await nextRun(folder, NIGHT), STAGED_ITEMS);
  else await publish();
} catch (thrown) {
  const error = asWarehouseError(thrown);
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}

async function publish(): Promise<void> {
  const [left] = await stagingLeftovers(folder);
  if (left === undefined) throw new Error("nothing is staged");
  const staging = stagingFolder(folder, left.run);
  await publishRun(folder, staging, statement(staging, STAGED_ITEMS), systemClock);
  // What a run says is published counts as published, whatever comes after it.
  process.stdout.write("published\n");
  await removeStaging(folder, left.run).catch(() => undefined);
}
