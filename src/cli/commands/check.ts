import { systemClock } from "../../common/clock.ts";
import { counted } from "../../common/figures.ts";
import type { ConfigFlags } from "../../config/config.ts";
import { check } from "../../run/check.ts";
import { type CheckStatus, exitCodeOf, type Finding } from "../../run/finding.ts";
import { jsonLine, paragraph, printableLine, writeAll } from "../../show/terminal.ts";
import { freeBytes } from "../../warehouse/disk.ts";
import { verifyRuns } from "../../warehouse/verify-run.ts";
import { CliCommand, type CliEnvironment, processEnvironment, StopSignals, warningsTo } from "../command.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";

interface CheckFlags extends ConfigFlags {
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse check
  $ content-warehouse check --config /etc/content-warehouse/config.json --json
  $ content-warehouse check --sample

It asks the service for one item and the configured destinations, and changes nothing. Exit code 0: a run can begin
(a warning does not keep it from that). Else the code that "run" would end with.
`;

export function checkCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("check")
    .description("check all that a run needs, and say what to do where something is missing")
    .warehouseOption()
    .service("check a run of the sample content")
    .option("--json", "print one JSON object instead of lines")
    .addHelpText("after", EXAMPLES)
    .action((flags: CheckFlags) => checkSetup(flags, environment));
}

async function checkSetup(flags: CheckFlags, environment: CliEnvironment): Promise<void> {
  const { env, cwd, out, endWith } = environment;
  const findings: Finding[] = [];
  using stop = new StopSignals("the check is not finished");
  const { signal } = stop;
  const found = check({
    inputs: { cwd, env, flags, sampleBy: '"content-warehouse check --sample"' },
    nodeVersion: process.versions.node,
    clock: systemClock,
    logFor: (token) => warningsTo(environment, token),
    signal,
    freeBytes,
    verifyCurrent: (folder) =>
      withTemporaryFolder("check", (temporary) => verifyRuns(folder, { run: "current" }, temporary)),
  });
  for await (const finding of found) {
    // What a signal made fail is no finding.
    signal.throwIfAborted();
    findings.push(finding);
    if (flags.json !== true) await writeAll(out, [findingText(finding, out.columns)]);
  }
  const exitCode = exitCodeOf(findings);
  const json = { ok: exitCode === 0, exitCode, checks: findings };
  const text = flags.json === true ? jsonLine(json) : `\n${verdictText(findings, exitCode)}\n`;
  await writeAll(out, [text]);
  if (exitCode !== 0) endWith(exitCode);
}

const LABELS: Readonly<Record<CheckStatus, string>> = {
  ok: "ok",
  warning: "warn",
  failed: "FAIL",
  skipped: "skip",
};

/** Of the longest name. */
const NAME_WIDTH = "configuration".length;

function findingText({ check, status, detail }: Finding, columns: number | undefined): string {
  const lead = `${LABELS[status].padEnd(4)}  ${check.padEnd(NAME_WIDTH)}  `;
  const [first = "", ...others] = detail.split("\n").map((line) => printableLine(line));
  const rest = others.map((line) => paragraph(" ".repeat(lead.length), line.trim(), columns));
  return [paragraph(lead, first, columns), ...rest].join("");
}

function verdictText(findings: readonly Finding[], exitCode: number): string {
  const number = (status: CheckStatus) => findings.filter((each) => each.status === status).length;
  const failures = number("failed");
  if (failures > 0) return `${counted(failures, "check")} failed: a run would end with ${exitCode}.`;
  const warnings = number("warning");
  return `A run can begin${warnings === 0 ? "" : `, with ${counted(warnings, "warning")}`}.`;
}
