/** Finds an item by its ID or slug, or the last run that had it. */
import { col } from "../../common/answer.ts";
import { noAnswer } from "../../common/errors.ts";
import { asSeen } from "../../common/look-alike.ts";
import { joinWords, nearSentence } from "../../common/nearest.ts";
import { all } from "../../storage/duckdb.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { OpenedRun } from "../open-run.ts";
import { notFound } from "../scope.ts";
import { isHistoryIn } from "./run-history.ts";

/**
 * Finds the ID of an item by ID, otherwise by slug, among the rows of `known`. Throws `answer.nothing` with the last run
 * that had the item or the nearest items of the run, `config.not_found` for a slug of several items.
 */
export async function findItemId(
  opened: OpenedRun,
  wanted: string,
  known = "FROM content SELECT content_id, slug",
): Promise<string> {
  const { connection } = opened;
  const read = (sql: string) => all(connection, sql, [wanted]);
  const rows = await read(
    `SELECT DISTINCT content_id FROM (${known}) WHERE content_id = $1 OR slug = $1
     ORDER BY content_id <> $1, content_id LIMIT 4`,
  );
  const ids = rows.map(({ content_id }) => String(content_id));
  const [id] = ids;
  if (id !== undefined && (ids.length === 1 || id === wanted)) return id;
  if (id !== undefined)
    throw notFound(`Several items have the slug "${wanted}": ${joinWords(ids, "and")}; name one by its ID.`);
  const past = await findPastItem(opened, wanted);
  if (past !== undefined) throw noAnswer(`${past.sentence}; name that run if its files are kept.`);
  const near = (await all(connection, NEAREST, [asSeen(wanted)])).map(({ name }) => String(name));
  const sentence = nearSentence(wanted, near, "No item has a similar name; query the table content.");
  throw noAnswer(`There is no item "${wanted}", neither by ID nor by slug.${sentence}`);
}

/** Finds by its ID an item that the run does not have and an earlier run had; `undefined` if there is none. */
export async function findPastItem({ connection, run, manifest }: OpenedRun, contentId: string) {
  const [last] = isHistoryIn(manifest) ? await readRows(connection, PAST_ITEM, LAST_SEEN, [contentId]) : [];
  if (last === undefined) return undefined;
  const { removedIn, lastRun } = last;
  const what =
    removedIn === null ? `was not seen by run ${run}` : `was removed: run ${removedIn} found it gone`;
  return { ...last, sentence: `The item ${contentId} ${what}. The last run that had it is ${lastRun}` };
}

const PAST_ITEM = {
  /** Run that found it removed; null if the run did not see it. */
  removedIn: col.text(),
  lastRun: col.text({ required: true }),
  /** Start of the last run, ISO 8601, UTC. */
  lastStartedAt: col.text({ required: true }),
} as const;

const LAST_SEEN = `
  SELECT items.valid_to_run AS removed_in, items.last_seen_run AS last_run,
    strftime(runs.started_at, '%Y-%m-%dT%H:%M:%SZ') AS last_started_at
  FROM content_history AS items JOIN run_history AS runs ON runs.run = items.last_seen_run
  ANTI JOIN content ON content.content_id = items.content_id OR content.slug = $1
  WHERE items.content_id = $1 ORDER BY runs.sequence DESC LIMIT 1`;

/** Items with the text in title or slug, or another ID or slug by a typing error. */
const NEAREST = `
  SELECT coalesce(slug, content_id) AS name,
    least(damerau_levenshtein(content_id, $1), damerau_levenshtein(coalesce(slug, content_id), lower($1))) AS distance
  FROM content
  WHERE distance <= 2 OR contains(lower(concat(title, ' ', slug)), lower($1))
  ORDER BY distance, name LIMIT 3`;
