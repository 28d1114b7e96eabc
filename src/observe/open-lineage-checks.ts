/** Checks of a run, as OpenLineage has them: those of a table or a column are its assertions, the others tests of the run. */
import type { Check } from "../audit/checks/checks.ts";

/** What the names of checks say of a table and its column: they are all that `run_checks` has of it. */
const ABOUT: readonly (readonly [assertion: string, name: RegExp])[] = [
  ["unique", /^unique key of (?<table>\S+)$/],
  ["relationships", /^foreign key (?<table>[^.\s]+)\.(?<column>\S+) → /],
  ["accepted_type", /^values of (?<table>[^.\s]+)\.(?<column>\S+) that are not of its type$/],
  ["accepted_values", /^(?<table>[^.\s]+)\.(?<column>\S+) has only values that the specification lists$/],
];

interface About {
  readonly assertion: string;
  readonly table: string;
  readonly column: string | undefined;
}

function aboutOf({ name }: Check): About | undefined {
  for (const [assertion, pattern] of ABOUT) {
    const { table, column } = pattern.exec(name)?.groups ?? {};
    if (table !== undefined) return { assertion, table, column };
  }
  return undefined;
}

export function assertionsOf(checks: readonly Check[], table: string) {
  return checks.flatMap((check) => {
    const about = aboutOf(check);
    if (about === undefined || about.table !== table) return [];
    const { assertion, column } = about;
    const success = check.verdict === "passed";
    // Several columns together are no column of the schema.
    const named = column === undefined || column.includes("+") ? {} : { column };
    return [{ assertion, success, ...named, ...described(check) }];
  });
}

/** Checks of the run as a whole. */
export function testsOf(checks: readonly Check[]) {
  return checks
    .filter((check) => aboutOf(check) === undefined)
    .map((check) => ({
      status: check.verdict === "passed" ? "pass" : "fail",
      type: "custom",
      ...described(check),
    }));
}

/** A published run has warnings, and no failed checks. */
function described({ name, verdict, figure, expected, detail }: Check) {
  return {
    name,
    description: detail,
    actual: String(figure),
    ...(expected !== null && { expected: String(expected) }),
    ...(verdict !== "passed" && { severity: "warn" }),
  };
}
