import { stat } from "node:fs/promises";
import { findReadableRun } from "../../audit/open-run.ts";
import { findEarlierRuns } from "../../audit/questions/run-history.ts";
import { type OutputFolder, outputFolder } from "../../warehouse/layout.ts";
import { listRuns } from "../../warehouse/retention.ts";
import { CliCommand, invalid, processEnvironment } from "../command.ts";
import { openOutputFile } from "../user-file.ts";
import { withRuns } from "../with-run.ts";

interface ReportFlags {
  readonly warehouse: string;
  readonly out?: string;
}

const EXAMPLES = `
Examples:
  $ content-warehouse report
  $ content-warehouse report 42 --out monday.html

Each run has this page in its folder, as report.html: one file that opens from
the disk and asks nobody for anything.
`;

export function reportCommand({ err } = processEnvironment()): CliCommand {
  return new CliCommand("report")
    .description("write one HTML page of a run, with each item's payloads")
    .argument("[run]", "name or number of a run", "current")
    .option("--out <file>", "file to write (default: report-<run>.html)")
    .warehouse()
    .addHelpText("after", EXAMPLES)
    .action(async (run: string, { warehouse, out }: ReportFlags) => {
      if (out !== undefined) await assertNoFolder(out);
      await withRuns(
        warehouse,
        (folder) => chooseRuns(folder, run),
        async (opened, { earlier }) => {
          const file = out ?? `report-${opened.run}.html`;
          await using named = await openOutputFile(file, outputFolder(warehouse));
          const { reportOf } = await import("../../show/page/report.ts");
          err.write(
            await named.write(await reportOf({ ...opened, earlier }), `is the report of ${opened.run}`),
          );
        },
      );
    });
}

/** The run, and beside it the run before, where there is one to compare with. */
async function chooseRuns(folder: OutputFolder, wanted: string) {
  const { run, manifest } = await findReadableRun(folder, wanted);
  const earlier = findEarlierRuns(await listRuns(folder), manifest);
  return { wanted: run, earlier, ...(earlier.before !== undefined && { beside: earlier.before.run }) };
}

/** Elsewhere `--out` is the warehouse. Throws `config.invalid`. What cannot be looked at is told where it is opened. */
async function assertNoFolder(out: string): Promise<void> {
  const found = await stat(out).catch(() => undefined);
  if (found?.isDirectory() !== true) return;
  throw invalid(
    `${out} is a folder; --out names the file of the report, and --warehouse the folder of the warehouse.`,
  );
}
