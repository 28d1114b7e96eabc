/** Stages of the list `audit`: what the tables of a run must hold before it is published. */
import { z } from "zod";
import { parseOptions } from "../common/parse-form.ts";
import { describeValue } from "../common/printable.ts";
import type { CoverageTest, QueryTest, Severity } from "../pipeline.ts";
import { LIMIT_KINDS, type LimitKind } from "./mapping/value-counts.ts";

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
  return parseOptions(`test ${describeValue(options?.name)}`, testOptions, options);
}

/** The checks of `mappingCoverage` are called so. */
const COVERAGE = "mapping coverage";

const severity = z.enum(["error", "warning"]).default("error");

const testOptions = z.strictObject({
  // A name is read in tables and in sentences.
  name: z
    .string()
    .regex(/^(?=\S)[^\p{Cc}\p{Zl}\p{Zp}]{1,100}(?<=\S)$/u, "expected one line of 1 to 100 characters")
    .refine((name) => !name.startsWith(COVERAGE), `"${COVERAGE}" begins the names of mappingCoverage`),
  sql: z.string().regex(/\S/, "expected a query"),
  severity,
  limit: z.int().min(0).default(0),
});

export interface MappingCoverageOptions {
  /** By kind, values that are allowed. */
  readonly failOn: Readonly<Partial<Record<LimitKind, number>>>;
  /** `error`, unless given: nothing is published, and the run ends with 25. `warning`: the run says so. */
  readonly severity?: Severity;
}

/**
 * Values at destinations that receive values that must not be more than a limit each, as `audit --fail-on` counts them:
 * `mappingCoverage({ failOn: { unmapped: 10, unknown_value: 0 } })`. Needs `mappedValues()`.
 */
export function mappingCoverage(options: MappingCoverageOptions): CoverageTest {
  return { name: COVERAGE, ...parseOptions("mappingCoverage", coverageOptions, options) };
}

const coverageOptions = z.strictObject({
  failOn: z
    .partialRecord(z.enum(LIMIT_KINDS), z.int().min(0))
    .refine((limits) => Object.keys(limits).length > 0, `expected a limit of ${LIMIT_KINDS.join(", ")}`),
  severity,
});
