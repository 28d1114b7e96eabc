/**
 * `npm run bench:lake -- fleet`: what a lake costs. `fleet`: workers that run and deliver many instances. `commits`:
 * committers at one table. `log`: a year's log, read by us and by others. `nights`: ten nights with few edits. Prints
 * JSON. No test asserts a time.
 */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../../src/common/tree.ts";
import { benchCommits } from "./lake-commits.ts";
import { benchFleet } from "./lake-fleet.ts";
import { benchLog } from "./lake-log.ts";
import { benchNights } from "./lake-nights.ts";

const PARTS: Readonly<Record<string, (folder: string, count: number | undefined) => Promise<object>>> = {
  fleet: benchFleet,
  commits: benchCommits,
  log: benchLog,
  nights: benchNights,
};

const [, , name = "", count] = process.argv;
const part = PARTS[name];
if (part === undefined) {
  process.stderr.write(
    `Say which: ${Object.keys(PARTS).join(", ")}; then how many instances, seconds, nights or items.\n`,
  );
  process.exitCode = 2;
} else {
  const folder = await mkdtemp(join(tmpdir(), "content-warehouse-lake-"));
  try {
    const report = await part(folder, count === undefined ? undefined : Number(count));
    process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  } finally {
    await removeTree(folder);
  }
}
