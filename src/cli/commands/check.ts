import { counted } from "../../common/figures.ts";
import { thisMachine } from "../../run/context.ts";
import { check } from "../../run/preconditions/check.ts";
import { type CheckStatus, exitCodeOf, type Finding } from "../../run/preconditions/finding.ts";
import { jsonLine, paragraph, printableLine, writeAll } from "../../show/terminal.ts";
import { CliCommand, type CliEnvironment, logTo, processEnvironment, StopSignals } from "../command.ts";
import { type WantedFlags, wantedOf, wantedOptions } from "../wanted-run.ts";

interface CheckFlags extends WantedFlags {
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse check
  $ content-warehouse check ./my-pipeline.ts --config /etc/content-warehouse/config.json --json
  $ content-warehouse check --sample
  $ content-warehouse check --instance north --fleet fleet.json

Without a pipeline it is nightly that is checked. It asks the service for one item and the configured destinations,
and changes nothing. Exit code 0: a run can begin (a warning does not keep it from that). Else the code that "run"
with the same arguments would end with. What the content alone shows, such as a departure from the specification
(--contract freeze), only a run finds out.
`;

export function checkCommand(environment = processEnvironment()): CliCommand {
  const command = new CliCommand("check").description(
    "check all that a run needs, and say what to do where something is missing",
  );
  return wantedOptions(command, "check a run of the sample content")
    .option("--json", "print one JSON object instead of lines")
    .addHelpText("after", EXAMPLES)
    .action((pipeline: string | undefined, flags: CheckFlags) => checkSetup(pipeline, flags, environment));
}

async function checkSetup(
  pipeline: string | undefined,
  flags: CheckFlags,
  environment: CliEnvironment,
): Promise<void> {
  const { out, err, endWith } = environment;
  const wanted = pipeline ?? (flags.instance === undefined ? "nightly" : undefined);
  const { url, inputs } = await wantedOf(wanted, flags, environment);
  const findings: Finding[] = [];
  using stop = new StopSignals("the check is not finished");
  const found = check({
    inputs,
    pipeline: url,
    logFor: (secrets) => logTo(err, { level: "warn", format: "text", secrets }),
    signal: stop.signal,
    ...thisMachine(),
  });
  for await (const finding of found) {
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
  if (failures > 0) {
    const stops = findings.some((each) => each.stops);
    const would = stops ? "a run would end with" : "a run would publish, not be delivered, and end with";
    return `${counted(failures, "check")} failed: ${would} ${exitCode}.`;
  }
  const warnings = number("warning");
  return `A run can begin${warnings === 0 ? "" : `, with ${counted(warnings, "warning")}`}.`;
}
