import { fillMarks, quoteIdentifier, sqlSteps } from "../storage/sql-text.ts";
import { VALUE_COLUMNS } from "../tables/history.ts";

const steps = sqlSteps(new URL("./sql/", import.meta.url));

const VALUES = VALUE_COLUMNS.map(({ name }) => quoteIdentifier(name)).join(", ");

/**
 * Text of a set-based step: `loadSql("mapped_values")` is the content of `mapped_values.sql` below `sql/`, with the columns
 * that make a version of a mapped value in the place of the mark `value_columns`.
 */
export function loadSql(step: string): string {
  return fillMarks(steps(step), { value_columns: VALUES });
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
