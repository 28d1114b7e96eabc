/** What a check answers: whether a run can begin, and what each check found. */
import { type Answer, col, section } from "../../common/answer.ts";
import { counted } from "../../common/figures.ts";
import { CHECK_STATUSES, type CheckStatus, exitCodeOf, type Finding } from "./finding.ts";

const CHECKS = {
  status: col.text({ required: true, of: CHECK_STATUSES }),
  check: col.name({ required: true }),
  detail: col.text({ required: true }),
  exit_code: col.count({ required: true, hidden: true }),
  stops: col.flag({ required: true, hidden: true }),
} as const;

/** Keys of the parts of the answer. */
export const CHECKED = ["checks", "forecast"] as const;

export function checkAnswer(findings: readonly Finding[]): Answer {
  const exitCode = exitCodeOf(findings);
  const rows = findings.map((finding) => ({ ...finding, exit_code: finding.exitCode }));
  const more = findings.flatMap(({ facts = {} }) => Object.entries(facts));
  return {
    lead: verdictText(findings, exitCode),
    isWell: exitCode === 0,
    facts: { ok: exitCode === 0, exit_code: exitCode, ...Object.fromEntries(more) },
    sections: [
      section({ key: "checks", title: "Checks", columns: CHECKS, rows, isLines: true }),
      ...findings.flatMap(({ table }) => table ?? []),
    ],
  };
}

function verdictText(findings: readonly Finding[], exitCode: number): string {
  const number = (status: CheckStatus) => findings.filter((each) => each.status === status).length;
  const failures = number("failed");
  if (failures > 0) {
    return `${counted(failures, "check")} failed: a run would ${endText(findings)} ${exitCode}.`;
  }
  const warnings = number("warning");
  return `A run can begin${warnings === 0 ? "" : `, with ${counted(warnings, "warning")}`}.`;
}

/** How the run would go, without the code. */
function endText(findings: readonly Finding[]): string {
  const failures = findings.filter(({ status }) => status === "failed");
  if (failures.some(({ stops }) => stops)) return "end with";
  return failures.every(({ waits }) => waits)
    ? "publish, be delivered but for tables that wait, and end with"
    : "publish, not be delivered, and end with";
}
