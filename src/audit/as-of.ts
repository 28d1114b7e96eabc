import { WarehouseError } from "../errors.ts";
import { all, toSafeInteger } from "../load/duckdb.ts";
import { listRuns } from "../load/retention.ts";
import type { OutputFolder } from "../run/directory.ts";
import { hasHistory } from "./diff-runs.ts";
import { suggestion } from "./nearest.ts";
import { openRun } from "./open-run.ts";

const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/** A run whose files are gone, and that the history of the current run knows. */
export interface PastRun {
  readonly run: string;
  readonly sequence: number;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly verdict: "complete" | "unsettled";
  /** Whether values of fields without value mappings joined the payloads of the run. */
  readonly passthrough: boolean;
}

/** A run that is opened; `past`: not for itself, but for what its history knows of another. */
export interface Moment {
  readonly wanted: string;
  readonly past?: PastRun;
}

/**
 * The run that `--as-of` means: a run by name or number, or at an instant (ISO 8601; a day alone is its first moment,
 * UTC) the last that was finished by then. Where its files are gone, the history of the current run is asked. Throws
 * `config.not_found` where that does not know it either.
 */
export async function runAsOf(
  folder: OutputFolder,
  asOf: string,
  temporaryDirectory: string,
): Promise<Moment> {
  const isInstant = INSTANT.test(asOf);
  const instant = Date.parse(asOf);
  if (isInstant && Number.isNaN(instant)) {
    throw new WarehouseError(
      "config.invalid",
      `${asOf} is no instant; write 2026-11-20T02:00:00Z, or the name of a run.`,
    );
  }
  const runs = await listRuns(folder);
  const kept = runs.find(({ run, sequence, current, manifest }) =>
    isInstant
      ? !(manifest instanceof WarehouseError) && Date.parse(manifest.endedAt) <= instant
      : run === asOf || (asOf === "current" && current) || isNumber(asOf, sequence),
  );
  if (kept !== undefined) return { wanted: kept.run };
  const current = runs.find((each) => each.current);
  if (current === undefined || !hasHistory(current)) throw notKept(asOf, isInstant, runs.at(-1)?.run);
  const known = await knownRuns(folder, current.run, temporaryDirectory);
  const past = known.find(({ run, sequence, finishedMs }) =>
    isInstant ? finishedMs <= instant : run === asOf || isNumber(asOf, sequence),
  );
  if (past !== undefined) return { wanted: current.run, past };
  if (isInstant) throw notKnown(asOf, current.run, known.at(-1)?.run);
  const names = [...runs, ...known].flatMap(({ run, sequence }) => [run, String(sequence)]);
  throw new WarehouseError(
    "config.not_found",
    `Neither ${folder.root} nor the history of its current run knows a run "${asOf}".${suggestion(asOf, names, `The newest is ${current.run}.`)}`,
  );
}

function isNumber(text: string, sequence: number): boolean {
  return /^\d+$/.test(text) && Number(text) === sequence;
}

const KNOWN = `
  SELECT run, sequence, verdict, passthrough, strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') AS started_at,
    epoch_ms(extracted_at) AS finished_ms
  FROM run_history ORDER BY sequence DESC`;

async function knownRuns(
  folder: OutputFolder,
  wanted: string,
  temporaryDirectory: string,
): Promise<(PastRun & { readonly finishedMs: number })[]> {
  await using opened = await openRun({ folder, wanted, temporaryDirectory });
  const rows = await all(opened.connection, KNOWN);
  return rows.map((row) => ({
    run: String(row.run),
    sequence: toSafeInteger(row.sequence ?? null),
    startedAt: String(row.started_at),
    verdict: row.verdict === "unsettled" ? "unsettled" : "complete",
    passthrough: row.passthrough === true,
    finishedMs: toSafeInteger(row.finished_ms ?? null),
  }));
}

function notKept(asOf: string, isInstant: boolean, oldest: string | undefined): WarehouseError {
  const kept = oldest === undefined ? "none was published" : `the oldest that is kept is ${oldest}`;
  const what = isInstant ? `No run that is kept was finished by ${asOf}` : `No run "${asOf}" is kept`;
  return new WarehouseError("config.not_found", `${what} (${kept}); "runs list" shows them.`);
}

function notKnown(asOf: string, current: string, first: string | undefined): WarehouseError {
  return new WarehouseError(
    "config.not_found",
    `No run was finished by ${asOf}: the history of the current run ${current} begins with ${first ?? "itself"}.`,
  );
}
