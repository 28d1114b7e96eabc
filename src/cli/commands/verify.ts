/** `verify`: compares published runs with their manifests. */
import { invalidConfig, WarehouseError } from "../../common/errors.ts";
import { count, fileSize, pluralize } from "../../common/figures.ts";
import { writeResult } from "../../show/terminal.ts";
import { type VerifiedRun, verifyRuns } from "../../warehouse/verify-run.ts";
import { CliCommand, type OutputStream, openWarehouseFolder, processEnvironment } from "../command.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";

interface VerifyFlags {
  readonly warehouse: string;
  readonly all?: true;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse verify
  $ content-warehouse verify --all --json

Exit code 0: the runs are as they were published. 31: one is not.
`;

export function verifyCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("verify")
    .description("verify that runs are still as they were published")
    .argument("[run]", "name or number of a run", "current")
    .warehouse()
    .option("--all", "verify all published runs")
    .option("--json", "print one JSON object instead of the report")
    .addHelpText("after", EXAMPLES)
    .action(async (run: string, options: VerifyFlags, command: CliCommand) => {
      if (options.all === true && command.args.length > 0) {
        throw invalidConfig("--all verifies every run; name one, or leave --all out.");
      }
      await verify(out, options.all === true ? undefined : run, options);
    });
}

async function verify(
  out: OutputStream,
  wanted: string | undefined,
  { warehouse, json }: VerifyFlags,
): Promise<void> {
  const folder = openWarehouseFolder(warehouse);
  const found = await withTemporaryFolder("verify", (temporaryDirectory) =>
    verifyRuns(folder, wanted, temporaryDirectory),
  );
  const { current = null, runs, findings } = found;
  const { length } = findings;
  const object = { ok: length === 0, warehouse: folder.root, current, findings, runs };
  const texts = runs.map((run) => {
    const name = run.current ? `${run.run} (current)` : run.run;
    return verificationText(name, run, run.denied === run.findings.length ? "NOT VERIFIED" : "DAMAGED");
  });
  const ofRuns = new Set(runs.flatMap((run) => run.findings));
  const others = findings.filter((finding) => !ofRuns.has(finding)).map((finding) => `${finding}\n`);
  await writeResult(out, json === true ? object : [...texts, ...others].join(""));
  if (length === 0) return;
  const denied = runs.reduce((sum, run) => sum + run.denied, 0);
  const wayOut =
    denied === length
      ? "verify again as a user who can read all files of the run"
      : 'run again, which writes damaged files anew, or find a whole run with "verify --all" and go back to it with "runs rollback"';
  throw new WarehouseError("verify.failed", `${pluralize(length, "finding")}: ${wayOut}.`);
}

/** Maximum number of findings printed; `--json` has all. */
const MAX_FINDINGS = 20;

/** Result for one run as text; `damaged` begins it if there are findings. */
export function verificationText(
  name: string,
  run: Pick<VerifiedRun, "files" | "bytes" | "tables" | "rows" | "findings">,
  damaged = "DAMAGED",
): string {
  const { findings } = run;
  if (findings.length === 0) {
    const size = `${pluralize(run.files, "file")} (${fileSize(run.bytes)})`;
    return `Whole: run ${name}, ${size}, ${count(run.rows)} rows in ${pluralize(run.tables, "table")}\n`;
  }
  const shown = findings.slice(0, MAX_FINDINGS).map((finding) => `  ${finding}\n`);
  const more = findings.length - MAX_FINDINGS;
  const rest = more > 0 ? `  and ${count(more)} more\n` : "";
  return `${damaged}: run ${name}, ${pluralize(findings.length, "finding")}\n${shown.join("")}${rest}`;
}
