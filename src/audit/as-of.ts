import { WarehouseError } from "../errors.ts";
import { listRuns } from "../load/retention.ts";
import type { OutputFolder } from "../run/directory.ts";

const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/**
 * The run that `--as-of` means: a run by name or number, or at an instant (ISO 8601; a day alone is its first moment,
 * UTC) the last that was finished by then. Throws `config.not_found` where no such run is kept any more.
 */
export async function runAsOf(folder: OutputFolder, asOf: string): Promise<string> {
  if (!INSTANT.test(asOf)) return asOf;
  const instant = Date.parse(asOf);
  if (Number.isNaN(instant)) {
    throw new WarehouseError(
      "config.invalid",
      `${asOf} is no instant; write 2026-11-20T02:00:00Z, or the name of a run.`,
    );
  }
  const runs = (await listRuns(folder)).flatMap(({ run, manifest }) =>
    manifest instanceof WarehouseError ? [] : [{ run, endedAt: Date.parse(manifest.endedAt) }],
  );
  const found = runs.find(({ endedAt }) => endedAt <= instant);
  if (found !== undefined) return found.run;
  const oldest = runs.at(-1);
  const kept = oldest === undefined ? "none was published" : `the oldest that is kept is ${oldest.run}`;
  throw new WarehouseError(
    "config.not_found",
    `No run that is kept was finished by ${asOf} (${kept}); "runs list" shows them.`,
  );
}
