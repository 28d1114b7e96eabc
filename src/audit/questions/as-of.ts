/** The run that `--as-of` means. */
import { WarehouseError } from "../../common/errors.ts";
import { suggestion } from "../../common/nearest.ts";
import { parseInstant } from "../../raw/instant.ts";
import { isPutAside, runNamed, withPast } from "../../warehouse/identity.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import { listRuns, type PublishedRun, runCalled } from "../../warehouse/retention.ts";
import { notFound } from "./filters.ts";
import { hasHistory, type KnownRun, readRunHistory } from "./run-history.ts";

/** No name of a run begins like a day. */
const DAY = /^\d{4}-\d\d-\d\d/;
const EXAMPLE = "2026-11-20T02:00:00Z";
const INSTANT =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:(?<zone>[+-]\d\d:\d\d)|Z| UTC)?)?$/;

/** A run that is opened; `past`: not for itself, but for what its history knows of another. */
export interface Moment {
  readonly wanted: string;
  readonly past?: KnownRun;
}

/**
 * A run by name or number, or at an instant what the macros of the history mean by it: of the runs that had started by
 * then, the one with the highest number. Where its files are gone, the history of the current run is asked. Throws
 * `config.not_found` where that does not know it either.
 */
export async function runAsOf(
  folder: OutputFolder,
  asOf: string,
  temporaryDirectory: string,
): Promise<Moment> {
  const instant = instantOf(asOf);
  const all = await listRuns(folder);
  const current = all.find((each) => each.current);
  const past = withPast(current, all);
  const runs = all.filter((each) => each.run === asOf || !isPutAside(each, past));
  const meant = <Run extends Pick<KnownRun | PublishedRun, "run" | "sequence" | "startedAt">>(
    among: readonly Run[],
  ) =>
    instant === undefined
      ? runCalled(asOf === "current" ? (current?.run ?? asOf) : asOf, among)
      : among.find(({ startedAt }) => new Date(startedAt).getTime() <= instant);
  const kept = meant(runs);
  if (kept !== undefined && instant === undefined) return { wanted: kept.run };
  if (current === undefined || !hasHistory(current)) {
    if (kept !== undefined) return { wanted: kept.run };
    const oldest = runs.at(-1)?.run;
    const range = oldest === undefined ? "none was published" : `the oldest that is kept is ${oldest}`;
    throw notFound(
      instant === undefined
        ? `No run "${asOf}" is kept (${range}). An instant is written ${EXAMPLE}.`
        : `No run that is kept had started by ${asOf} (${range}).`,
    );
  }
  const known = await readRunHistory(folder, current.run, temporaryDirectory);
  const found = meant(known);
  if (found !== undefined) {
    const there = runNamed(found.run, runs, past);
    return there === undefined ? { wanted: current.run, past: found } : { wanted: there.run };
  }
  const names = [...runs, ...known].flatMap(({ run, sequence }) => [run, String(sequence)]);
  throw notFound(
    instant === undefined
      ? `Neither ${folder.root} nor the history of its current run knows a run "${asOf}".${suggestion(asOf, names, `The newest is ${current.run}.`)} An instant is written ${EXAMPLE}.`
      : `No run had started by ${asOf}: the history of the current run ${current.run} begins with ${known.at(-1)?.run ?? "itself"}.`,
  );
}

/**
 * Throws `config.not_found` for a run whose files are gone where the history of the current run knows it; whether any
 * other is there, who opens it will see.
 */
export async function assertNotPast(
  folder: OutputFolder,
  wanted: string,
  temporaryDirectory: string,
): Promise<void> {
  const runs = await listRuns(folder);
  const current = runs.find((each) => each.current);
  if (wanted === "current" || runCalled(wanted, runs) !== undefined) return;
  if (current === undefined || !hasHistory(current)) return;
  const known = await readRunHistory(folder, current.run, temporaryDirectory);
  const past = runCalled(wanted, known);
  if (past === undefined) return;
  throw notFound(
    `The files of run ${past.run} are gone; ask as of ${past.sequence}, which the history of the current run answers.`,
  );
}

/**
 * Milliseconds since 1970; undefined where the text names a run. A day alone is its beginning, and what names no zone is
 * UTC, with `T` or a blank before the time: so the instants that this program prints can be given back to it.
 */
function instantOf(text: string): number | undefined {
  if (!DAY.test(text)) return undefined;
  const { day = "", time = "00:00", zone = "Z" } = INSTANT.exec(text)?.groups ?? {};
  const micros = parseInstant(`${day}T${time}${zone}`);
  if (micros !== undefined) return Math.floor(Number(micros) / 1000);
  throw new WarehouseError(
    "config.invalid",
    `${text} is no instant; write ${EXAMPLE}, 2026-11-20 for the beginning of a day in UTC, or the name of a run.`,
  );
}
