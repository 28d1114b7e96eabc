/** What an item produced in a run whose files are gone, from the history of the current one. */
import { all } from "../../storage/duckdb.ts";
import { NAMED, type Named, namesSql } from "../diff/names.ts";
import { payloadMembers } from "../mapping/mapped-value.ts";
import type { OpenedRun } from "../open-run.ts";
import { findItem, type ItemFacts } from "./explain.ts";
import { notFound } from "./filters.ts";
import { readHeldValues } from "./item-history.ts";
import type { KnownRun } from "./run-history.ts";

export type PastExplanation = Awaited<ReturnType<typeof explainPast>>;

/** Throws `config.not_found` for an item that is not known, or that was not there in that run. */
export async function explainPast(opened: OpenedRun, wanted: string, past: KnownRun) {
  const { connection } = opened;
  const item = await findKnown(opened, wanted);
  await assertPresent(opened, item.contentId, past);
  const values = await readHeldValues(connection, item.contentId, past.sequence);
  const byDestination = Map.groupBy(values, ({ row }) => row.destinationId);
  const payloads = [...byDestination].map(([id, held]) => {
    const rows = held.map(({ row }) => row);
    return [id, payloadMembers(rows, past.passthrough)] as const;
  });
  return {
    /** As the run is that tells of it; an item that is gone by now has an ID alone. */
    item,
    past,
    values,
    /** None where nothing was sent. */
    payloads: new Map(payloads.filter(([, members]) => members.size > 0)),
    /** Names by ID, as that run had them. */
    destinations: await namesOf(opened, "destinations", past),
    fields: await namesOf(opened, "fields", past),
  };
}

async function findKnown(opened: OpenedRun, wanted: string): Promise<ItemFacts> {
  const { connection } = opened;
  const [found] = await all(connection, GONE_BUT_KNOWN, [wanted]);
  if (found?.known !== true) return findItem(opened, wanted);
  return { contentId: wanted, slug: null, title: null, contentType: null, updatedAt: null };
}

const GONE_BUT_KNOWN = `
  SELECT NOT EXISTS (FROM content WHERE content_id = $1 OR slug = $1)
    AND EXISTS (FROM content_history WHERE content_id = $1) AS known`;

const PRESENCE = `
  SELECT history.valid_from_run, history.valid_to_run,
    since.sequence <= $2 AND (until.sequence IS NULL OR until.sequence > $2) AS there
  FROM content_history AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
  WHERE history.content_id = $1
  ORDER BY since.sequence`;

async function assertPresent(
  { connection }: OpenedRun,
  contentId: string,
  { run, sequence }: KnownRun,
): Promise<void> {
  const times = await all(connection, PRESENCE, [contentId, sequence]);
  if (times.some(({ there }) => there === true)) return;
  const spans = times.map(({ valid_from_run, valid_to_run }) =>
    valid_to_run === null
      ? `since run ${valid_from_run}`
      : `from run ${valid_from_run} until run ${valid_to_run} found it gone`,
  );
  throw notFound(`The item ${contentId} was not there in run ${run}; it was there ${spans.join(", and ")}.`);
}

async function namesOf(
  { connection }: OpenedRun,
  named: Named,
  { sequence }: KnownRun,
): Promise<Map<string, string | null>> {
  const rows = await all(connection, namesSql("audit_diff_names", named), [sequence, sequence]);
  const { id } = NAMED[named];
  return new Map(
    rows.map(({ name = null, ...row }) => [String(row[id]), name === null ? null : String(name)]),
  );
}
