/** Stages of the list `audit`: what the tables of a run must hold before it is published. */
import { isText, type Options, optionFaults } from "../common/options.ts";
import { shown } from "../common/shown.ts";
import type { Severity, Test } from "../pipeline.ts";

export interface TestOptions {
  /** Its own among the tests of a pipeline: one line, at most 100 characters. */
  readonly name: string;
  /** A question whose rows are those that fail, over the tables of the run and, as `previous.content`, of the run before. */
  readonly sql: string;
  /** `error`, unless given: nothing is published, and the run ends with 25. `warning`: the run says so. */
  readonly severity?: Severity;
  /** Failing rows that are allowed: 0 unless given. */
  readonly limit?: number;
}

/**
 * A query that must give no rows, or `limit` at the most. It reads the finished tables, as a reader will, and no file.
 *
 *     test({
 *       name: "every item has a title",
 *       sql: "SELECT content_id, state FROM content WHERE trim(coalesce(title, '')) = ''",
 *       severity: "warning",
 *       limit: 5,
 *     })
 */
export function test(options: TestOptions): Test {
  const { name, sql, severity = "error", limit = 0 }: Partial<TestOptions> = options ?? {};
  const stage = `test ${shown(name)}`;
  const faults = optionFaults(stage, options, OPTIONS, ["name", "sql"]);
  return { name: isText(name) ? name : stage, sql: isText(sql) ? sql : "", severity, limit, faults };
}

/** A name is read in tables and in sentences. */
const NAME = /^(?=\S)[^\p{Cc}\p{Zl}\p{Zp}]{1,100}(?<=\S)$/u;

const OPTIONS: Options = {
  name: (value) => (isText(value) && NAME.test(value)) || "is not one line of 1 to 100 characters",
  sql: (value) => (isText(value) && value.trim() !== "") || "is not a text",
  severity: (value) => value === "error" || value === "warning" || 'is not "error" or "warning"',
  limit: (value) =>
    (Number.isSafeInteger(value) && Number(value) >= 0) || "is not a number of rows, which may fail",
};
