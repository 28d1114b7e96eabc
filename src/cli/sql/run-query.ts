/** Runs one query and writes its answer. */
import { writeFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import { copyToParquet, prepareQuery, withQueryErrors } from "../../audit/user-query.ts";
import { writeAll } from "../../show/terminal.ts";
import { openForReading } from "../../storage/duckdb.ts";
import { answerTexts, planTexts, type TextForm } from "./formats.ts";
import type { QueryDatabases } from "./query-databases.ts";

/** Share of the memory limit for the database's buffers, which exclude vectors, constants and rows being read. */
const BUFFERS_SHARE = 1 / 4;
/** A query that spills more than this fails, so that runs keep their disk space. */
const MAX_SPILLED = "10GB";

/**
 * Answers `statement`. `file`: new file for the answer; `undefined` writes to `out`. `maxMemoryMb`: limit of the process.
 * Throws `config.sql` if the statement is not a query, and the errors of the database.
 */
export async function runQuery(
  {
    database: path,
    previous,
    statement,
    form,
    file,
    maxMemoryMb,
  }: QueryDatabases & {
    readonly statement: string;
    readonly form: TextForm | { readonly format: "parquet" };
    readonly file: string | undefined;
    readonly maxMemoryMb: number;
  },
  { out, temporaryDirectory }: { readonly out: Writable; readonly temporaryDirectory: string },
): Promise<void> {
  await using database = await openForReading({
    file: path,
    previous: previous && "database" in previous ? previous.database : undefined,
    temporaryDirectory,
    allowedDirectories: [],
    // A query could also read a file that it may write.
    allowedPaths: form.format === "parquet" && file !== undefined ? [file] : [],
    memoryLimitMb: Math.ceil(maxMemoryMb * BUFFERS_SHARE),
    maxSpilled: MAX_SPILLED,
    threads: undefined,
  });
  const missing = previous && "missing" in previous ? previous.missing : undefined;
  const question = await prepareQuery(database.connection, statement, missing);
  if (form.format === "parquet") {
    if (file === undefined) throw new TypeError("Parquet needs a file");
    await copyToParquet(database.connection, question, file);
    return;
  }
  const result = await question.stream();
  const isPlan = question.isPlan && form.format === "table";
  const texts = withQueryErrors(isPlan ? planTexts(result) : answerTexts(result, form));
  await (file === undefined ? writeAll(out, texts) : writeFile(file, texts));
}
