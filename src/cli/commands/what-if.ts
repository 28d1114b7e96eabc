import type { DuckDBConnection } from "@duckdb/node-api";
import { loadSql } from "../../audit/load-sql.ts";
import { readMapping } from "../../audit/mapping/mapping-file.ts";
import type { OpenedRun } from "../../audit/open-run.ts";
import { type WhatIf, whatIf } from "../../audit/questions/what-if.ts";
import { count, counted } from "../../common/figures.ts";
import { csvTexts, jsonArray, jsonRows, type RowStream } from "../../show/rows.ts";
import { writeAll } from "../../show/terminal.ts";
import { all, stream } from "../../storage/duckdb.ts";
import { CliCommand, processEnvironment } from "../command.ts";
import { readNamedFile } from "../named-file.ts";
import { type Section, sectionTables } from "../render/sections.ts";
import { withRun } from "../with-run.ts";
import { mappingFormat } from "./audit.ts";

interface Options {
  readonly warehouse: string;
  readonly mapping: string;
  readonly format: "table" | "json" | "csv";
  readonly spreadsheet?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse audit --export-mapping mapping.csv
  $ content-warehouse what-if --mapping mapping.csv
  $ content-warehouse what-if 42 --mapping mapping.csv --format csv > changes.csv

RUN is a run's name, its number, or "current".

The file is what "audit --export-mapping" writes, CSV or JSON, with changes: other external values or names, rows added
(the ID of an added entry may be empty; a new mapping, for a field that has none at the destination, takes any ID) or
taken away. The service is not asked, and nothing is published.
`;

export function whatIfCommand({ out } = processEnvironment()): CliCommand {
  return new CliCommand("what-if")
    .description("show which external values an edited mapping would change, and for which items")
    .argument("[run]", "name or number of a run, or current", "current")
    .requiredOption("--mapping <file>", "the edited mapping, .csv or .json (required)")
    .warehouse()
    .format("table", "json", "csv")
    .spreadsheet()
    .addHelpText("after", EXAMPLES)
    .action(async (run: string, options: Options) => {
      const { mapping: file } = options;
      const format = mappingFormat(file);
      const rows = readMapping(await readNamedFile("The mapping file", file), file, format);
      await withRun(options.warehouse, run, async (opened) => {
        const found = await whatIf(opened.connection, rows);
        const form = { spreadsheet: options.spreadsheet === true, toScreen: out.columns !== undefined };
        const texts = {
          table: () => tableTexts(opened, found, out.columns),
          json: () => jsonTexts(opened, found),
          csv: async () => csvTexts(await itemRows(opened.connection), form),
        };
        await writeAll(out, await texts[options.format]());
      });
    });
}

/** Items that a screen gets. */
const SHOWN = 20;

async function* tableTexts(
  opened: OpenedRun,
  found: WhatIf,
  width: number | undefined,
): AsyncIterable<string> {
  const { run, connection } = opened;
  const { entries: of } = found;
  const entries = `Entries of mappings: ${count(of.file)} in the file, ${count(of.run)} in the run`;
  if (found.values === 0) {
    return yield `No external value would change in the run ${run}. ${entries}.\n`;
  }
  const items = await all(connection, `${loadSql("audit_what_if_items")} LIMIT ${SHOWN}`);
  const sections: Section[] = [
    {
      key: "groups",
      title: "Changes by destination and field",
      shown: `${PLACE} items values gained lost changed`,
      rows: found.groups,
      whole: PLACE,
      keys: 2,
      limit: 100,
    },
    {
      key: "values",
      title: "What would change, by value",
      shown: `${PLACE} value ${SENT} items`,
      rows: found.byValue,
      whole: `${PLACE} value ${SENT}`,
      keys: 3,
    },
    {
      key: "items",
      title: "Items",
      shown: `content_id title ${PLACE} ${SENT}`,
      rows: items,
      whole: `content_id ${PLACE} ${SENT}`,
    },
  ];
  yield sectionTables(sections, width);
  const more = found.values - items.length;
  if (more > 0) yield `and ${counted(more, "more value")} of items; --format csv has all\n`;
  yield `\n${counted(found.values, "external value")} of ${counted(found.items, "item")} would change in the run ${run}. ${entries}.\n`;
}

/** What people type again, into a filter or into the mapping. */
const PLACE = "destination custom_field";
const SENT = "name_before external_value_before name_after external_value_after";

async function* jsonTexts({ run, connection }: OpenedRun, found: WhatIf): AsyncIterable<string> {
  yield `{"run":${JSON.stringify(run)},"items_changed":${found.items},"values_changed":${found.values},\n`;
  yield `"groups":${jsonRows(found.groups)},\n"values":${jsonRows(found.byValue)},\n"items":`;
  yield* jsonArray(await itemRows(connection));
  yield "}\n";
}

/** A row per changed value of an item. */
async function itemRows(connection: DuckDBConnection): Promise<RowStream> {
  const result = await stream(connection, loadSql("audit_what_if_items"));
  return { names: result.columnNames(), chunks: result.yieldRows() };
}
