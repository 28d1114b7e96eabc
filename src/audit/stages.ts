/** Stages of the list `audit`: what the tables of a run must hold before it is published. */
import { hint, listed } from "../common/nearest.ts";
import { isObject } from "../common/objects.ts";
import { isText, type Options, optionFaults } from "../common/options.ts";
import { shown } from "../common/shown.ts";
import type { CoverageTest, QueryTest, Severity } from "../pipeline.ts";
import { COUNTED, type Counted } from "./mapping/value-counts.ts";

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
export function test(options: TestOptions): QueryTest {
  const { name, sql, severity = "error", limit = 0 }: Partial<TestOptions> = options ?? {};
  const stage = `test ${shown(name)}`;
  const faults = optionFaults(stage, options, OPTIONS, ["name", "sql"]);
  return { name: isText(name) ? name : stage, sql: isText(sql) ? sql : "", severity, limit, faults };
}

/** A name is read in tables and in sentences. */
const NAME = /^(?=\S)[^\p{Cc}\p{Zl}\p{Zp}]{1,100}(?<=\S)$/u;

/** The checks of `mappingCoverage` are called so. */
const COVERAGE = "mapping coverage";

const isSeverity: Options[string] = (value) =>
  value === "error" || value === "warning" || 'is not "error" or "warning"';
const isLimit = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

const OPTIONS: Options = {
  name: (value) =>
    (isText(value) && NAME.test(value) && !value.startsWith(COVERAGE)) ||
    `is not one line of 1 to 100 characters, or begins with "${COVERAGE}"`,
  sql: (value) => (isText(value) ? value.trim() !== "" || "is empty: give a query" : "is not a text"),
  severity: isSeverity,
  limit: (value) => isLimit(value) || "is not a number of rows",
};

export interface MappingCoverageOptions {
  /** By kind, values that are allowed. */
  readonly failOn: Readonly<Partial<Record<Counted, number>>>;
  /** `error`, unless given: nothing is published, and the run ends with 25. `warning`: the run says so. */
  readonly severity?: Severity;
}

/**
 * Values at destinations that receive values that must not be more than a limit each, as `audit --fail-on` counts them:
 * `mappingCoverage({ failOn: { unmapped: 10, unknown_value: 0 } })`. Needs `mappedValues()`.
 */
export function mappingCoverage(options: MappingCoverageOptions): CoverageTest {
  const { failOn, severity = "error" }: Partial<MappingCoverageOptions> = options ?? {};
  const checks = { failOn: isFailOn, severity: isSeverity };
  const faults = optionFaults("mappingCoverage", options, checks, ["failOn"]);
  return { name: COVERAGE, failOn: faults.length > 0 ? {} : { ...failOn }, severity, faults };
}

const isFailOn: Options[string] = (value) => {
  if (!isObject(value) || Object.keys(value).length === 0)
    return `has no limit: give ${listed(COUNTED, "or")}`;
  const strange = Object.keys(value).find((kind) => !COUNTED.some((counted) => counted === kind));
  if (strange !== undefined)
    return `has no kind ${JSON.stringify(strange)}${hint(strange, COUNTED)}: give ${listed(COUNTED, "or")}`;
  return Object.values(value).every(isLimit) || "has a limit that is not a number of values";
};
