/** `schema`: shows tables and views as text, JSON, a Mermaid diagram or sources of dbt. */
import { listValue } from "@duckdb/node-api";
import { QUESTION_LIMITS, type ReadableRun } from "../../audit/open-run.ts";
import { type AnswerRow, col } from "../../common/answer.ts";
import { noAnswer, WarehouseError } from "../../common/errors.ts";
import { didYouMean } from "../../common/nearest.ts";
import { jsonText } from "../../common/printable.ts";
import { VERSION } from "../../common/version.ts";
import { displayWidth, paragraph, printableLine, widthOf, writeAll } from "../../show/terminal.ts";
import { PUBLISHED_CATALOG } from "../../storage/database.ts";
import { DUCKDB_TYPES } from "../../storage/ddl.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { TABLES } from "../../tables/all.ts";
import {
  addPolicyComments,
  COLUMN_TYPES,
  isView,
  type Reference,
  type SchemaColumn,
  type SchemaTable,
  type Table,
} from "../../tables/declare.ts";
import { columnMarks, schemaDocument, schemaMermaid } from "../../tables/schema-output.ts";
import { VIEWS } from "../../tables/views.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { openTables, type PublishedFiles, tablesSourceOf } from "../../warehouse/published-tables.ts";
import { listRuns } from "../../warehouse/retention.ts";
import { CliCommand, processEnvironment } from "../command.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";

const FORMATS = {
  text: schemaText,
  json: (tables: readonly SchemaTable[]) => `${jsonText(schemaDocument(tables), 2)}\n`,
  dbt: schemaDbt,
  mermaid: schemaMermaid,
} satisfies Readonly<Record<string, (tables: readonly SchemaTable[], width: number) => string>>;

const EXAMPLES = `
Examples:
  $ content-warehouse schema | less
  $ content-warehouse schema content_mapped_values
  $ content-warehouse schema --format dbt > models/sources.yml

Shows the tables and views of the package. With a run in the warehouse, it also
shows the columns of content_wide and what the policy did to personal columns.
For tables of your own pipeline: content-warehouse sql "DESCRIBE table".
`;

export function schemaCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("schema")
    .argument("[table]", "only this table or view")
    .choice("--format <format>", "format of the description", Object.keys(FORMATS), "text")
    .json()
    .warehouse()
    .addHelpText("after", EXAMPLES)
    .action(
      async (
        name: string | undefined,
        options: {
          readonly format: keyof typeof FORMATS;
          readonly warehouse: string;
        },
      ) => {
        const run = await currentRun(options.warehouse);
        const policy = run?.manifest.asked.personalData.policy ?? "keep";
        const named = name === undefined ? [...TABLES, ...VIEWS] : [tableNamed(name)];
        const tables = named.map((table) => addPolicyComments(table, policy));
        const shown = FORMATS[options.format](await withColumnsOf(run, tables), widthOf(environment));
        await writeAll(environment.out, [shown]);
      },
    );
}

/** The current run; `undefined` if there is none or its manifest cannot be read, since the tables are the same then. */
async function currentRun(warehouse: string): Promise<ReadableRun | undefined> {
  const runs = await listRuns(outputFolder(warehouse));
  const run = runs.find(({ current }) => current);
  return run === undefined || run.manifest instanceof WarehouseError
    ? undefined
    : { ...run, manifest: run.manifest };
}

/** Adds the columns that views have for the custom fields of a run. Without a readable database, views are as declared. */
async function withColumnsOf(
  run: ReadableRun | undefined,
  tables: readonly Table[],
): Promise<readonly SchemaTable[]> {
  if (run === undefined || !tables.some(isView)) return tables;
  const found = await withTemporaryFolder("schema", (folder) => readPublishedColumns(run, folder)).catch(
    (thrown: unknown) => {
      // "content-warehouse verify" reports damage; here the declared tables are enough.
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
    const columns = others.map(({ column: name, type, comment }): SchemaColumn => {
      return {
        name,
        type: shownTypeOf(type),
        nullable: true,
        comment: comment ?? "",
        personal: false,
        origins: [],
      };
    });
    return { ...table, columns: [...table.columns, ...columns] };
  });
}

/** Throws `answer.nothing` for an unknown name. */
function tableNamed(name: string): Table {
  const relations = [...TABLES, ...VIEWS];
  const found = relations.find((each) => each.name === name.toLowerCase());
  if (found !== undefined) return found;
  const names = relations.map((each) => each.name);
  throw noAnswer(
    `There is no table ${name}${didYouMean(name, names)}; "content-warehouse schema" lists all tables of the package; for a table of your own pipeline: content-warehouse sql "DESCRIBE ${/^\w+$/.test(name) ? name : "content_wide"}".`,
  );
}

const INSTANTS =
  "A timestamp is an instant, TIMESTAMPTZ in UTC. DuckDB shows it and computes its day in the time zone of the machine, unless the session begins with: SET TimeZone = 'UTC' (other tools: docs/tables.md#time-zones)";

/** A block for each table: its comment, then each column with its meaning and API fields. A note if there are instants. */
function schemaText(tables: readonly SchemaTable[], width: number): string {
  const hasInstants = tables.some(({ columns }) => columns.some(({ type }) => type === "timestamp"));
  const blocks = tables.map((table) => tableText(table, width));
  return [...blocks, ...(hasInstants ? [paragraph("", INSTANTS, width)] : [])].join("\n");
}

function tableText(table: SchemaTable, width: number): string {
  const names = Math.max(...table.columns.map(({ name }) => displayWidth(printableLine(name))));
  const columns = table.columns.map((column) => columnText(table, column, { names, width }));
  return [paragraph("", `${table.name}: ${table.comment}`, width), ...columns].join("");
}

/** `names`: width of the longest column name, in terminal cells. */
function columnText(
  table: SchemaTable,
  column: SchemaColumn,
  { names, width }: { readonly names: number; readonly width: number },
): string {
  const marks = columnMarks(table, column);
  const meaning = `${printableLine(column.comment)}${marks.length === 0 ? "" : ` [${marks.join(", ")}]`}`;
  const name = printableLine(column.name);
  const padding = " ".repeat(names - displayWidth(name));
  const lead = `  ${name}${padding}  ${column.type.padEnd("timestamp".length)}  `;
  const from = column.origins.map(({ resource, path }) => `${resource}:${path}`).join(", ");
  const origins = from === "" ? "" : paragraph(" ".repeat(displayWidth(lead)), `from ${from}`, width);
  return paragraph(lead, meaning, width) + origins;
}

/** `text[]` for `VARCHAR[]`. Types that no column can be declared with keep their names. */
function shownTypeOf(duckdb: string): string {
  const scalar = duckdb.replace(/\[\]$/, "");
  const type = COLUMN_TYPES.find((each) => DUCKDB_TYPES[each] === scalar) ?? scalar;
  return `${type}${duckdb.slice(scalar.length)}`;
}

const text = col.text({ required: true });
const PUBLISHED_COLUMN = { table: text, column: text, type: text, comment: col.text() } as const;
type PublishedColumn = AnswerRow<typeof PUBLISHED_COLUMN>;

/** Columns of the tables and views in the run's database; empty if it was published only as Parquet files. */
async function readPublishedColumns(
  run: PublishedFiles,
  temporaryDirectory: string,
): Promise<PublishedColumn[]> {
  const source = tablesSourceOf(run, { isQuestioned: true });
  if (source.database === undefined) return [];
  await using database = await openTables(source, { temporaryDirectory, ...QUESTION_LIMITS });
  const tables = listValue(Object.keys(run.manifest.rows));
  return await readRows(database.connection, PUBLISHED_COLUMN, IN_DATABASE, [tables]);
}

const IN_DATABASE = `
  SELECT c.table_name AS "table", column_name AS "column",
    replace(data_type, 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ') AS type, c.comment
  FROM duckdb_columns() AS c
  LEFT JOIN duckdb_views() AS v ON v.database_name = c.database_name AND view_name = c.table_name
  WHERE c.database_name = '${PUBLISHED_CATALOG}' AND (list_contains($1, c.table_name) OR view_name IS NOT NULL)
  ORDER BY view_name IS NOT NULL, c.table_name, column_index`;

const SOURCE = "content_warehouse";
/** Name under which a dbt profile attaches the file, see docs/tables.md. */
const DATABASE = "warehouse";

/**
 * Text of a `sources.yml` of dbt, with descriptions, types, and tests of keys and references. Views get no tests: their
 * tables have them. Tests need no dbt package. JSON texts are YAML scalars in double quotes.
 */
function schemaDbt(tables: readonly SchemaTable[]): string {
  const lines = [
    `# Written by content-warehouse ${VERSION}: content-warehouse schema --format dbt > models/sources.yml`,
    "version: 2",
    "sources:",
    `  - name: ${SOURCE}`,
    `    database: ${DATABASE}`,
    "    schema: main",
    "    tables:",
    ...tables.flatMap((table) => tableLines(table, tables)),
  ];
  return `${lines.join("\n")}\n`;
}

function tableLines(table: SchemaTable, all: readonly SchemaTable[]): string[] {
  const isTested = !isView(table);
  return [
    `      - name: ${table.name}`,
    `        description: ${dbtText(table.comment)}`,
    ...(isTested && table.key.length > 1 ? keyTest(table) : []),
    "        columns:",
    ...table.columns.flatMap((column) => columnLines(column, isTested ? testsOf(table, column, all) : [])),
  ];
}

/** A text as JSON, of which dbt makes no template: names and comments have words of the service. */
function dbtText(text: string): string {
  return jsonText(text.replaceAll(/\{[{%#]/g, "{{ '$&' }}"));
}

/** A test of a key with several columns: `unique` of dbt takes an expression, here a row of them. */
function keyTest({ name, key }: SchemaTable): string[] {
  return [
    "        data_tests:",
    "          - unique:",
    `              name: unique_key_of_${name}`,
    "              arguments:",
    `                column_name: ${jsonText(`(${key.map(quoteIdentifier).join(", ")})`)}`,
  ];
}

function testsOf(table: SchemaTable, column: SchemaColumn, all: readonly SchemaTable[]): string[] {
  return [
    ...(table.key.length === 1 && table.key[0] === column.name ? ["            - unique"] : []),
    ...(column.nullable ? [] : ["            - not_null"]),
    ...table.references.flatMap((reference) => relationship(reference, column, all)),
  ];
}

function columnLines(column: SchemaColumn, tests: readonly string[]): string[] {
  return [
    `          - name: ${dbtText(column.name)}`,
    `            description: ${dbtText(column.comment)}`,
    `            data_type: ${duckdbTypeOf(column.type).toLowerCase()}`,
    ...(tests.length === 0 ? [] : ["            data_tests:", ...tests.map((line) => `  ${line}`)]),
  ];
}

/** A test of a reference. It only warns, because the service has IDs of users and items that it no longer describes. */
function relationship(
  { columns, table, to }: Reference,
  { name }: SchemaColumn,
  all: readonly SchemaTable[],
): string[] {
  const isThere = all.some((each) => each.name === table);
  if (columns.length !== 1 || columns[0] !== name || !isThere) return [];
  return [
    "            - relationships:",
    "                arguments:",
    `                  to: source('${SOURCE}', '${table}')`,
    `                  field: ${to[0]}`,
    "                config:",
    "                  severity: warn",
  ];
}

/** `VARCHAR[]` for `text[]`. */
function duckdbTypeOf(shown: string): string {
  const scalar = shown.replace(/\[\]$/, "");
  const type = COLUMN_TYPES.find((each) => each === scalar);
  return `${type === undefined ? scalar : DUCKDB_TYPES[type]}${shown.slice(scalar.length)}`;
}
