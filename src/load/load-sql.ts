/** Reads the SQL files in `sql/` and fills in their marks. */
import { fillMarks, quoteIdentifier, quoteLiteral, sqlSteps } from "../storage/sql-text.ts";
import { CAUSES, VALUE_COLUMNS } from "../tables/history.ts";

const steps = sqlSteps(new URL("./sql/", import.meta.url));

const MARKS = {
  value_columns: VALUE_COLUMNS.map(({ name }) => quoteIdentifier(name)).join(", "),
  causes: CAUSES.map(quoteLiteral).join(", "),
};

/**
 * Text of a step: `loadSql("mapped_values")` reads `mapped_values.sql`. The mark `value_columns` becomes the columns that
 * make a version of a mapped value, and `causes` all causes in their order.
 */
export function loadSql(step: string): string {
  return fillMarks(steps(step), MARKS);
}

/** Text of a step that makes payloads or reads the history. `load` reads it, here or in another folder. */
export function historySql(step: string, load = loadSql): string {
  const payloads = (payload_of: string) => fillMarks(loadSql("payloads"), { payload_of });
  return fillMarks(load(step), {
    payloads: payloads("content_id, destination_id"),
    payloads_of_sides: payloads("side, content_id, destination_id"),
    payload: payloads("item"),
    versions: loadSql("mapped_value_versions"),
    since: loadSql("view_mapped_value_since"),
    run_as_of: loadSql("run_as_of"),
    asked_run: fillMarks(loadSql("asked_run"), { run_as_of: loadSql("run_as_of") }),
    ordered_values: loadSql("ordered_values"),
    reordered_values: loadSql("reordered_values"),
  });
}
