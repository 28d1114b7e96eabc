/** What a question on changes of content names: a table and an item, of those that the two runs have. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { listed, suggestion } from "../../common/nearest.ts";
import { all, scalar } from "../../storage/duckdb.ts";
import type { RunPair } from "../diff/diff-runs.ts";
import type { OpenedRun } from "../open-run.ts";
import { lastSeen, nearestItems } from "../questions/explain.ts";
import { notFound } from "../questions/filters.ts";
import {
  type ComparedTable,
  columnsOf,
  comparedTable,
  isOfContent,
  type OneSided,
} from "./compared-tables.ts";

/** Tables that both runs have, and what only one has. Throws `config.not_found` where one has no items. */
export async function tablesOf(
  connection: DuckDBConnection,
  [rowsBefore, rowsAfter]: readonly [Readonly<Record<string, number>>, Readonly<Record<string, number>>],
  pair: RunPair,
) {
  const tables: ComparedTable[] = [];
  const oneSided: OneSided[] = [];
  for (const [side, rows] of [
    ["before", rowsBefore],
    ["after", rowsAfter],
  ] as const) {
    if (Object.hasOwn(rows, "content")) continue;
    throw notFound(`Run ${pair[side].run} has no table content, so that its items cannot be compared.`);
  }
  const names = new Set([...Object.keys(rowsAfter), ...Object.keys(rowsBefore)]);
  for (const table of names) {
    const before = Object.hasOwn(rowsBefore, table)
      ? await columnsOf(connection, `before_${table}`)
      : undefined;
    const after = Object.hasOwn(rowsAfter, table) ? await columnsOf(connection, table) : undefined;
    if (!isOfContent(table, after ?? before ?? new Map())) continue;
    if (before !== undefined && after !== undefined) tables.push(comparedTable(table, before, after));
    oneSided.push(...oneSidedOf(table, before, after));
  }
  return {
    tables: tables.toSorted((a, b) => Number(b.name === "content") - Number(a.name === "content")),
    oneSided,
  };
}

type Types = ReadonlyMap<string, string> | undefined;

function oneSidedOf(table: string, before: Types, after: Types): OneSided[] {
  if (before === undefined) return [{ table, column: null, side: "after" }];
  if (after === undefined) return [{ table, column: null, side: "before" }];
  const only = (has: NonNullable<Types>, lacks: NonNullable<Types>, side: OneSided["side"]) =>
    [...has.keys()].filter((column) => !lacks.has(column)).map((column) => ({ table, column, side }));
  return [...only(before, after, "before"), ...only(after, before, "after")];
}

export async function namedTable(
  connection: DuckDBConnection,
  wanted: string,
  tables: readonly ComparedTable[],
): Promise<ComparedTable> {
  const found = tables.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  const names = tables.map(({ name }) => name);
  const known = await scalar(
    connection,
    "SELECT count(*) FROM duckdb_views() WHERE view_name = $1 AND NOT internal",
    [wanted],
  );
  if (known === 0) {
    throw notFound(
      `There is no table "${wanted}" in both runs.${suggestion(wanted, names, `Compared are ${listed(names, "and")}.`)}`,
    );
  }
  const hasId = (await columnsOf(connection, wanted)).has("content_id");
  const why = hasId
    ? "is made from others, and is no content by itself"
    : "has no content_id, so that its rows are not of an item";
  throw notFound(`The table "${wanted}" ${why}; compared are ${listed(names, "and")}.`);
}

/** The ID of an item of either run, by it or by its slug. Throws `config.not_found`. */
export async function idOf(opened: OpenedRun, wanted: string): Promise<string> {
  const rows = await all(
    opened.connection,
    `SELECT DISTINCT content_id FROM (FROM content SELECT content_id, slug UNION FROM before_content SELECT content_id, slug)
     WHERE content_id = $1 OR slug = $1 ORDER BY (content_id = $1) DESC, content_id`,
    [wanted],
  );
  const ids = rows.map(({ content_id }) => String(content_id));
  if (ids[0] === undefined) {
    const seen = await lastSeen(opened, wanted);
    throw notFound(
      seen === undefined
        ? `Neither run has an item "${wanted}", by ID or by slug. ${await nearestItems(opened.connection, wanted)}`
        : `${seen.said}; name that run as one of the two.`,
    );
  }
  if (ids.length === 1 || ids[0] === wanted) return ids[0];
  throw notFound(`Several items have the slug "${wanted}": ${listed(ids, "and")}; name one by its ID.`);
}
