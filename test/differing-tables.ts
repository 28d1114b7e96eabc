/** Where two runs of the same documents differ in the rows of their tables. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { isRunTable } from "../src/tables/all.ts";
import { openPublished } from "./run/running.ts";

/**
 * Names of tables of data in the database of one run whose columns or rows are not the same, as often, in that of the
 * other. The histories do not count: they name runs.
 */
export async function differingTables(one: string, other: string): Promise<string[]> {
  await using reader = await openPublished(one);
  await reader.connection.run(`ATTACH '${join(other, "warehouse.duckdb")}' AS other (READ_ONLY)`);
  const named = await reader.rows(
    "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = 'main'",
  );
  const tables = named.map(([name]) => String(name));
  const compared = tables.filter((name) => !isRunTable(name) && !name.endsWith("_history"));
  assert.notEqual(compared.length, 0);
  const differing: string[] = [];
  for (const table of compared) {
    const [mine, theirs] = [`main."${table}"`, `other.main."${table}"`];
    assert.deepEqual(await reader.rows(`DESCRIBE ${mine}`), await reader.rows(`DESCRIBE ${theirs}`), table);
    const more = `(FROM ${mine} EXCEPT ALL FROM ${theirs}) UNION ALL (FROM ${theirs} EXCEPT ALL FROM ${mine})`;
    if ((await reader.rows(more)).length > 0) differing.push(table);
  }
  return differing;
}
