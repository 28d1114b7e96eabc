/** Answers `what-if`: which external values edited mappings would change. Reads only the published run. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col, section } from "../../common/answer.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinFirst, nearestSentence } from "../../common/nearest.ts";
import {
  MAPPED_VALUES_PER_RANGE,
  mappedValueBounds,
  mappedValuesQuery,
  prepareMappings,
  rangeParams,
} from "../../load/mapped-values.ts";
import { execute, scalar } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { FIELD, RECEIVER, VALUE } from "../mapping/columns.ts";
import { type DefinitionIndex, readDefinitions } from "../mapping/definitions.ts";
import { invalidMapping, type MappingRow } from "../mapping/mapping-file.ts";
import { prepareReceptions, readPassthrough } from "../mapping/value-counts.ts";
import type { RunQuestion } from "../open-run.ts";
import { createTempTable, fillTempTable, itemBounds, loadSql } from "../queries.ts";

const counted = col.count({ required: true });
const optional = col.text();
const SENT = {
  change: col.text({ required: true }),
  name_before: optional,
  external_value_before: optional,
  name_after: optional,
  external_value_after: optional,
} as const;

const WORDS = { sends: col.text({ isWords: true }), would_send: col.text({ isWords: true }) } as const;

/** Both external values in words, with their external names if these differ. */
function withWords<R extends AnswerRow<typeof SENT>>(row: R) {
  const isRenamed = row.name_before !== row.name_after;
  const sent = (side: "before" | "after") => {
    const [value, name] = [row[`external_value_${side}`], row[`name_${side}`]];
    if (value === null) return null;
    return isRenamed ? `${JSON.stringify(value)} as ${JSON.stringify(name)}` : JSON.stringify(value);
  };
  return { ...row, sends: sent("before"), would_send: sent("after") };
}

const VALUES = {
  ...RECEIVER,
  ...FIELD,
  value_id: optional,
  ...VALUE,
  ...SENT,
  items: counted,
} as const;

/** `rows`: the edited mappings. */
export function whatIfQuestion(run: string, rows: readonly MappingRow[]): RunQuestion {
  return {
    choose: async () => ({ wanted: run }),
    async answer({ run, connection }) {
      const { entries, byValue, ignored, ...changed } = await whatIf(connection, rows);
      const apart =
        changed.received === changed.values
          ? ""
          : `, ${count(changed.received)} of them at destinations that receive values`;
      const came =
        changed.values === 0
          ? `No external value would change in the run ${run}.`
          : `${pluralize(changed.values, "external value")} of ${pluralize(changed.items, "item")} would change in the run ${run}${apart}: ${count(changed.gained)} gained, ${count(changed.lost)} lost.`;
      return {
        lead: `${came} Entries of mappings: ${count(entries.file)} in the file, ${count(entries.run)} in the run.`,
        next: ignored.length === 0 ? [] : [ignoredSentence(ignored)],
        facts: { run, items_changed: changed.items, values_changed: changed.values, ignored_lines: ignored },
        sections: [
          section({
            key: "values",
            title: "What would change, by value",
            none: "",
            columns: { ...VALUES, ...WORDS },
            shows: ["destination", "custom_field", "value", "sends", "would_send", "items"],
            isGrouped: true,
            rows: byValue.map(withWords),
          }),
        ],
      };
    },
  };
}

function ignoredSentence(lines: readonly number[]): string {
  const where = `${lines.length === 1 ? "line" : "lines"} ${joinFirst(lines.map(String), 10)}`;
  return `No item can get the external value of ${where}: an earlier line has the same value, another mapping counts for the field and destination, or the field is no select field.`;
}

/** Positions of rows whose entry does not count for any value. */
const IGNORED = `
  SELECT place
  FROM what_if_rows ANTI JOIN mapping_answers ON mapping_value_id = coalesce(entry.id, concat('added ', place))
  WHERE entry IS NOT NULL
  ORDER BY place`;

const TOTALS = {
  items: counted,
  values: counted,
  received: counted,
  gained: counted,
  lost: counted,
} as const;

const COUNT = `
  SELECT count(DISTINCT content_id) AS items, count(*) AS "values", count(*) FILTER (reception = 'receiving') AS received,
    count(*) FILTER (change = 'gained') AS gained, count(*) FILTER (change = 'lost') AS lost
  FROM what_if_changes JOIN audit_receptions USING (destination_id)`;

const ENTRIES = "SELECT count(*) FROM custom_field_mapping_values";

/**
 * Fills the temporary table `what_if_changes` and replaces the mapping tables on the connection by the edited
 * ones. Throws `config.invalid`, before anything is computed, for an ID that the run does not know.
 */
export async function whatIf(
  connection: DuckDBConnection,
  rows: readonly MappingRow[],
  rowsPerRange: number = MAPPED_VALUES_PER_RANGE,
) {
  const definitions = await readDefinitions(connection);
  await assertKnownIds(connection, definitions, rows);
  const passthrough = await readPassthrough(connection);
  await prepareReceptions(connection);
  const bounds = await itemBounds(connection, rowsPerRange);
  const published = await scalar(connection, ENTRIES);
  await replaceMappings(connection, rows);
  const entries = { run: published, file: await scalar(connection, ENTRIES) };
  await prepareMappings(connection);
  const ranges = rangesOf(await mappedValueBounds(connection, bounds, rowsPerRange));
  for (const [index, range] of ranges.entries()) {
    const { text, params } = mappedValuesQuery(range);
    await createTempTable(connection, "what_if_after", text, params);
    const place = { index, params: [...rangeParams(range), passthrough] };
    await fillTempTable(connection, "what_if_changes", loadSql("audit_what_if"), place);
  }
  const keyOf = (...cells: unknown[]) => JSON.stringify(cells);
  const known = definitions.fields.flatMap((field) => field.mappings.flatMap((mapping) => mapping.entries));
  const unedited = new Set(known.map((each) => keyOf(each.mappingValueId, each.valueId, each.externalValue)));
  const places = await readRows(connection, { place: counted }, IGNORED);
  const [totals] = await readRows(connection, TOTALS, COUNT);
  if (totals === undefined) throw new TypeError("the changes have no totals");
  return {
    /** Number of entries in the run and in the file. */
    entries,
    /** Lines with an added or edited entry that no item can get. */
    ignored: places
      .flatMap(({ place }) => rows[place] ?? [])
      .filter(({ entry }) => !unedited.has(keyOf(entry?.id, entry?.valueId, entry?.externalValue)))
      .map(({ line }) => line),
    ...totals,
    /** Per value. */
    byValue: await readRows(connection, VALUES, loadSql("audit_what_if_values")),
  };
}

/**
 * Throws `config.invalid`, with the cell's position, for an ID of a field, destination, value or entry that the run
 * does not know, or that a text in its line contradicts. A mapping ID may be new if the run has no mapping for its field
 * and destination.
 */
async function assertKnownIds(
  connection: DuckDBConnection,
  definitions: DefinitionIndex,
  rows: readonly MappingRow[],
): Promise<void> {
  const fields = new Map(definitions.fields.map((field) => [field.customFieldId, field]));
  const destinations = new Map(
    definitions.destinations.map((each) => [each.destinationId, each.identification]),
  );
  const mappings = definitions.fields.flatMap((field) =>
    field.mappings.map((mapping) => ({ ...mapping, customFieldId: field.customFieldId })),
  );
  const mappingIds = new Set(mappings.map(({ mappingId }) => mappingId));
  const entryIds = new Set(mappings.flatMap(({ entries }) => entries.map((entry) => entry.mappingValueId)));
  const keyOf = (row: Pick<MappingRow, "customFieldId" | "destinationId">) =>
    JSON.stringify([row.customFieldId, row.destinationId]);
  /** The mapping of a field and destination: that of the run, else the first new one of the file. */
  const firstIds = new Map(mappings.toReversed().map((mapping) => [keyOf(mapping), mapping.mappingId]));
  for (const row of rows) {
    const { customFieldId, destinationId, mappingId, entry } = row;
    const invalid = (column: string, problem: string) =>
      invalidMapping(row, `the run has no ${problem}`, column);
    const unknown = (column: string, id: string, known: Iterable<string>, otherwise = "") =>
      invalid(column, `${JSON.stringify(id)}.${nearestSentence(id, known, otherwise)}`);
    const field = fields.get(customFieldId);
    if (field === undefined) throw unknown("custom_field_id", customFieldId, fields.keys());
    if (destinationId !== null && !destinations.has(destinationId))
      throw unknown("destination_id", destinationId, destinations.keys());
    const first = firstIds.get(keyOf(row)) ?? mappingId;
    firstIds.set(keyOf(row), first);
    if (!mappingIds.has(mappingId) && first !== mappingId) {
      const rule =
        "A mapping is new only if the field and destination have none, and all its rows have one ID.";
      const problem = `${JSON.stringify(mappingId)}; the mapping there is ${JSON.stringify(first)}.`;
      throw invalid("mapping_id", `${problem} ${rule}`);
    }
    const { id = null, valueId = null } = entry ?? {};
    if (id !== null && !entryIds.has(id))
      throw unknown("mapping_value_id", id, entryIds, "Leave the ID of an added entry empty.");
    const offered = [...field.selectValues, ...field.mappings.flatMap((mapping) => mapping.entries)];
    // Items may still have a value that the field no longer offers.
    const isUnknown = valueId !== null && offered.every((each) => each.valueId !== valueId);
    if (isUnknown && (await scalar(connection, USES, [customFieldId, valueId])) === 0) {
      const known = offered.map((each) => each.valueId ?? "");
      throw unknown(
        "value_id",
        valueId,
        known,
        "The table custom_field_select_values has the IDs of all values.",
      );
    }
    const { value, display } = field.selectValues.find((each) => each.valueId === valueId) ?? {};
    const meant = {
      custom_field: field.name,
      destination: destinations.get(destinationId ?? ""),
      value,
      display,
    };
    for (const [column, text = null] of Object.entries(meant)) {
      const given = row.texts.get(column) ?? text;
      if (given === text) continue;
      const problem = `it is ${JSON.stringify(given)}, but the ID in this line means ${JSON.stringify(text)}; change the ID, or empty this cell.`;
      throw invalidMapping(row, problem, column);
    }
  }
}

const USES = `
  SELECT count(*)
  FROM (SELECT 1 FROM content_mapped_values WHERE custom_field_id = $1 AND value_id = $2 LIMIT 1)`;

const ROWS_AT_ONCE = 20_000;

/** `MappingRow` as DuckDB reads it; `entry` is NULL for a mapping without entries. */
const MAPPING_ROW = {
  mappingId: "VARCHAR",
  customFieldId: "VARCHAR",
  destinationId: "VARCHAR",
  externalFieldName: "VARCHAR",
  entry: { id: "VARCHAR", valueId: "VARCHAR", externalValue: "VARCHAR" },
};

/** $1: rows as JSON; $2: position of the first. */
const EDITED_ROWS = `
  SELECT $2::INTEGER + generate_subscripts(edited, 1) - 1 AS place, unnest(edited, max_depth := 2)
  FROM (SELECT from_json($1::JSON, '${JSON.stringify([MAPPING_ROW])}') AS edited)`;

/** Replaces the views of the published mappings by tables. */
async function replaceMappings(connection: DuckDBConnection, rows: readonly MappingRow[]): Promise<void> {
  // At least once, because a file may have no rows.
  for (let start = 0; start === 0 || start < rows.length; start += ROWS_AT_ONCE) {
    const some = JSON.stringify(rows.slice(start, start + ROWS_AT_ONCE));
    await fillTempTable(connection, "what_if_rows", EDITED_ROWS, { index: start, params: [some, start] });
  }
  for (const name of ["custom_field_mappings", "custom_field_mapping_values"]) {
    await execute(connection, `DROP VIEW ${name}`);
    await execute(connection, `CREATE TABLE ${name} AS ${loadSql(`audit_what_if_${name}`)}`);
  }
}
