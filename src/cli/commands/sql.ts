/** `sql`: answers one query. */
import { extname } from "node:path";
import { text } from "node:stream/consumers";
import { invalidConfig } from "../../common/errors.ts";
import { joinWords } from "../../common/nearest.ts";
import { writeAll } from "../../show/terminal.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { CliCommand, type CliEnvironment, positive, processEnvironment } from "../command.ts";
import { TEXT_FORMATS } from "../sql/formats.ts";
import { findDatabases, preferOomKill, QueryLimits, runQuery } from "../sql/query.ts";
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
  const { warehouse, run, maxSeconds, maxMemory: maxMemoryMb, out: path } = options;
  const format = formatOf(options);
  const statement = await statementOf({ query, file: options.file }, environment);
  await preferOomKill();
  using limits = new QueryLimits({ maxSeconds, maxMemoryMb });
  const databases = await findDatabases(warehouse, { wanted: run, statement });
  await using file = path === undefined ? undefined : await openOutputFile(path, outputFolder(warehouse));
  const form = {
    format,
    width: file === undefined ? out.columns : undefined,
    spreadsheet: options.spreadsheet === true,
  };
  const write = async (pieces: AsyncIterable<string | Uint8Array>) => {
    if (file === undefined) await writeAll(out, pieces);
    else err.write(await file.write(pieces, "has the answer"));
  };
  await withTemporaryFolder(
    "sql",
    (temporaryDirectory) =>
      runQuery({ ...databases, statement, form, maxMemoryMb, temporaryDirectory }, write),
    limits.signal,
  );
}

/** Format by --format, else by the extension of --out, else a table. Throws `config.invalid`. */
function formatOf({ format: named, out }: SqlFlags): SqlFormat {
  const extension = extname(out ?? "").toLowerCase();
  const format = named ?? (extension === "" ? "table" : FORMAT_OF[extension]);
  if (format === undefined)
    throw invalidConfig(
      `The name ${out} does not say which format to write; add --format, or end the name with ${joinWords(Object.keys(FORMAT_OF), "or")}.`,
    );
  if (format === "parquet" && out === undefined)
    throw invalidConfig("Parquet is written to a file; name it with --out FILE.");
  return format;
}

/** The statement from the argument, a file (`-` is standard input) or standard input. Throws `config.invalid` and `config.not_found`. */
async function statementOf(
  { query, file }: { readonly query: string | undefined; readonly file: string | undefined },
  environment: CliEnvironment,
): Promise<string> {
  if (query !== undefined && file !== undefined) throw invalidConfig("Give a query or --file, not both.");
  if (query !== undefined) return query;
  const isFile = file !== undefined && file !== "-";
  if (!isFile && environment.input.isTTY === true)
    throw invalidConfig("There is no query; give one as argument, with --file, or on standard input.");
  const given = isFile ? String(await readInputFile("The file", file)) : await text(environment.input);
  // Editors on Windows add a byte order mark.
  return given.replace(/^\uFEFF/, "");
}
