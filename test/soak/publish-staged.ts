/** Publishes the result that lies staged in a folder, as a run does, and ends as the program does. */
import { systemClock } from "../../src/common/clock.ts";
import { asWarehouseError } from "../../src/common/errors.ts";
import { outputFolder, removeStaging, stagingFolder, stagingLeftovers } from "../../src/warehouse/layout.ts";
import { publishRun } from "../../src/warehouse/publish.ts";
import { statement } from "../warehouse/published.ts";
import { STAGED_ITEMS } from "./staged.ts";

const folder = outputFolder(process.argv[2] ?? "");
try {
  const [left] = await stagingLeftovers(folder);
  if (left === undefined) throw new Error("nothing is staged");
  const staging = stagingFolder(folder, left.run);
  await publishRun(folder, staging, statement(staging, STAGED_ITEMS), systemClock);
  // What a run says is published counts as published, whatever comes after it.
  process.stdout.write("published\n");
  await removeStaging(folder, left.run).catch(() => undefined);
} catch (thrown) {
  const error = asWarehouseError(thrown);
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}
