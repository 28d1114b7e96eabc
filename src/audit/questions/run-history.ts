/** The runs that the history of a run knows, also those whose files are gone, and the one that it was compared with. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { VERDICTS } from "../../common/verdict.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { HISTORY_TABLES } from "../../tables/history.ts";
import { previousOf } from "../../warehouse/identity.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { listRuns, type PublishedRun } from "../../warehouse/retention.ts";
import { findReadable, openRun } from "../open-run.ts";

const required = { required: true } as const;

const KNOWN_RUN = {
  run: col.text(required),
  sequence: col.count(required),
  /** ISO 8601, UTC. */
  startedAt: col.text(required),
  verdict: col.text({ ...required, of: VERDICTS }),
  /** Whether values of fields without value mappings joined the payloads of the run. */
  passthrough: col.flag(required),
  /** Whose history it carried on. */
  previousRun: col.text(),
} as const;
export type KnownRun = AnswerRow<typeof KNOWN_RUN>;

export function hasHistory({ manifest }: Pick<PublishedRun, "manifest">): boolean {
  return !(manifest instanceof WarehouseError) && isHistoryIn(manifest);
}

export function isHistoryIn({ rows }: Pick<Manifest, "rows">): boolean {
  return HISTORY_TABLES.every(({ name }) => Object.hasOwn(rows, name));
}

/** The latest first. */
export async function readRunHistory(
  folder: OutputFolder,
  run: string,
  temporaryDirectory: string,
): Promise<KnownRun[]> {
  await using opened = await openRun({ folder, wanted: run, temporaryDirectory });
  return await readKnownRuns(opened.connection);
}

/** Of an opened run that has a history. */
export function readKnownRuns(connection: DuckDBConnection): Promise<KnownRun[]> {
  return readRows(
    connection,
    KNOWN_RUN,
    `SELECT run, sequence, verdict, passthrough, previous_run,
       strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') AS started_at
     FROM run_history ORDER BY sequence DESC`,
  );
}

export type PreviousRun = Awaited<ReturnType<typeof findPreviousRun>>;

/**
 * The run that another was compared with when it was made; where none can be
 * read, `missing` is a sentence that says why, else null. Throws `config.not_found` for a run that does not exist,
 * `verify.failed` for one that cannot be read.
 */
export async function findPreviousRun(folder: OutputFolder, wanted: string) {
  const { run, manifest } = await findReadable(folder, wanted);
  const { previousRun } = manifest;
  if (previousRun === null) {
    const missing = `${run} is the first run of this warehouse, so there is nothing to compare it with.`;
    return { manifest: undefined, missing };
  }
  const before = previousOf(manifest, await listRuns(folder))?.manifest;
  const found = before instanceof WarehouseError ? undefined : before;
  const missing = `The run before it, ${previousRun}, was removed or cannot be read, so there is nothing to compare with; \`keepRuns\` says how many runs stay.`;
  return { manifest: found, missing: found === undefined ? missing : null };
}
