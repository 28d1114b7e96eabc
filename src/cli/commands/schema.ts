import { Command, Option } from "commander";
import { WarehouseError } from "../../common/errors.ts";
import { hint } from "../../common/nearest.ts";
import { TABLES } from "../../tables/all.ts";
import type { Table } from "../../tables/declare.ts";
import { VIEWS } from "../../tables/own-tables.ts";
import { schemaDocument, schemaMarkdown, schemaMermaid } from "../../tables/render.ts";
import { schemaDbt } from "../render/schema-dbt.ts";
import { schemaText } from "../render/schema-text.ts";
import { standardOutput, type Terminal, writeAll } from "../render/terminal.ts";

type Render = (tables: readonly Table[], width: number | undefined) => string;

const FORMATS = {
  text: schemaText,
  json: (tables) => `${JSON.stringify(schemaDocument(tables), null, 2)}\n`,
  markdown: (tables) => schemaMarkdown(tables),
  mermaid: schemaMermaid,
  dbt: schemaDbt,
} satisfies Readonly<Record<string, Render>>;

const EXAMPLES = `
Examples:
  $ content-warehouse schema | less
  $ content-warehouse schema content_mapped_values
  $ content-warehouse schema --format dbt > models/sources.yml
  $ content-warehouse schema --format json | jq '.tables[].name'

It shows the tables of the package. Tables of a pipeline's own describe themselves, as views do:
  $ content-warehouse sql "DESCRIBE campaign_reading_time" --warehouse /srv/warehouse
`;

/** `content-warehouse schema [TABLE]`: the tables with their columns, and the API field that each column comes from. */
export function schemaCommand(terminal: Terminal = standardOutput()): Command {
  return new Command("schema")
    .description("show the tables: columns, keys, comments and where each column comes from")
    .argument("[table]", "only this table")
    .addOption(
      new Option("--format <format>", "form of the output").choices(Object.keys(FORMATS)).default("text"),
    )
    .addHelpText("after", EXAMPLES)
    .action(async (name: string | undefined, { format }: { format: keyof typeof FORMATS }) => {
      const tables = name === undefined ? TABLES : [tableNamed(name)];
      await writeAll(terminal, [FORMATS[format](tables, terminal.columns)]);
    });
}

/** Throws `config.not_found`. */
function tableNamed(name: string): Table {
  const table = TABLES.find((each) => each.name === name.toLowerCase());
  if (table !== undefined) return table;
  const view = VIEWS.find((each) => each === name.toLowerCase());
  if (view !== undefined) {
    throw new WarehouseError(
      "config.not_found",
      `${view} is a view, and this shows tables; it describes itself: content-warehouse sql "DESCRIBE ${view}".`,
    );
  }
  const nearest = hint(
    name,
    TABLES.map((each) => each.name),
  );
  throw new WarehouseError(
    "config.not_found",
    `There is no table ${name}${nearest}; "content-warehouse schema" shows all of the package; views and tables of your own describe themselves: content-warehouse sql "DESCRIBE ${/^\w+$/.test(name) ? name : "content_wide"}".`,
  );
}
