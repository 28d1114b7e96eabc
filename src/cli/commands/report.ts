/** `report`: writes the HTML page of a run. */
import { findReadableRun } from "../../audit/open-run.ts";
import { findEarlierRuns } from "../../audit/questions/runs.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { listRuns } from "../../warehouse/retention.ts";
import { CliCommand, processEnvironment } from "../command.ts";
import { openOutputFile } from "../user-file.ts";
import { withRuns } from "../with-run.ts";

const EXAMPLES = `
Examples:
  $ content-warehouse report
  $ content-warehouse report 42 --out monday.html

Each run has this page in its folder as report.html. It is one file, opens from
the disk and makes no requests.
`;

export function reportCommand({ err } = processEnvironment()): CliCommand {
  return new CliCommand("report")
    .argument("[run]", "name or number of a run", "current")
    .option("--out <file>", "file to write (default: report-<run>.html)")
    .warehouse()
    .addHelpText("after", EXAMPLES)
    .action(
      async (run: string, { warehouse, out }: { readonly warehouse: string; readonly out?: string }) => {
        await withRuns(
          warehouse,
          async (folder) => {
            const found = await findReadableRun(folder, run);
            const earlier = findEarlierRuns(await listRuns(folder), found.manifest);
            return { wanted: found.run, earlier, ...(earlier.before && { beside: earlier.before.run }) };
          },
          async (opened, { earlier }) => {
            const file = out ?? `report-${opened.run}.html`;
            await using named = await openOutputFile(file, "--out", outputFolder(warehouse));
            const { reportOf } = await import("../../show/page/report.ts");
            err.write(
              await named.write(await reportOf({ ...opened, earlier }), `is the report of ${opened.run}`),
            );
          },
        );
      },
    );
}
