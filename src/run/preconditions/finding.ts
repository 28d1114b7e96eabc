/** What a check found, as a value. */
import type { Answer, Section } from "../../common/answer.ts";
import { asWarehouseError } from "../../common/errors.ts";

export type CheckName =
  | "node"
  | "memory"
  | "configuration"
  | "token"
  | "pipeline"
  | "warehouse"
  | "lock"
  | "disk"
  | "dns"
  | "tls"
  | "service"
  | "credentials"
  | "instance"
  | "clock"
  | "destinations"
  | "personal fields"
  | "current run"
  | "target"
  | "observers"
  | "requests";

/** `warning`: a run begins all the same. `skipped`: what it needs failed before. */
export const CHECK_STATUSES = ["ok", "warning", "failed", "skipped"] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

export interface Finding {
  readonly check: CheckName;
  readonly status: CheckStatus;
  /** What was found; where it is not ok, what to do. */
  readonly detail: string;
  /** What a run would end with for it; 0 unless it failed. */
  readonly exitCode: number;
  /** Whether a run would publish nothing for it. */
  readonly stops: boolean;
  /** Whether a target would have all of the run but tables that wait. */
  readonly waits?: boolean;
  /** What stands behind it. */
  readonly table?: Section;
  /** Members of the JSON form. */
  readonly facts?: Answer["facts"];
}

function finding(status: CheckStatus) {
  return (check: CheckName, detail: string): Finding => ({
    check,
    status,
    detail,
    exitCode: 0,
    stops: false,
  });
}

export const ok = finding("ok");
export const warning = finding("warning");
export const skipped = finding("skipped");

export function failed(check: CheckName, thrown: unknown): Finding {
  const { message, exitCode } = asWarehouseError(thrown);
  return { check, status: "failed", detail: message, exitCode, stops: true };
}

/** What a run meets once it is published. */
export function failedLater(check: CheckName, thrown: unknown): Finding {
  const waits = asWarehouseError(thrown).code === "target.waits";
  return { ...failed(check, thrown), stops: false, waits };
}

/** What a run would end with: what stops it first, else what fails after it is published. */
export function exitCodeOf(findings: readonly Finding[]): number {
  const failures = findings.filter(({ status }) => status === "failed");
  const [first] = [...failures.filter(({ stops }) => stops), ...failures];
  return first?.exitCode ?? 0;
}
