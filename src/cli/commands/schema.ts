import { lacksWorkingDirectory, WarehouseError } from "../../common/errors.ts";
import { hint } from "../../common/nearest.ts";
import { warehouseFolder } from "../../config/config.ts";
import { paragraph, writeAll } from "../../show/terminal.ts";
import { TABLES } from "../../tables/all.ts";
import { type Column, isView, type Table, underPolicy } from "../../tables/declare.ts";
import { marksOf, schemaDocument, schemaMarkdown, schemaMermaid } from "../../tables/render.ts";
import { VIEWS } from "../../tables/views.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { listRuns } from "../../warehouse/retention.ts";
import { CliCommand, type CliEnvironment, invalid, processEnvironment } from "../command.ts";
import { schemaDbt } from "../schema-dbt.ts";
import { schemaSql } from "../schema-sql.ts";

type Render = (tables: readonly Table[], width: number | undefined) => string;

const FORMATS = {
  text: schemaText,
  json: (tables) => `${JSON.stringify(schemaDocument(tables), null, 2)}\n`,
  markdown: (tables) => schemaMarkdown(tables),
  mermaid: schemaMermaid,
  sql: schemaSql,
  dbt: schemaDbt,
} satisfies Readonly<Record<string, Render>>;

interface Options {
  readonly format: keyof typeof FORMATS;
  readonly warehouse?: string;
  readonly config?: string;
}

const EXAMPLES = `
Examples:
  $ content-warehouse schema | less
  $ content-warehouse schema content_mapped_values
  $ content-warehouse schema --format dbt > models/sources.yml
  $ content-warehouse schema --format sql | duckdb keys.duckdb
  $ content-warehouse schema --format json | jq '.tables[].name'

It shows the tables and views of the package; if the warehouse has a run, with what its policy does to personal columns.
Tables of a pipeline's own, and the columns that content_wide and content_mapped_wide have for the fields of a run,
describe themselves:
  $ content-warehouse sql "DESCRIBE campaign_reading_time" --warehouse /srv/warehouse
`;

export function schemaCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("schema")
    .description("show tables and views: columns, keys, comments and origins")
    .argument("[table]", "only this table or view")
    .choice("--format <format>", "form of the output", Object.keys(FORMATS), "text")
    .json()
    .warehouseOption()
    .addHelpText("after", EXAMPLES)
    .action(async (name: string | undefined, options: Options) => {
      const { format } = options;
      const { out } = environment;
      const policy = await policyOf(await folderOf(environment, options));
      const tables = tablesOf(name, format).map((table) => underPolicy(table, policy));
      await writeAll(out, [FORMATS[format](tables, out.columns)]);
    });
}

/** Undefined: none is named, and there is no working directory to look in. */
async function folderOf(
  environment: CliEnvironment,
  { warehouse, config }: Options,
): Promise<string | undefined> {
  const { env } = environment;
  try {
    return await warehouseFolder({ env, cwd: environment.cwd, flags: { warehouse, config } });
  } catch (thrown) {
    if (lacksWorkingDirectory(thrown) && (warehouse ?? env.CONTENT_WAREHOUSE_DIR) === undefined)
      return undefined;
    throw thrown;
  }
}

/** Of the current run; without one nobody knows it, and nothing is said of it. */
async function policyOf(warehouse: string | undefined) {
  if (warehouse === undefined) return "keep";
  const runs = await listRuns(outputFolder(warehouse));
  const manifest = runs.find(({ current }) => current)?.manifest;
  return manifest === undefined || manifest instanceof WarehouseError ? "keep" : manifest.personalData.policy;
}

/** What has keys and references: views stand for themselves there. */
const OF_TABLES_ALONE: ReadonlySet<string> = new Set(["mermaid", "sql"] satisfies (keyof typeof FORMATS)[]);

/** Throws `config.not_found`, and `config.invalid` for a view in a form that is for tables. */
function tablesOf(name: string | undefined, format: keyof typeof FORMATS): readonly Table[] {
  if (name === undefined) return OF_TABLES_ALONE.has(format) ? TABLES : [...TABLES, ...VIEWS];
  const table = tableNamed(name);
  if (!isView(table) || !OF_TABLES_ALONE.has(format)) return [table];
  throw invalid(`${table.name} is a view, and --format ${format} is for tables; use another format.`);
}

function tableNamed(name: string): Table {
  const relations = [...TABLES, ...VIEWS];
  const found = relations.find((each) => each.name === name.toLowerCase());
  if (found !== undefined) return found;
  const names = relations.map((each) => each.name);
  throw new WarehouseError(
    "config.not_found",
    `There is no table ${name}${hint(name, names)}; "content-warehouse schema" shows all of the package; tables of your own describe themselves: content-warehouse sql "DESCRIBE ${/^\w+$/.test(name) ? name : "content_wide"}".`,
  );
}

/** A block a table: its comment, then its columns, each with its meaning and the API fields that it comes from. */
function schemaText(tables: readonly Table[], width: number | undefined): string {
  const blocks = tables.map((table) => tableText(table, width));
  const hasInstants = tables.some(({ columns }) => columns.some(({ type }) => type === "timestamp"));
  return [...blocks, ...(hasInstants ? [paragraph("", INSTANTS, width)] : [])].join("\n");
}

const INSTANTS =
  "timestamp is an instant, TIMESTAMPTZ in UTC. DuckDB shows it, and makes days of it, in the time zone of the machine, unless the session begins with: SET TimeZone = 'UTC'";

function tableText(table: Table, width: number | undefined): string {
  const names = Math.max(...table.columns.map(({ name }) => name.length));
  const columns = table.columns.map((column) => columnText(table, column, { names, width }));
  return [paragraph("", `${table.name}: ${table.comment}`, width), ...columns].join("");
}

/** `names`: width of the longest column name. */
function columnText(
  table: Table,
  column: Column,
  { names, width }: { readonly names: number; readonly width: number | undefined },
): string {
  const marks = marksOf(table, column);
  const meaning = `${column.comment}${marks.length === 0 ? "" : ` [${marks.join(", ")}]`}`;
  const lead = `  ${column.name.padEnd(names)}  ${column.type.padEnd("timestamp".length)}  `;
  const from = column.origins.map(({ resource, path }) => `${resource}:${path}`).join(", ");
  const origins = from === "" ? "" : paragraph(" ".repeat(lead.length), `from ${from}`, width);
  return paragraph(lead, meaning, width) + origins;
}
