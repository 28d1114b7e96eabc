import { Command, Option } from "commander";
import { TABLES } from "../../tables/all.ts";
import type { Table } from "../../tables/declare.ts";
import { schemaDocument, schemaMarkdown, schemaMermaid, schemaText } from "../../tables/render.ts";
import { standardOutput, type Terminal, writeAll } from "../render/terminal.ts";

const FORMATS = {
  text: schemaText,
  json: (tables) => `${JSON.stringify(schemaDocument(tables), null, 2)}\n`,
  markdown: schemaMarkdown,
  mermaid: schemaMermaid,
} satisfies Readonly<Record<string, (tables: readonly Table[]) => string>>;

const EXAMPLES = `
Examples:
  $ content-warehouse schema | less
  $ content-warehouse schema --format mermaid > schema.mmd
  $ content-warehouse schema --format json | jq '.tables[].name'
`;

/** `content-warehouse schema`: the tables with their columns, and the API field that each column comes from. */
export function schemaCommand(terminal: Terminal = standardOutput()): Command {
  return new Command("schema")
    .description("show the tables: columns, keys, comments and where each column comes from")
    .addOption(
      new Option("--format <format>", "form of the output").choices(Object.keys(FORMATS)).default("text"),
    )
    .addHelpText("after", EXAMPLES)
    .action(async ({ format }: { format: keyof typeof FORMATS }) => {
      await writeAll(terminal, [FORMATS[format](TABLES)]);
    });
}
