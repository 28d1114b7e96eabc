/** The part of a check that looks at the folder of the warehouse. What it makes there it takes away again. */
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { counted, fileSize } from "../common/figures.ts";
import { type Config, treatmentOf } from "../config/config.ts";
import { assertComparable, assertSameKey, type Baseline, readBaseline } from "../warehouse/baseline.ts";
import { assertRoom, type FreeBytes, NOTHING_TAKEN, roomNeeded } from "../warehouse/disk.ts";
import {
  discardUnused,
  type OutputFolder,
  type PreparedOutput,
  prepareOutput,
  removeEmpty,
} from "../warehouse/layout.ts";
import { acquireLock } from "../warehouse/lock.ts";
import type { Verification } from "../warehouse/verify-run.ts";
import { type Finding, failed, lookAt, ok, skipped } from "./finding.ts";

/** A folder that a run could publish in. */
export interface CheckedWarehouse {
  readonly folder: OutputFolder;
  /** An error where a newer program wrote the current run. */
  readonly baseline: Baseline | WarehouseError;
}

/** Folder, lock and disk. `path`: of the warehouse, or why it is not known. Null: there is none to look at. */
export async function* checkWarehouse(
  path: string | WarehouseError,
  freeBytes: FreeBytes,
): AsyncGenerator<Finding, CheckedWarehouse | null> {
  const folder = path instanceof WarehouseError ? path : await prepareOutput(path).catch(asWarehouseError);
  if (folder instanceof WarehouseError) {
    yield folder === path ? skipped("warehouse", "needs a configuration") : failed("warehouse", folder);
    yield skipped("lock", "needs the warehouse");
    yield skipped("disk", "needs the warehouse");
    return null;
  }
  const baseline = await readBaseline(folder).catch(asWarehouseError);
  const disk = await diskFinding(folder, baseline, freeBytes);
  const lock = await lockFinding(folder);
  yield ok("warehouse", `${folder.root} can be ${folder.made.includes(folder.root) ? "made" : "written"}`);
  yield lock;
  yield disk;
  return { folder, baseline };
}

function diskFinding(
  { root }: OutputFolder,
  baseline: Baseline | WarehouseError,
  freeBytes: FreeBytes,
): Promise<Finding> {
  return lookAt("disk", async () => {
    const before: Baseline = baseline instanceof WarehouseError ? { kind: "none" } : baseline;
    await assertRoom(root, before, freeBytes);
    const free = await freeBytes(root);
    const needed = roomNeeded(before, NOTHING_TAKEN);
    const room = free === undefined ? "the file system does not tell" : `${fileSize(free)} free`;
    return needed === undefined ? room : `${room}; a run takes up to ${fileSize(needed)}`;
  });
}

/** Takes the lock for a moment, and leaves the folder as it was found. */
function lockFinding(prepared: PreparedOutput): Promise<Finding> {
  return lookAt("lock", async () => {
    await using _lock = await acquireLock(prepared).catch(async (thrown: unknown) => {
      await removeEmpty(prepared.made);
      throw thrown;
    });
    await discardUnused(prepared);
    return "no run is under way";
  });
}

/** Whether the run that readers see is as it was published, and whether a run can follow on it. */
export async function checkCurrentRun(
  config: Config | WarehouseError,
  warehouse: CheckedWarehouse | null,
  verifyCurrent: (folder: OutputFolder) => Promise<Verification>,
): Promise<Finding> {
  if (warehouse === null) return skipped("current run", "needs the warehouse");
  const { folder, baseline } = warehouse;
  return lookAt("current run", async () => {
    if (baseline instanceof WarehouseError) throw baseline;
    if (baseline.kind === "none") return "nothing is published yet";
    assertComparable(baseline, false);
    if (!(config instanceof WarehouseError))
      assertSameKey(baseline, treatmentOf(config.personalData), folder.root);
    return verified(await verifyCurrent(folder));
  });
}

function verified({ runs, findings }: Verification): string {
  const [first] = findings;
  if (first !== undefined) {
    const more = findings.length > 1 ? ` (and ${counted(findings.length - 1, "other finding")})` : "";
    throw new WarehouseError(
      "verify.failed",
      `${first}${more} Look at "content-warehouse verify", and make a run that is whole current with "runs rollback".`,
    );
  }
  const whole = runs.map(({ run, files, bytes }) => `${run}, ${counted(files, "file")}, ${fileSize(bytes)}`);
  return `${whole.join()}: as it was published`;
}
