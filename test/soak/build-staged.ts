/** Builds a small result, and ends as the program does. */
import { asWarehouseError } from "../../src/common/errors.ts";
import { nextRun, outputFolder } from "../../src/warehouse/layout.ts";
import { buildResult, NIGHT } from "../warehouse/published.ts";
import { STAGED_ITEMS } from "./staged.ts";

const folder = outputFolder(process.argv[2] ?? "");
try {
  await buildResult(folder, await nextRun(folder, NIGHT), STAGED_ITEMS);
} catch (thrown) {
  const error = asWarehouseError(thrown);
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}
