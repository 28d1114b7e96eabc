import { fillMarks } from "../../storage/sql-text.ts";
import { loadSql } from "../load-sql.ts";

/** What has a name in a run, as the SQL of {@link namesSql} reads it. */
export const NAMED = {
  destinations: {
    id: "destination_id",
    name: "identification",
    table: "destinations",
    history: "destination_history",
  },
  fields: {
    id: "custom_field_id",
    name: "name",
    table: "custom_fields",
    history: "custom_field_history",
  },
} as const;
export type Named = keyof typeof NAMED;

/** Names in two runs, by the history or by both runs' own tables: rows of an ID under its own name, `name` and `name_before`. */
export function namesSql(step: "audit_diff_names" | "audit_diff_names_of_both", named: Named): string {
  return fillMarks(loadSql(step), NAMED[named]);
}
