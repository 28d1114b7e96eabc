/** Stages of a pipeline's list `audit`: tests of the tables before publication. */
import { z } from "zod";
import { parseOptions } from "../common/parse-form.ts";
import { describeValue } from "../common/printable.ts";
import type { CoverageTest, LossTest, QueryTest, Severity } from "../pipeline.ts";
import { LIMIT_KINDS, type LimitKind } from "./mapping/value-counts.ts";

export interface TestOptions {
  /** Unique among the tests of the pipeline: one line, at most 100 characters. */
  readonly name: string;
  /**
   * Query that returns the failing rows. Reads the tables of the run, and those of the run before as
   * `previous.content`.
   */
  readonly sql: string;
  /** `error` (default): the run is not published and exits with 25. `warning`: the run reports it. */
  readonly severity?: Severity;
  /** Failing rows that are allowed; 0 by default. */
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
  return parseOptions(`test ${describeValue(options?.name)}`, testOptions, options);
}

/** Begins the names of the checks of `mappingCoverage`. */
const COVERAGE = "mapping coverage";

const severities = z.enum(["error", "warning"]);
const severity = severities.default("error");

const testOptions = z.strictObject({
  // The name is shown in tables and sentences.
  name: z
    .string()
    .regex(/^(?=\S)[^\p{Cc}\p{Zl}\p{Zp}]{1,100}(?<=\S)$/u, "expected one line of 1 to 100 characters")
    .refine((name) => !name.startsWith(COVERAGE), `"${COVERAGE}" begins the names of mappingCoverage`),
  sql: z.string().regex(/\S/, "expected a query"),
  severity,
  limit: z.int().min(0).default(0),
});

export interface MappingCoverageOptions {
  /** Allowed values by kind. */
  readonly failOn: Readonly<Partial<Record<LimitKind, number>>>;
  /** `error` (default): the run is not published and exits with 25. `warning`: the run reports it. */
  readonly severity?: Severity;
}

/**
 * Limits values at destinations that receive values, as `audit --fail-on` does: `mappingCoverage({ failOn: {
 * unmapped: 10, unknown_value: 0 } })`. Needs `mappedValues()`.
 */
export function mappingCoverage(options: MappingCoverageOptions): CoverageTest {
  return { name: COVERAGE, ...parseOptions("mappingCoverage", coverageOptions, options) };
}

export interface LostValuesOptions {
  /** Values that may lose their external value from one run to the next; 0 by default. */
  readonly max?: number;
  /** `warning` (default): the run reports more. `error`: it is not published and exits with 25, unless `--accept-lost`. */
  readonly severity?: Severity;
}

/**
 * Limits values that lose their external value: `lostValues({ max: 20, severity: "error" })`. Passes if there is nothing
 * to compare with. Needs `mappedValues()`.
 */
export function lostValues(options: LostValuesOptions = {}): LossTest {
  return { name: LOSS, ...parseOptions("lostValues", lossOptions, options) };
}

const LOSS = "lost external values";

const lossOptions = z.strictObject({
  max: z.int().min(0).default(0),
  severity: severities.default("warning"),
});

const coverageOptions = z.strictObject({
  failOn: z
    .partialRecord(z.enum(LIMIT_KINDS), z.int().min(0))
    .refine((limits) => Object.keys(limits).length > 0, `expected a limit of ${LIMIT_KINDS.join(", ")}`),
  severity,
});
