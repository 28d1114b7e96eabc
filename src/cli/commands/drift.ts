import { Command, Option } from "commander";
import { type DriftReport, driftOf } from "../../audit/questions/drift.ts";
import { findPreviousRun, type PreviousRun } from "../../audit/questions/run-history.ts";
import { findWarehouse, warehouseOption } from "../options.ts";
import { driftJson, driftText } from "../render/drift-text.ts";
import { standardOutput, type Terminal, writeAll } from "../render/terminal.ts";
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

/** `content-warehouse drift [RUN]`: where the service departs from the contract, and what of that is new. */
export function driftCommand(terminal: Terminal = standardOutput()): Command {
  return new Command("drift")
    .description("show new, vanished and changed fields, compared with the run before")
    .argument("[run]", "name or number of a run, or current", "current")
    .addOption(warehouseOption())
    .hook("preAction", findWarehouse)
    .addOption(new Option("--format <format>", "form of the answer").choices(FORMATS).default("table"))
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
          await writeAll(terminal, [textOf({ run, previous, drift }, format, terminal.columns)]);
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
