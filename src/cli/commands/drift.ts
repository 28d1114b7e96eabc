import type { Command } from "commander";
import { type DriftReport, driftOf } from "../../audit/questions/drift.ts";
import { findPreviousRun, type PreviousRun } from "../../audit/questions/previous-run.ts";
import { CliCommand } from "../command.ts";
import { processEnvironment } from "../environment.ts";
import { driftJson, driftText } from "../render/drift-text.ts";
import { writeAll } from "../render/terminal.ts";
import { withRuns } from "../with-run.ts";

const FORMATS = ["table", "json"] as const;

interface Options {
  readonly warehouse: string;
  readonly format: (typeof FORMATS)[number];
}

const EXAMPLES = `
Examples:
  $ content-warehouse drift
  $ content-warehouse drift 42 --warehouse /srv/warehouse
  $ content-warehouse drift --format json | jq '.newFields[] | select(.before == 0).path'

RUN is a run's name, its number, or "current". It is compared with the run that
was current when it began. A count is of documents, of all passes together.
`;

export function driftCommand({ out } = processEnvironment()): Command {
  return new CliCommand("drift")
    .description("show new, vanished and changed fields, compared with the run before")
    .argument("[run]", "name or number of a run, or current", "current")
    .warehouse()
    .format(FORMATS)
    .addHelpText("after", EXAMPLES)
    .action((wanted: string, { warehouse, format }: Options) =>
      withRuns(
        warehouse,
        async (folder) => {
          const previous = await findPreviousRun(folder, wanted);
          return { wanted, beside: previous.manifest?.run, anyPipeline: true, previous };
        },
        async ({ run, connection, manifest }, { previous }) => {
          const drift = await driftOf({ connection, now: manifest, before: previous.manifest });
          await writeAll(out, [textOf({ run, previous, drift }, format, out.columns)]);
        },
      ),
    );
}

interface Told {
  readonly run: string;
  readonly previous: PreviousRun;
  readonly drift: DriftReport;
}

function textOf(told: Told, format: Options["format"], width: number | undefined): string {
  return format === "json" ? driftJson(told) : driftText(told, width);
}
