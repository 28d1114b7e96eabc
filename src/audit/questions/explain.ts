/** Finds an item and what explains its mapped values: values, definitions, history and evidence. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { joinWords } from "../../common/nearest.ts";
import { all } from "../../storage/duckdb.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { readDefinitions } from "../mapping/definitions.ts";
import { readPassthrough, readReceptions } from "../mapping/value-counts.ts";
import type { OpenedRun } from "../open-run.ts";
import { notFound } from "../scope.ts";
import { findContradictions, findEvidence } from "./evidence.ts";
import { readItemValues, readMappedValues, readPayloads, readValueVersions } from "./item-values.ts";
import { hasHistory } from "./run-history.ts";

const ITEM_FACTS = {
  contentId: col.text({ required: true }),
  slug: col.text(),
  title: col.text(),
  contentType: col.text(),
  /** ISO 8601, UTC. */
  updatedAt: col.text(),
} as const;
export type ItemFacts = AnswerRow<typeof ITEM_FACTS>;

export type ItemExplanation = Awaited<ReturnType<typeof explainItem>>;

/**
 * Explains an item by ID or slug. Throws `config.not_found` if the run has no such item, `verify.failed` if the
 * published values differ from the raw document.
 */
export async function explainItem(opened: OpenedRun, wanted: string) {
  const { connection } = opened;
  const item = await findItem(opened, wanted);
  const { contentId } = item;
  const values = await readItemValues(connection, contentId);
  const evidence = await findEvidence(opened, contentId);
  const wrong = evidence.document === undefined ? [] : findContradictions(evidence.document, values);
  if (wrong.length > 0) {
    throw new WarehouseError(
      "verify.failed",
      `Run ${opened.run} published other values of the item ${contentId} than it read: the raw document ` +
        `${evidence.document?.file} has others in the custom field ${joinWords(wrong, "and")}. Do not trust its mapped ` +
        "values; verify the run, and report this.",
    );
  }
  return {
    item,
    values,
    definitions: await readDefinitions(connection),
    /** By destination ID. */
    receptions: await readReceptions(connection),
    mappedValues: await readMappedValues(connection, contentId),
    payloads: await readPayloads(connection, contentId),
    passthrough: await readPassthrough(connection),
    evidence,
    /** By `versionKey`; undefined if the run has no history. */
    since: hasHistory(opened) ? await readValueVersions(connection, contentId) : undefined,
  };
}

const ITEMS = `
  SELECT content_id, slug, title, coalesce(content_types.display_name, content.content_type_id) AS content_type,
    strftime(content.updated_at, '%Y-%m-%dT%H:%M:%SZ') AS updated_at
  FROM content LEFT JOIN content_types USING (content_type_id)`;

/**
 * Finds an item by ID, otherwise by slug. Throws `config.not_found`, with the last run that had it or the
 * nearest items.
 */
export async function findItem(opened: OpenedRun, wanted: string): Promise<ItemFacts> {
  const { connection } = opened;
  const rows = await readRows(
    connection,
    ITEM_FACTS,
    `${ITEMS} WHERE content_id = $1 OR slug = $1 ORDER BY (content_id = $1) DESC, content_id LIMIT 4`,
    [wanted],
  );
  const [row] = rows;
  if (row === undefined) {
    const seen = await lastSeen(opened, wanted);
    throw seen === undefined
      ? await unknownItem(opened, wanted)
      : notFound(`${seen.said}; name that run with --run if its files are kept.`);
  }
  if (rows.length > 1 && row.contentId !== wanted) {
    const ids = rows.map(({ contentId }) => contentId);
    throw notFound(`Several items have the slug "${wanted}": ${joinWords(ids, "and")}; name one by its ID.`);
  }
  return row;
}

const LAST_SEEN = `
  SELECT items.valid_to_run, items.last_seen_run, runs.sequence
  FROM content_history AS items JOIN run_history AS runs ON runs.run = items.last_seen_run
  WHERE items.content_id = $1
  ORDER BY runs.sequence DESC
  LIMIT 1`;

/**
 * What became of an item that the run does not have, and the last run that had it; undefined if the history does
 * not know it.
 */
export async function lastSeen(
  opened: OpenedRun,
  wanted: string,
): Promise<{ readonly said: string; readonly sequence: number } | undefined> {
  if (!hasHistory(opened)) return undefined;
  const [last] = await all(opened.connection, LAST_SEEN, [wanted]);
  if (last === undefined) return undefined;
  const what =
    last.valid_to_run === null
      ? `was not seen by run ${opened.run}`
      : `was removed: run ${last.valid_to_run} found it gone`;
  return {
    said: `The item ${wanted} ${what}. The last run that had it is ${last.last_seen_run}`,
    sequence: Number(last.sequence),
  };
}

/** Long enough to be an ID and not a slug. */
const ID_LIKE = /^[0-9a-f]{18,}$/i;

/** Items whose IDs differ by a typing error. */
const NEAREST_IDS = `
  SELECT content_id AS name
  FROM content
  WHERE damerau_levenshtein(content_id, lower($1)) <= 2
  ORDER BY damerau_levenshtein(content_id, lower($1)), name
  LIMIT 3`;

/** Nearest items by title, slug and ID. */
const NEAREST = `
  SELECT coalesce(slug, content_id) AS name,
    contains(lower(coalesce(title, '')), lower($1)) OR contains(coalesce(slug, ''), lower($1)) AS holds,
    least(damerau_levenshtein(content_id, $1), damerau_levenshtein(coalesce(slug, content_id), lower($1))) AS distance
  FROM content
  WHERE holds OR distance <= greatest(2, length($1) // 2)
  ORDER BY holds DESC, distance, name
  LIMIT 3`;

const REMOVED_ITEMS = "SELECT 1 FROM content_history ANTI JOIN content USING (content_id) LIMIT 1";

async function unknownItem(opened: OpenedRun, wanted: string): Promise<WarehouseError> {
  const { connection } = opened;
  const near = await nearestItems(connection, wanted);
  const removed = hasHistory(opened) && !ID_LIKE.test(wanted) ? await all(connection, REMOVED_ITEMS) : [];
  const byId =
    removed.length === 0
      ? ""
      : " The history knows removed items only by ID: give the ID, or name a kept run that had it with --run.";
  return notFound(`The run has no item "${wanted}", neither by ID nor by slug. ${near}${byId}`);
}

export async function nearestItems(connection: DuckDBConnection, wanted: string): Promise<string> {
  const nearest = ID_LIKE.test(wanted) ? NEAREST_IDS : NEAREST;
  const names = (await all(connection, nearest, [wanted])).map(({ name }) => JSON.stringify(String(name)));
  return names.length === 0
    ? "No item has a similar name; try a query over the table content."
    : `The nearest ${names.length === 1 ? "is" : "are"} ${joinWords(names, "and")}.`;
}
