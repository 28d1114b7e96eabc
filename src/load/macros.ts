/** The past in SQL: a view of intervals over the history, and macros that ask for an instant or for two runs. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { execute } from "../storage/duckdb.ts";
import { fillMarks, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { mappedValueIntervals } from "../tables/views.ts";
import { createView } from "./create-view.ts";
import { loadSql, payloadSql } from "./load-sql.ts";
import { createViewsOver } from "./views.ts";

const WITHIN =
  "Names are looked for in the current database: with several attached, say USE first. Instants are timestamps with a " +
  "time zone, or texts that can be read as such.";

export const MACROS: readonly {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly kind: "table" | "scalar";
  readonly comment: string;
}[] = [
  {
    name: "mapped_values_as_of",
    parameters: ["instant"],
    kind: "table",
    comment: `content_mapped_values as the last run found it that had started by the instant. ${WITHIN}`,
  },
  {
    name: "payloads_as_of",
    parameters: ["instant"],
    kind: "table",
    comment: `content_external_payloads as the last run found it that had started by the instant. ${WITHIN}`,
  },
  {
    name: "payload_as_of",
    parameters: ["content_id", "destination_id", "instant"],
    kind: "scalar",
    comment: `The payload of an item for a destination at an instant; NULL where there was none. ${WITHIN}`,
  },
  {
    name: "mapped_value_changes",
    parameters: ["from_run", "to_run"],
    kind: "table",
    comment: `Values that differ between two runs, by name or number, with every cause in between; a value that an item gives twice is two. ${WITHIN}`,
  },
];

/** Text of a step over the history, also of another stage, with what several of them read in the place of its marks. */
export function historySql(step: string, load = loadSql): string {
  return fillMarks(payloadSql(step, load), {
    versions: loadSql("mapped_value_versions"),
    ordered_values: loadSql("ordered_values"),
    reordered_values: loadSql("reordered_values"),
  });
}

export function intervalsSql(): string {
  return historySql(`view_${mappedValueIntervals.name}`);
}

/** What a finished database has besides its tables, as far as these are there. */
export async function createViewsAndMacros(
  connection: DuckDBConnection,
  tables: ReadonlySet<string>,
): Promise<void> {
  await createViewsOver(connection, tables);
  if (tables.has("mapped_value_history")) await createHistoryMacros(connection);
}

/** Creates the view and the macros over the tables of the history. */
export async function createHistoryMacros(connection: DuckDBConnection): Promise<void> {
  await createView(connection, { view: mappedValueIntervals, sql: intervalsSql() });
  for (const { name, parameters, kind, comment } of MACROS) {
    const macro = quoteIdentifier(name);
    const table = kind === "table" ? "TABLE " : "";
    const signature = `${macro}(${parameters.map(quoteIdentifier).join(", ")})`;
    await execute(
      connection,
      `CREATE OR REPLACE MACRO ${signature} AS ${table}${historySql(`macro_${name}`)};
       COMMENT ON MACRO ${table}${macro} IS ${quoteLiteral(comment)}`,
    );
  }
}
