/** Finds an item by its ID or slug. */
import { asSeen } from "../../common/look-alike.ts";
import { joinWords, nearSentence } from "../../common/nearest.ts";
import { all } from "../../storage/duckdb.ts";
import type { OpenedRun } from "../open-run.ts";
import { notFound } from "../scope.ts";
import { isHistoryIn } from "./run-history.ts";

/**
 * Finds the ID of an item by ID, otherwise by slug, among the rows of `known`. Throws `config.not_found` with the last
 * run that had the item, or the nearest items of the run.
 */
export async function findItemId(
  opened: OpenedRun,
  wanted: string,
  known = "FROM content SELECT content_id, slug",
): Promise<string> {
  const { connection, run } = opened;
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
  const [last] = isHistoryIn(opened.manifest) ? await read(LAST_SEEN) : [];
  if (last !== undefined) {
    const end = last.valid_to_run;
    const what = end === null ? `was not seen by run ${run}` : `was removed: run ${end} found it gone`;
    throw notFound(
      `The item ${wanted} ${what}. The last run that had it is ${last.last_seen_run}; name that run if its files are kept.`,
    );
  }
  const near = (await all(connection, NEAREST, [asSeen(wanted)])).map(({ name }) => String(name));
  const sentence = nearSentence(wanted, near, "No item has a similar name; query the table content.");
  throw notFound(`There is no item "${wanted}", neither by ID nor by slug.${sentence}`);
}

const LAST_SEEN = `
  SELECT items.valid_to_run, items.last_seen_run
  FROM content_history AS items JOIN run_history AS runs ON runs.run = items.last_seen_run
  WHERE items.content_id = $1 ORDER BY runs.sequence DESC LIMIT 1`;

/** Items with the text in title or slug, or another ID or slug by a typing error. */
const NEAREST = `
  SELECT coalesce(slug, content_id) AS name,
    least(damerau_levenshtein(content_id, $1), damerau_levenshtein(coalesce(slug, content_id), lower($1))) AS distance
  FROM content
  WHERE distance <= 2 OR contains(lower(concat(title, ' ', slug)), lower($1))
  ORDER BY distance, name LIMIT 3`;
