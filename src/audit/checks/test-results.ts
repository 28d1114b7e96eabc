/** What came of a test, as a check and as sentences. */
import { WarehouseError } from "../../common/errors.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinWords } from "../../common/nearest.ts";
import type { Severity } from "../../pipeline.ts";
import { type Check, type Judged, TEST_PREFIX, type Warning } from "./checks.ts";
import type { Missing } from "./tested-tables.ts";

export interface TestResult {
  readonly check: Check;
  readonly warning?: Warning;
}

/** What was asked for, and what was found of it. */
interface Found {
  readonly name: string;
  readonly severity: Severity;
  readonly limit: number;
  /** Rows that fail. */
  readonly figure: number;
  readonly examples: string | undefined;
}

export function checkOf({ name, severity, limit, figure, examples }: Found): Check {
  const verdict = figure <= limit ? "passed" : severity === "error" ? "failed" : "warning";
  const detail = `failing rows; more than ${count(limit)} are ${severity === "error" ? "an error" : "a warning"}`;
  return { name: `${TEST_PREFIX}${name}`, verdict, figure, expected: limit, detail, examples };
}

export function told(check: Check): TestResult {
  if (check.verdict !== "warning") return { check };
  const rows = check.examples === undefined ? "" : "; run_checks has rows of them";
  const text = `The test ${foundText(check)}${rows}.`;
  return { check, warning: { text, check: check.name } };
}

export function passedOver({ name }: Pick<Found, "name">, { why, isDamaged }: Missing): TestResult {
  const detail = `passed over: ${why}`;
  const check = { name: `${TEST_PREFIX}${name}`, figure: 0, expected: null, detail };
  if (!isDamaged) return { check: { ...check, verdict: "passed" } };
  const text = `The test ${JSON.stringify(name)} was passed over: ${why}.`;
  return { check: { ...check, verdict: "warning" }, warning: { text, check: check.name } };
}

function foundText({ name, figure, expected }: Check): string {
  const test = JSON.stringify(name.slice(TEST_PREFIX.length));
  return `${test} found ${pluralize(figure, "failing row")}, limit: ${count(expected ?? 0)}`;
}

/** Tests that a sentence names. */
const NAMED = 3;

/** Throws `audit.threshold` if a test failed. */
export function assertTestsHold({ checks }: Judged): void {
  const failed = checks.filter(({ verdict }) => verdict === "failed");
  if (failed.length === 0) return;
  const more = failed.length - NAMED;
  const found = [...failed.slice(0, NAMED).map(foundText), ...(more > 0 ? [`${more} more`] : [])];
  throw new WarehouseError(
    "audit.threshold",
    `${failed.length === 1 ? "A test" : pluralize(failed.length, "test")} of the pipeline failed: ${joinWords(found, "and")}; nothing was published. ` +
      'Look at the rows in run_checks of what was staged; correct the content, or publish it as it is by the limit or the `severity: "warning"` of the test.',
  );
}
