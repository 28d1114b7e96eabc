/** `sql`: answers one query over the databases of a run, within limits of time and memory. */
import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { text } from "node:stream/consumers";
import { prepareQuery, withQueryErrors } from "../../audit/user-query.ts";
import { invalidConfig, WarehouseError } from "../../common/errors.ts";
import { duration } from "../../common/figures.ts";
import { joinWords } from "../../common/nearest.ts";
import { writeAll } from "../../show/terminal.ts";
import { openForReading } from "../../storage/database.ts";
import { previousOf } from "../../warehouse/identity.ts";
import { DATABASE_FILE, type OutputFolder, outputFolder } from "../../warehouse/layout.ts";
import { findRun, listRuns, type PublishedRun } from "../../warehouse/retention.ts";
import { CliCommand, type CliEnvironment, positive, processEnvironment } from "../command.ts";
import { planTexts, resultTexts } from "../sql-formats.ts";
import { withTemporaryFolder } from "../temporary-folder.ts";
import { openOutputFile, readInputFile } from "../user-file.ts";

const FORMATS = ["table", "json", "jsonl", "csv", "markdown", "parquet"] as const;
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
  $ content-warehouse sql "FROM users ANTI JOIN previous.users USING (user_id)"

A screen shows the first 100 rows; pipes and files get all. The catalog
"previous" has the run before. A query that exceeds a limit is interrupted; if
the database ignores that for two seconds, the process kills itself (137).
`;

export function sqlCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("sql")
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
  // Linux kills this process before others when the machine runs out of memory, if it may.
  await writeFile("/proc/self/oom_score_adj", "1000").catch(() => {});
  using limits = new QueryLimits({ maxSeconds, maxMemoryMb });
  const databases = await findDatabases(warehouse, { wanted: run, statement });
  await using file =
    path === undefined ? undefined : await openOutputFile(path, "--out", outputFolder(warehouse));
  const width = file === undefined ? out.columns : undefined;
  const form = { format, width, spreadsheet: options.spreadsheet === true };
  const write = async (pieces: AsyncIterable<string | Uint8Array>) => {
    if (file === undefined) await writeAll(out, pieces);
    else err.write(await file.write(pieces, "has the answer"));
  };
  await withTemporaryFolder(
    "sql",
    (temporaryDirectory) =>
      runQuery({ ...databases, ...form, statement, maxMemoryMb, temporaryDirectory }, write),
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

interface QueryDatabases {
  /** Path of the database file. */
  readonly database: string;
  /** For the catalog `previous`: a path, or a clause that says why it is missing. Empty if the query does not use it. */
  readonly previous: { readonly database?: string; readonly missing?: string };
}

/**
 * Databases for a run, by name, number or `current`. Reads the link `current` once, so that a publication in between does
 * not mix runs. Throws `answer.nothing` if there is no such run, `config.not_found` if it has no database.
 */
async function findDatabases(
  warehouse: string,
  { wanted, statement }: { readonly wanted: string; readonly statement: string },
): Promise<QueryDatabases> {
  const folder = outputFolder(warehouse);
  const run = await findRun(folder, wanted, "answer.nothing");
  const database = databaseIn(run);
  if (database === undefined)
    throw new WarehouseError(
      "config.not_found",
      `Run ${run.run} was published only as Parquet files; read ${join(run.current ? folder.current : run.directory, "parquet")} with DuckDB or another engine.`,
    );
  // A match in a text or comment only attaches one more database.
  return { database, previous: /\bprevious\b/i.test(statement) ? await previousOfRun(folder, run) : {} };
}

/** Path of the run's database; `undefined` if it has only Parquet files. Throws if its manifest cannot be read. */
function databaseIn({ directory, manifest }: PublishedRun): string | undefined {
  if (manifest instanceof WarehouseError) throw manifest;
  return manifest.loaders.includes("duckdb") ? join(directory, DATABASE_FILE) : undefined;
}

async function previousOfRun(
  folder: OutputFolder,
  { run, manifest }: PublishedRun,
): Promise<QueryDatabases["previous"]> {
  if (manifest instanceof WarehouseError) throw manifest;
  const { previousRun } = manifest;
  if (previousRun === null) return { missing: `run ${run} has no run before it, so there is no "previous".` };
  const before = previousOf(manifest, await listRuns(folder));
  const database = before && databaseIn(before);
  if (database !== undefined) return { database };
  const why = before === undefined ? "is no longer kept" : "was published only as Parquet files";
  return { missing: `there is no "previous": ${previousRun}, the run before ${run}, ${why}.` };
}

/**
 * Answers a statement and passes the answer to `write` in pieces. `maxMemoryMb`: limit of the process. Throws `config.sql`
 * if the statement is not a query, and the errors of the database.
 */
async function runQuery(
  {
    database: file,
    previous,
    statement,
    format,
    maxMemoryMb,
    temporaryDirectory,
    ...form
  }: QueryDatabases & {
    readonly statement: string;
    readonly format: SqlFormat;
    /** Width of the screen in characters; `undefined` for files and pipes. */
    readonly width: number | undefined;
    readonly spreadsheet: boolean;
    readonly maxMemoryMb: number;
    readonly temporaryDirectory: string;
  },
  write: (pieces: AsyncIterable<string | Uint8Array>) => Promise<void>,
): Promise<void> {
  const parquet = join(temporaryDirectory, "answer.parquet");
  await using database = await openForReading({
    file,
    previous: previous.database,
    temporaryDirectory,
    allowedDirectories: [],
    // A query could also read a file that it may write.
    allowedPaths: format === "parquet" ? [parquet] : [],
    // A quarter for the database's buffers, which exclude vectors, constants and rows being read.
    memoryLimitMb: Math.ceil(maxMemoryMb / 4),
    // A query that spills more fails, so that runs keep their disk space.
    maxSpilled: "10GB",
    threads: undefined,
  });
  const query = { noPrevious: previous.missing, mayPivot: true };
  const question = await prepareQuery(database.connection, statement, query);
  if (format === "parquet") {
    await question.copyTo(parquet);
    return await write(createReadStream(parquet));
  }
  const result = await question.stream();
  const isDrawn = question.isPlan && format === "table";
  await write(withQueryErrors(isDrawn ? planTexts(result) : resultTexts(result, { ...form, format })));
}

/** Interval of measurements. A process can allocate about 100 MB in that time. */
const INTERVAL_MS = 50;

/** Limits of a query. The main thread measures while the database works in its own threads. */
class QueryLimits implements Disposable {
  /** Aborted with `config.sql` when the query exceeds a limit. */
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  /** `maxMemoryMb`: resident memory of the process. */
  constructor({ maxSeconds, maxMemoryMb }: { readonly maxSeconds: number; readonly maxMemoryMb: number }) {
    const controller = new AbortController();
    this.signal = controller.signal;
    const end = performance.now() + maxSeconds * 1000;
    const stop = (took: string, what: "memory" | "seconds") => {
      const sentence = `The query took ${took} and was stopped; ask for less, or raise --max-${what}.`;
      controller.abort(new WarehouseError("config.sql", sentence));
    };
    this.#timer = setInterval(() => {
      const megabytes = Math.round(process.memoryUsage.rss() / 1024 ** 2);
      if (megabytes > maxMemoryMb)
        stop(`${megabytes} MB of memory, more than its limit of ${maxMemoryMb} MB,`, "memory");
      if (performance.now() > end) stop(`longer than ${duration(maxSeconds)}`, "seconds");
    }, INTERVAL_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
