/** Compares the mapped values of two runs by the history that knows both. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col, section } from "../../common/answer.ts";
import { historySql } from "../../load/load-sql.ts";
import { createHistoryMacros } from "../../load/views.ts";
import { all, execute } from "../../storage/duckdb.ts";
import { fillMarks, quoteLiteral } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Cause } from "../../tables/history.ts";
import { DESTINATION, FIELD, ITEM } from "../mapping/columns.ts";
import {
  causeText,
  definitionsSection,
  type ReasonFinder,
  readDefinitionChanges,
} from "../mapping/definition-changes.ts";
import { createTempTable, loadSql, readList } from "../queries.ts";
import { isAmong, readIds, scopeCondition } from "../scope.ts";
import { CHANGE, changeTexts, wordsIn } from "./change-texts.ts";
import type { RunPair } from "./run-pair.ts";

const counted = col.count({ required: true });
const CAUSES_OF = { causes: col.text({ required: true }) } as const;

const CAUSES_COUNTED = { ...CAUSES_OF, items: counted, lost: counted } as const;

/** Whether the destination receives values in both runs, only the later one, only the earlier one, or neither. */
const RECEPTION = col.text({ required: true, of: ["receiving", "began", "ceased", "none"] });

const VALUE_CHANGE = { ...CAUSES_OF, ...DESTINATION, reception: RECEPTION, ...FIELD, ...CHANGE } as const;

/** One change, however many items it touches. */
const CHANGE_LINES = {
  ...VALUE_CHANGE,
  items: counted,
  values: counted,
} as const;

const CHANGE_ITEMS = { ...ITEM, ...VALUE_CHANGE } as const;

/** The same in words. */
const WORDS = {
  cause: col.text({ isWords: true }),
  /** The value, and with its field. */
  value: col.text({ isWords: true }),
  what: col.text({ head: "value", isWords: true }),
  before: col.text({ isWords: true }),
  after: col.text({ isWords: true }),
} as const;

/** Totals at destinations that receive values in both runs. */
const TOTALS = {
  items: counted,
  values: counted,
  lost: counted,
  gained: counted,
  /** Payloads that differ, and their items. */
  payloads: counted,
  payloadItems: counted,
  /** Items with changed values at destinations that receive none in either run. */
  otherItems: counted,
} as const;

const RECEPTION_CHANGE = {
  destination: col.text({ required: true }),
  reception: RECEPTION,
  items: counted,
} as const;

/**
 * Compares two runs that the history on the connection knows both, and creates the temporary view `diff_shown` of the
 * changes. The filter has a destination and a field by name or ID, and an item by ID. Throws `answer.nothing` for a
 * destination or field that the history does not know.
 */
export async function diffValues(
  connection: DuckDBConnection,
  { before, after }: RunPair,
  filter: {
    readonly item?: string | undefined;
    readonly cause?: Cause | undefined;
    readonly destination?: string | undefined;
    readonly field?: string | undefined;
  } = {},
) {
  const runs = [before.sequence, after.sequence] as const;
  const passthrough = await createChanges(connection, runs);
  const { cause, destination, field, item } = filter;
  const destinationIds = await readIds(connection, "destination", destination, DESTINATIONS);
  const fieldIds = await readIds(connection, "custom field", field, FIELDS);
  const ofItem = isAmong("content_id", item === undefined ? undefined : [item]);
  const scope = `${scopeCondition({ destinationIds, fieldIds })} AND ${ofItem}`;
  const ofCause = cause === undefined ? "true" : `list_contains(causes, ${quoteLiteral(cause)})`;
  await execute(connection, `${SHOWN} WHERE ${scope} AND ${ofCause}`);
  const [totals] = await readRows(connection, TOTALS, loadSql("audit_diff_totals"));
  if (totals === undefined) throw new TypeError("the changes have no totals");
  const why = await readDefinitionChanges(connection, ...runs);
  const counts = await readRows(connection, CAUSES_COUNTED, loadSql("audit_diff_causes"));
  return {
    ...totals,
    /** By cause, those that touch most values first. */
    causes: counts.map((row) => ({ ...row, cause: causeText(wordsIn(row.causes)) })),
    /** Changed definitions. */
    definitions: await definitionsSection(connection, { cause, destinationIds, fieldIds }),
    isFiltered: Object.values(filter).some((each) => each !== undefined),
    /** Destinations that began or ceased to receive values. */
    receptionChanges:
      cause === undefined || cause === "destination_changed"
        ? await readRows(
            connection,
            RECEPTION_CHANGE,
            fillMarks(loadSql("audit_diff_receptions"), { scope }),
            runs,
          )
        : [],
    /**
     * Whether the pipelines differ in sending values of fields without value mappings. This does not count as a
     * change: both runs are compared as the later one sends.
     */
    sendsOtherwise: passthrough.at(0) !== passthrough.at(-1),
    ...changeLists(connection, why),
  };
}

/** Functions that read the lists of changes. */
function changeLists(connection: DuckDBConnection, why: ReasonFinder) {
  const inWords = <R extends AnswerRow<typeof VALUE_CHANGE>>(row: R) => ({
    ...row,
    cause: causeOf(why, row),
    ...inFieldOf(row),
  });
  return {
    /** A line for each change. */
    readLines: async () => {
      const lines = await readList(connection, CHANGE_LINES, loadSql("audit_diff_lines"), inWords);
      const columns = { ...CHANGE_LINES, ...WORDS };
      const title = "What changed in the mapped values";
      return {
        rows: lines.rows,
        section: section({
          ...{ key: "lines", none: "", title, columns, isGrouped: true },
          shows: ["destination", "what", "before", "after", "items", "cause"],
          ...lines,
        }),
      };
    },
    /** The changes of each item. */
    readItems: async () =>
      section({
        key: "items",
        none: "",
        title: "Items",
        columns: { ...CHANGE_ITEMS, ...WORDS },
        shows: ["destination", "title", "what", "before", "after", "cause"],
        isGrouped: true,
        ...(await readList(connection, CHANGE_ITEMS, loadSql("audit_diff_items"), inWords)),
      }),
  };
}

/**
 * Creates temporary tables of all changes, of payloads that differ, and of names. Returns whether each of the runs sends
 * values of fields without value mappings.
 */
async function createChanges(
  connection: DuckDBConnection,
  runs: readonly [before: number, after: number],
): Promise<boolean[]> {
  await createHistoryMacros(connection);
  const sent = await all(connection, PASSTHROUGH, runs);
  const passthrough = sent.map((row) => row.passthrough === true);
  const params = [...runs, passthrough.at(-1) === true];
  await createTempTable(connection, "diff_changes", loadSql("audit_diff"), params);
  const payloads = fillMarks(historySql("audit_diff_payloads", loadSql), {
    intervals: historySql("view_mapped_value_intervals"),
  });
  await createTempTable(connection, "diff_payloads", payloads, params);
  for (const [name, columns] of Object.entries(NAMED)) {
    const sql = fillMarks(loadSql("audit_diff_names"), columns);
    await createTempTable(connection, name, sql, runs);
  }
  return passthrough;
}

const PASSTHROUGH = "SELECT passthrough FROM run_history WHERE sequence IN ($1, $2) ORDER BY sequence";

/** History of what has a name, with the columns that the SQL of names reads. */
const NAMED = {
  diff_destinations: {
    id: "destination_id",
    name: "identification",
    receives: "receives",
    history: "destination_history",
  },
  diff_fields: {
    id: "custom_field_id",
    name: "name",
    receives: "false",
    history: "custom_field_history",
  },
} as const;

const DESTINATIONS =
  "SELECT destination_id AS id, unnest([name, name_before]) AS name FROM diff_destinations";
const FIELDS = "SELECT custom_field_id AS id, unnest([name, name_before]) AS name FROM diff_fields";

const SHOWN = `
  CREATE OR REPLACE TEMP VIEW diff_shown AS
  SELECT diff_changes.*, CASE
      WHEN received AND receives THEN 'receiving' WHEN receives THEN 'began' WHEN received THEN 'ceased' ELSE 'none'
    END AS reception
  FROM diff_changes LEFT JOIN diff_destinations USING (destination_id)`;

function inFieldOf(row: AnswerRow<typeof VALUE_CHANGE>) {
  const texts = changeTexts(row);
  return { ...texts, what: [row.custom_field ?? row.custom_field_id, texts.value ?? ""].join(" ").trimEnd() };
}

/** Why a value changed, as one clause. */
function causeOf(why: ReasonFinder, change: AnswerRow<typeof VALUE_CHANGE>): string {
  const texts = (...some: readonly (string | null)[]) => [...new Set(some.filter((text) => text !== null))];
  return why({
    causes: wordsIn(change.causes),
    destinationId: change.destination_id,
    customFieldId: change.custom_field_id,
    valueIds: texts(change.value_id_before, change.value_id_after),
    names: texts(change.name_before, change.name_after),
  });
}
