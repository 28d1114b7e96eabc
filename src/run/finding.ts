/** What a check found, as a value. */
import { asWarehouseError } from "../common/errors.ts";

export type CheckName =
  | "node"
  | "configuration"
  | "token"
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
  | "target";

/** `warning`: a run begins all the same. `skipped`: what it needs failed before. */
export type CheckStatus = "ok" | "warning" | "failed" | "skipped";

export interface Finding {
  readonly check: CheckName;
  readonly status: CheckStatus;
  /** What was found; where it is not ok, what to do. */
  readonly detail: string;
  /** What a run would end with for it; 0 unless it failed. */
  readonly exitCode: number;
}

function finding(status: CheckStatus) {
  return (check: CheckName, detail: string): Finding => ({ check, status, detail, exitCode: 0 });
}

export const ok = finding("ok");
export const warning = finding("warning");
export const skipped = finding("skipped");

export function failed(check: CheckName, thrown: unknown): Finding {
  const { message, exitCode } = asWarehouseError(thrown);
  return { check, status: "failed", detail: message, exitCode };
}

/** What `look` finds; a text is ok, and what it throws has failed. */
export async function lookAt(check: CheckName, look: () => Promise<string | Finding>): Promise<Finding> {
  try {
    const found = await look();
    return typeof found === "string" ? ok(check, found) : found;
  } catch (thrown) {
    return failed(check, thrown);
  }
}

/** What a run would end with: the exit code of the first failure. */
export function exitCodeOf(findings: readonly Finding[]): number {
  return findings.find(({ status }) => status === "failed")?.exitCode ?? 0;
}
