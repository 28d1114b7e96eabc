/** Checks that warn, in one sentence. */
import { count, pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import { type Check, type Judged, warningCause } from "./checks.ts";
import { TOLD_BY_NAME } from "./unmatched.ts";

/** Checks that warn, and that no sentence tells of. */
export function untoldChecks({ checks, warnings }: Judged): readonly Check[] {
  const told = new Set(warnings.map(warningCause));
  return checks.filter(
    ({ name, verdict }) => verdict !== "passed" && !told.has(name) && !TOLD_BY_NAME.has(name),
  );
}

const CHECKS_NAMED = 3;

/** One sentence for the checks that did not warn in the run before; none if there are none. */
export function newChecksText(checks: readonly Check[]): string[] {
  if (checks.length === 0) return [];
  const named = checks.map(({ name, figure }) => `${name}: ${count(figure)}`);
  const warn = `${pluralize(checks.length, "check")} ${checks.length === 1 ? "warns" : "warn"} since this run`;
  return [`${warn} (${joinFirst(named, CHECKS_NAMED)}); "content-warehouse runs show" has each.`];
}
