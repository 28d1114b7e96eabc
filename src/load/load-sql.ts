import { fillMarks, quoteIdentifier, quoteLiteral, sqlSteps } from "../storage/sql-text.ts";
import { CAUSES, VALUE_COLUMNS } from "../tables/history.ts";

const steps = sqlSteps(new URL("./sql/", import.meta.url));

const HISTORY = {
  value_columns: VALUE_COLUMNS.map(({ name }) => quoteIdentifier(name)).join(", "),
  causes: CAUSES.map(quoteLiteral).join(", "),
};

/**
 * Text of a set-based step: `loadSql("mapped_values")` is the content of `mapped_values.sql` below `sql/`. In the place of
 * the mark `value_columns` are the columns that make a version of a mapped value, in that of `causes` all causes in order.
 */
export function loadSql(step: string): string {
  return fillMarks(steps(step), HISTORY);
}

/** Text of a step that makes payloads, with what makes them in the place of its mark. */
export function payloadSql(step: string, load = loadSql): string {
  const payloads = (payload_of: string) => fillMarks(loadSql("payloads"), { payload_of });
  return fillMarks(load(step), {
    payloads: payloads("content_id, destination_id"),
    payloads_of_sides: payloads("side, content_id, destination_id"),
    payload: payloads("item"),
  });
}
