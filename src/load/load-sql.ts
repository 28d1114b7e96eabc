import { fillMarks, sqlSteps } from "../storage/sql-text.ts";

/** Text of a set-based step: `loadSql("mapped_values")` is the content of `mapped_values.sql` below `sql/`. */
export const loadSql = sqlSteps(new URL("./sql/", import.meta.url));

/** Text of a step that makes payloads, with what makes their entries and their text in the place of its marks. */
export function payloadSql(step: string, load = loadSql): string {
  return fillMarks(load(step), {
    payload_entries: loadSql("payload_entries"),
    payload_text: loadSql("payload_text"),
  });
}
