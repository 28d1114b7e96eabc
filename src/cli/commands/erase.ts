import { availableParallelism } from "node:os";
import type { Writable } from "node:stream";
import { Command } from "commander";
import { systemClock } from "../../common/clock.ts";
import { count, counted } from "../../common/figures.ts";
import { freeBytes } from "../../warehouse/disk.ts";
import { type EraseReport, eraseUser } from "../../warehouse/erase/erase.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { existingFolder, findWarehouse, warehouseOption } from "../options.ts";
import { drawInParts, right, whole } from "../render/table.ts";
import { printableText, standardOutput, type Terminal, writeOutcome } from "../render/terminal.ts";

interface Options {
  readonly user: string;
  readonly warehouse: string;
  readonly json?: true;
}

const HELP = `
Names, addresses, pictures and everything else that is personal goes from the tables, the raw documents, the rejects and
the examples of drift of every retained run; the user ID stays, so that rows can be joined as before. Each run that
changes is replaced by one of its own, with a new number; what nobody holds of the user is no failure. Let the service
forget the user first, or the next run brings the details again.

Example:
  $ content-warehouse erase --user 5f1e0c2ab4d3e90017c0ffee --warehouse /srv/warehouse

Exit code 0: no retained run holds anything of the user any more. 2: the ID is that of another thing, such as a campaign.
`;

/** `content-warehouse erase`: erases a person from the retained runs. */
export function eraseCommand(terminal: Terminal = standardOutput(), err: Writable = process.stderr): Command {
  return new Command("erase")
    .description("erase one person's details from all retained runs")
    .requiredOption("--user <id>", "ID of the user (required)")
    .addOption(warehouseOption())
    .hook("preAction", findWarehouse)
    .option("--json", "print one JSON object instead of the table")
    .addHelpText("after", HELP)
    .action(async (options: Options) => {
      const { user: userId, warehouse, json } = options;
      const folder = existingFolder(warehouse);
      await using _lock = await acquireLock(folder);
      const report = await eraseUser(folder, {
        userId,
        clock: systemClock,
        threads: availableParallelism(),
        freeBytes,
        onStep: () => {},
      });
      const text =
        json === true ? `${JSON.stringify(report)}\n` : reportText(userId, report, terminal.columns);
      const done = "No retained run holds anything of the user any more, but what was done";
      await writeOutcome(terminal, err, { text, done });
    });
}

function reportText(
  userId: string,
  { searched, named, replaced }: EraseReport,
  width: number | undefined,
): string {
  const runs = counted(searched, "retained run");
  if (replaced.length === 0)
    return printableText(`nothing to erase: ${runs} searched, ${knownText(userId, named)}\n`);
  const columns = [whole("run"), whole("replaced by"), right("rows"), right("raw documents")];
  const rows = replaced.map((each) => [each.run, each.replacedBy, count(each.rows), count(each.documents)]);
  const current = replaced.find((each) => each.current)?.replacedBy;
  const now = current === undefined ? "" : `; current is now ${current}`;
  return `${drawInParts({ columns, rows }, 1, width)}${printableText(`${runs} searched, ${count(replaced.length)} replaced${now}\n`)}`;
}

/** `named`: retained runs that know the ID. */
function knownText(userId: string, named: number): string {
  if (named > 0) return `the user is known in ${count(named)}, by ID alone`;
  return `none knows a user with the ID "${userId}"; if you expected one, check the ID in the table users`;
}
