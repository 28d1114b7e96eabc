/** `sql`: answers one query, or says how to open the run in other tools. */
import { createReadStream } from "node:fs";
import { extname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { invalidConfig, WarehouseError } from "../../common/errors.ts";
import { joinWords } from "../../common/nearest.ts";
import { printableText, shellWord, writeAll } from "../../show/terminal.ts";
import { quoteLiteral } from "../../storage/sql-text.ts";
import { DATABASE_FILE, outputFolder } from "../../warehouse/layout.ts";
import { findRun } from "../../warehouse/retention.ts";
import { CliCommand, type CliEnvironment, positive, processEnvironment } from "../command.ts";
import { TEXT_FORMATS, type TextFormat } from "../sql/formats.ts";
import { findDatabases } from "../sql/query-databases.ts";
import { preferOomKill, QueryLimits } from "../sql/query-limits.ts";
import { runQuery } from "../sql/run-query.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";
import { openOutputFile, readInputFile } from "../user-file.ts";

const FORMATS = [...TEXT_FORMATS, "parquet"] as const;
type SqlFormat = (typeof FORMATS)[number];

/** Output format by the extension of `--out`. */
const FORMAT_OF: Readonly<Record<string, SqlFormat>> = {
  ".csv": "csv",
  ".json": "json",
  ".jsonl": "jsonl",
  ".md": "markdown",
  ".ndjson": "jsonl",
  ".parquet": "parquet",
  ".txt": "table",
};

interface SqlFlags {
  readonly maxSeconds: number;
  readonly maxMemory: number;
  readonly warehouse: string;
  readonly run: string;
  readonly file?: string;
  readonly format?: SqlFormat;
  readonly out?: string;
  readonly spreadsheet?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse sql "SELECT state, count(*) FROM content GROUP BY ALL"
  $ content-warehouse sql -f question.sql --out answer.parquet
  $ content-warehouse sql "FROM mapping_coverage" --format csv > coverage.csv
  $ content-warehouse sql "FROM content ANTI JOIN previous.content USING (slug)"

A screen shows the first 100 rows; pipes and files get all. The catalog
"previous" has the run before. A query that exceeds a limit is interrupted; if
the database ignores that for two seconds, the process kills itself (137).
`;

export function sqlCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("sql")
    .description("query the published warehouse in SQL, read-only")
    .argument("[query]", "one statement (default: from standard input)")
    .option("--run <run>", "name or number of a run", "current")
    .option("-f, --file <file>", "read the statement from a file")
    .warehouse()
    .choice("--format <format>", "output format (default: by the extension of --out, or table)", FORMATS)
    .json()
    .option("--out <file>", "write the answer to a file")
    .spreadsheet()
    .option("--max-seconds <n>", "time limit of the query, in seconds", positive, 3600)
    .option("--max-memory <mb>", "memory limit of the process, in megabytes", positive, 2048)
    .addHelpText("after", EXAMPLES)
    .action((query: string | undefined, options: SqlFlags) => answer(environment, query, options));
}

async function answer(
  environment: CliEnvironment,
  query: string | undefined,
  options: SqlFlags,
): Promise<void> {
  const { out, err } = environment;
  const output = outputOf(options);
  const statement = await statementOf({ query, file: options.file }, environment);
  const { warehouse, run } = options;
  if (statement === undefined) return writeAll(out, [await waysToOpen(warehouse, run)]);
  const { maxSeconds, maxMemory: maxMemoryMb } = options;
  await preferOomKill();
  using limits = new QueryLimits({ maxSeconds, maxMemoryMb });
  const asked = await findDatabases(warehouse, { wanted: run, statement });
  await using named =
    output.out === undefined ? undefined : await openOutputFile(output.out, outputFolder(warehouse));
  const work = async (temporaryDirectory: string) => {
    // The answer is written elsewhere first, because a query can fail at its last row.
    const file = named === undefined ? undefined : join(temporaryDirectory, "answer");
    const width = named === undefined ? out.columns : undefined;
    const form = { format: output.format, width, spreadsheet: options.spreadsheet === true };
    await runQuery({ ...asked, statement, form, file, maxMemoryMb }, { out, temporaryDirectory });
    if (named === undefined || file === undefined) return;
    err.write(await named.write(createReadStream(file), "has the answer"));
  };
  await withTemporaryFolder("sql", work, limits.signal);
}

/** Format and file of the answer. Without a file it is text. Throws `config.invalid` if the options contradict each other. */
function outputOf({
  format: named,
  out,
}: SqlFlags):
  | { readonly format: TextFormat; readonly out: undefined }
  | { readonly format: SqlFormat; readonly out: string } {
  const extension = extname(out ?? "").toLowerCase();
  const byName = FORMAT_OF[extension];
  if (named === undefined && byName === undefined && extension !== "") {
    throw invalidConfig(
      `The name ${out} does not say which format to write; add --format, or end the name with ${joinWords(Object.keys(FORMAT_OF), "or")}.`,
    );
  }
  // A .txt file can have any format.
  if (named !== undefined && byName !== undefined && named !== byName && byName !== "table") {
    throw invalidConfig(
      `--format ${named} contradicts the name ${out}, which says ${byName}; leave out --format or give the file another name.`,
    );
  }
  const format = named ?? byName ?? "table";
  if (out !== undefined) return { format, out };
  if (format !== "parquet") return { format, out };
  throw invalidConfig("Parquet is written to a file; name it with --out FILE.");
}

/**
 * The statement from the argument, a file (`-` is standard input) or standard input; `undefined` if that is a terminal.
 * Throws `config.invalid` and `config.not_found`.
 */
async function statementOf(
  { query, file }: { readonly query: string | undefined; readonly file: string | undefined },
  environment: CliEnvironment,
): Promise<string | undefined> {
  if (query !== undefined && file !== undefined) {
    throw invalidConfig("Give a query or --file, not both.");
  }
  if (query !== undefined) return query;
  if (file !== undefined && file !== "-")
    return withoutMark((await readInputFile("The file", file)).toString());
  const { input } = environment;
  if (file === undefined && input.isTTY === true) return undefined;
  return withoutMark(await text(input));
}

/** Removes the byte order mark that editors on Windows add. */
function withoutMark(statement: string): string {
  return statement.replace(/^\uFEFF/, "");
}

/** How to open a run in other tools. Paths of the current run contain `current`, so they open later runs too. Throws `config.not_found`. */
async function waysToOpen(warehouse: string, wanted: string): Promise<string> {
  const folder = outputFolder(warehouse);
  const { manifest, directory, current } = await findRun(folder, wanted);
  if (manifest instanceof WarehouseError) throw manifest;
  const opened = resolve(current ? folder.current : directory);
  const ways = manifest.loaders.includes("duckdb")
    ? databaseWays(`${opened}/${DATABASE_FILE}`)
    : parquetWays(`${opened}/parquet`);
  return printableText(`${ways.join("\n")}\n`);
}

const UTC = "SET TimeZone = 'UTC'";
const INSTANTS = `Instants are UTC. Without ${UTC}, DuckDB shows them in the time zone of the machine and computes their days in it; see docs/tables.md#time-zones for other tools.`;

function databaseWays(file: string): string[] {
  return [
    'Give a query as argument or input: content-warehouse sql "SHOW TABLES"',
    "",
    "DuckDB CLI (1.4.2 or newer):",
    `  duckdb -readonly -cmd "${UTC}" ${shellWord(file)}`,
    "Python (pip install duckdb pytz):",
    `  import duckdb; connection = duckdb.connect(${JSON.stringify(file)}, read_only=True)`,
    `  connection.sql("${UTC}"); connection.sql("FROM content")`,
    'R (install.packages("duckdb")):',
    `  connection <- DBI::dbConnect(duckdb::duckdb(${JSON.stringify(file)}, read_only = TRUE))`,
    `  DBI::dbExecute(connection, "${UTC}")`,
    "",
    INSTANTS,
  ];
}

function parquetWays(folder: string): string[] {
  return [
    "This run has only Parquet files, and no database to query.",
    "",
    "DuckDB CLI:",
    `  duckdb -cmd "${UTC}" -c ${shellWord(`FROM ${quoteLiteral(`${folder}/content/*.parquet`)}`)}`,
    "polars (pip install polars):",
    `  polars.read_parquet(${JSON.stringify(`${folder}/content/*.parquet`)})`,
    "pandas (pip install pandas pyarrow):",
    `  pandas.read_parquet(${JSON.stringify(`${folder}/content`)})`,
    "",
    INSTANTS,
  ];
}
