/** `npm run bench:lake`: what nights with few edits put into a lake. Prints JSON. No test asserts a time. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../../src/common/tree.ts";
import { benchNights } from "./lake-nights.ts";

const [, , items] = process.argv;
const folder = await mkdtemp(join(tmpdir(), "content-warehouse-lake-"));
try {
  const report = await benchNights(folder, items === undefined ? undefined : Number(items));
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
} finally {
  await removeTree(folder);
}
