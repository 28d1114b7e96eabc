import type { ReadableRun } from "../../audit/open-run.ts";
import { type PublishedColumn, readPublishedColumns } from "../../audit/open-run.ts";
import { lacksWorkingDirectory, WarehouseError } from "../../common/errors.ts";
import { didYouMean } from "../../common/nearest.ts";
import { jsonText } from "../../common/printable.ts";
import { displayWidth, paragraph, printableLine, writeAll } from "../../show/terminal.ts";
import { shownTypeOf } from "../../storage/ddl.ts";
import { TABLES } from "../../tables/all.ts";
import { isView, type ShownColumn, type ShownTable, type Table, underPolicy } from "../../tables/declare.ts";
import { marksOf, schemaDocument, schemaMermaid } from "../../tables/render.ts";
import { VIEWS } from "../../tables/views.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { listRuns } from "../../warehouse/retention.ts";
import { CliCommand, type CliEnvironment, invalid, processEnvironment } from "../command.ts";
import { schemaDbt } from "../schema-dbt.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";
import { warehouseFolder } from "../warehouse-folder.ts";

type Render<T extends ShownTable> = (tables: readonly T[], width: number | undefined) => string;

const FORMATS = {
  text: schemaText,
  json: (tables) => `${jsonText(schemaDocument(tables), 2)}\n`,
  dbt: schemaDbt,
} satisfies Readonly<Record<string, Render<ShownTable>>>;

/** What has keys and references: views stand for themselves there. */
const FORMATS_OF_TABLES = {
  mermaid: schemaMermaid,
} satisfies Readonly<Record<string, Render<Table>>>;

type SchemaFormat = keyof typeof FORMATS | keyof typeof FORMATS_OF_TABLES;

function isOfTables(format: SchemaFormat): format is keyof typeof FORMATS_OF_TABLES {
  return Object.hasOwn(FORMATS_OF_TABLES, format);
}

interface SchemaFlags {
  readonly format: SchemaFormat;
  readonly warehouse?: string;
  readonly config?: string;
}

const EXAMPLES = `
Examples:
  $ content-warehouse schema | less
  $ content-warehouse schema content_mapped_values
  $ content-warehouse schema --format dbt > models/sources.yml

It shows the tables and views of the package, and of a run what its policy
does to personal columns and the columns of content_wide. Tables of a pipeline
of your own are described by "content-warehouse sql 'DESCRIBE table'".
`;

export function schemaCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("schema")
    .description("show tables and views: columns, keys, comments and origins")
    .argument("[table]", "only this table or view")
    .choice(
      "--format <format>",
      "form of the output",
      [...Object.keys(FORMATS), ...Object.keys(FORMATS_OF_TABLES)],
      "text",
    )
    .json()
    .warehouseOption()
    .addHelpText("after", EXAMPLES)
    .action(async (name: string | undefined, options: SchemaFlags) => {
      const { format } = options;
      const { out } = environment;
      const run = await currentRun(await folderOf(environment, options));
      const policy = run?.manifest.personalData.policy ?? "keep";
      const tables = tablesOf(name, format).map((table) => underPolicy(table, policy));
      const text = isOfTables(format)
        ? FORMATS_OF_TABLES[format](tables)
        : FORMATS[format](await withColumnsOf(run, tables), out.columns);
      await writeAll(out, [text]);
    });
}

/** Undefined: none is named, and there is no working directory to look in. */
async function folderOf(
  environment: CliEnvironment,
  { warehouse, config }: SchemaFlags,
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

/** Undefined: there is none, or none that can be read, and nothing is said of it. */
async function currentRun(warehouse: string | undefined): Promise<ReadableRun | undefined> {
  if (warehouse === undefined) return undefined;
  const runs = await listRuns(outputFolder(warehouse));
  const run = runs.find(({ current }) => current);
  return run === undefined || run.manifest instanceof WarehouseError
    ? undefined
    : { ...run, manifest: run.manifest };
}

/** The views with the columns that they have for the fields of the run; as declared, where its database cannot be read. */
async function withColumnsOf(
  run: ReadableRun | undefined,
  tables: readonly Table[],
): Promise<readonly ShownTable[]> {
  if (run === undefined || !tables.some(isView)) return tables;
  const found = await withTemporaryFolder("schema", (folder) => readPublishedColumns(run, folder)).catch(
    (thrown: unknown) => {
      // The tables of the package are the same, and "content-warehouse verify" says what is damaged.
      if (thrown instanceof WarehouseError && thrown.code === "verify.failed") return [];
      throw thrown;
    },
  );
  const ofRun = Map.groupBy(found, ({ table }) => table);
  return tables.map((table) => {
    const declared = new Set(table.columns.map(({ name }) => name));
    const others = (isView(table) ? (ofRun.get(table.name) ?? []) : []).filter(
      ({ column }) => !declared.has(column),
    );
    return { ...table, columns: [...table.columns, ...others.map(shownColumn)] };
  });
}

function shownColumn({ column, type, comment }: PublishedColumn): ShownColumn {
  return {
    name: column,
    type: shownTypeOf(type),
    nullable: true,
    comment: comment ?? "",
    personal: false,
    origins: [],
  };
}

/** Throws `config.not_found`, and `config.invalid` for a view in a form that is for tables. */
function tablesOf(name: string | undefined, format: SchemaFormat): readonly Table[] {
  if (name === undefined) return isOfTables(format) ? TABLES : [...TABLES, ...VIEWS];
  const table = tableNamed(name);
  if (!isView(table) || !isOfTables(format)) return [table];
  throw invalid(`${table.name} is a view, and --format ${format} is for tables; use another format.`);
}

function tableNamed(name: string): Table {
  const relations = [...TABLES, ...VIEWS];
  const found = relations.find((each) => each.name === name.toLowerCase());
  if (found !== undefined) return found;
  const names = relations.map((each) => each.name);
  throw new WarehouseError(
    "config.not_found",
    `There is no table ${name}${didYouMean(name, names)}; "content-warehouse schema" shows all of the package; tables of your own describe themselves: content-warehouse sql "DESCRIBE ${/^\w+$/.test(name) ? name : "content_wide"}".`,
  );
}

/** A block a table: its comment, then its columns, each with its meaning and the API fields that it comes from. */
function schemaText(tables: readonly ShownTable[], width: number | undefined): string {
  const blocks = tables.map((table) => tableText(table, width));
  return `${blocks.join("\n")}${instantsText(tables, width)}`;
}

const INSTANTS =
  "timestamp is an instant, TIMESTAMPTZ in UTC. DuckDB shows it, and makes days of it, in the time zone of the machine, unless the session begins with: SET TimeZone = 'UTC' (other tools: docs/tables.md#time-zones)";

/** Below tables that have instants. */
function instantsText(tables: readonly ShownTable[], width?: number): string {
  const hasInstants = tables.some(({ columns }) => columns.some(({ type }) => type === "timestamp"));
  return hasInstants ? `\n${paragraph("", INSTANTS, width)}` : "";
}

function tableText(table: ShownTable, width: number | undefined): string {
  const names = Math.max(...table.columns.map(({ name }) => displayWidth(printableLine(name))));
  const columns = table.columns.map((column) => columnText(table, column, { names, width }));
  return [paragraph("", `${table.name}: ${table.comment}`, width), ...columns].join("");
}

/** `names`: width of the longest column name, in cells. */
function columnText(
  table: ShownTable,
  column: ShownColumn,
  { names, width }: { readonly names: number; readonly width: number | undefined },
): string {
  const marks = marksOf(table, column);
  const meaning = `${printableLine(column.comment)}${marks.length === 0 ? "" : ` [${marks.join(", ")}]`}`;
  const name = printableLine(column.name);
  const padding = " ".repeat(names - displayWidth(name));
  const lead = `  ${name}${padding}  ${column.type.padEnd("timestamp".length)}  `;
  const from = column.origins.map(({ resource, path }) => `${resource}:${path}`).join(", ");
  const origins = from === "" ? "" : paragraph(" ".repeat(displayWidth(lead)), `from ${from}`, width);
  return paragraph(lead, meaning, width) + origins;
}
