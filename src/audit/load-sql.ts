import { fillMarks, sqlSteps } from "../storage/sql-text.ts";
import { WITHOUT_EXTERNAL_VALUE_SQL } from "./mapping/mapped-value.ts";

const steps = sqlSteps(new URL("./sql/", import.meta.url));

/** Text of a step of a question, as those of the load have it, with the statuses without an external value in it. */
export function loadSql(step: string): string {
  return fillMarks(steps(step), { without_external_value: WITHOUT_EXTERNAL_VALUE_SQL });
}
