/** The runs that the history of a run knows, also those whose files are gone. */
import { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { HISTORY_TABLES } from "../../tables/history.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import type { PublishedRun } from "../../warehouse/retention.ts";
import { openRun } from "../open-run.ts";
import { flag, integer, rowsOf } from "../rows.ts";

const knownRun = z.object({
  run: z.string(),
  sequence: integer,
  /** ISO 8601, UTC. */
  startedAt: z.string(),
  verdict: z.enum(["complete", "unsettled"]),
  /** Whether values of fields without value mappings joined the payloads of the run. */
  passthrough: flag,
  /** Whose history it carried on. */
  previousRun: z.string().nullable(),
});
export type KnownRun = Readonly<z.output<typeof knownRun>>;

export function hasHistory({ manifest }: Pick<PublishedRun, "manifest">): boolean {
  if (manifest instanceof WarehouseError) return false;
  return HISTORY_TABLES.every(({ name }) => Object.hasOwn(manifest.rows, name));
}

/** The latest first. */
export async function readRunHistory(
  folder: OutputFolder,
  run: string,
  temporaryDirectory: string,
): Promise<KnownRun[]> {
  await using opened = await openRun({ folder, wanted: run, temporaryDirectory });
  return await rowsOf(
    opened.connection,
    knownRun,
    `SELECT run, sequence, verdict, passthrough, previous_run,
       strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') AS started_at
     FROM run_history ORDER BY sequence DESC`,
  );
}
