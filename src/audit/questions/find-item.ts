/** Finds an item by its ID, slug or title, or the last run that had it. */
import { col } from "../../common/answer.ts";
import { noAnswer } from "../../common/errors.ts";
import { asSeen } from "../../common/look-alike.ts";
import { joinFirst, nearSentence } from "../../common/nearest.ts";
import { all } from "../../storage/duckdb.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { OpenedRun } from "../open-run.ts";
import { notFound } from "../scope.ts";
import { isHistoryIn } from "./run-history.ts";

const FOUND = {
  content_id: col.text({ required: true }),
  /** `3`: by ID; `2`: by slug; `1`: by title. */
  rank: col.count({ required: true }),
  type: col.text(),
  /** Day of the last edit. */
  edited: col.text(),
} as const;

/** Items of an ID, slug or title among the rows of `known`; the ID counts before the slug, and that before the title. */
const itemsCalled = (known: string) => `
  SELECT items.content_id, max(CASE $1 WHEN items.content_id THEN 3 WHEN items.slug THEN 2 ELSE 1 END) AS rank,
    any_value(coalesce(display_name, content_type_id)) AS type, strftime(any_value(updated_at), '%Y-%m-%d') AS edited
  FROM (${known}) AS items
  LEFT JOIN (SELECT content_id, content_type_id, updated_at FROM content) AS facts USING (content_id)
  LEFT JOIN (SELECT content_type_id, display_name FROM content_types) AS types USING (content_type_id)
  WHERE $1 IN (items.content_id, items.slug) OR lower(trim(items.title)) = lower(trim($1))
  GROUP BY ALL ORDER BY rank DESC, edited DESC NULLS LAST, content_id`;

/**
 * Finds the ID of an item by ID, else by slug, else by title, among the rows of `known`. Throws `answer.nothing` with the
 * last run that had the item or the nearest items of the run, `config.not_found` for a slug or title of several items.
 */
export async function findItemId(
  opened: OpenedRun,
  wanted: string,
  known = "FROM content SELECT content_id, slug, title",
): Promise<string> {
  const { connection } = opened;
  const matches = await readRows(connection, FOUND, itemsCalled(known), [wanted]);
  const found = matches.filter(({ rank }) => rank === matches[0]?.rank);
  const [item] = found;
  if (item !== undefined && found.length === 1) return item.content_id;
  if (item !== undefined) {
    const texts = found.map(({ content_id, type, edited }) => {
      const facts = [type, edited && `edited ${edited}`].filter((fact) => fact !== null);
      return facts.length === 0 ? content_id : `${content_id} (${facts.join(", ")})`;
    });
    const what = item.rank === 2 ? "slug" : "title";
    throw notFound(
      `${found.length} items have the ${what} "${wanted}": ${joinFirst(texts, 10)}; name one by its ID.`,
    );
  }
  const past = await findPastItem(opened, wanted);
  if (past !== undefined) throw noAnswer(`${past.sentence}; name that run if its files are kept.`);
  const near = (await all(connection, NEAREST, [asSeen(wanted)])).map(({ name }) => String(name));
  const sentence = nearSentence(wanted, near, "No item has a similar name; query the table content.");
  throw noAnswer(`There is no item "${wanted}", neither by ID nor by slug or title.${sentence}`);
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
