/** The answer to a question in SQL. */
import { writeFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import { copyToParquet, prepareQuery, type UserQuery, withQueryErrors } from "../../audit/user-query.ts";
import { writeAll } from "../../show/terminal.ts";
import { openForReading } from "../../storage/duckdb.ts";
import { answerTexts, planTexts, type TextForm } from "./formats.ts";
import type { QueryDatabases } from "./query-databases.ts";

export interface SqlQuery extends QueryDatabases {
  readonly statement: string;
  readonly form: TextForm | { readonly format: "parquet" };
  /** New file that gets the answer; undefined: it goes to `out`. */
  readonly file: string | undefined;
  /** Memory that the process may take. */
  readonly maxMemoryMb: number;
}

/** Share of that memory for the database's buffers: vectors, constants and rows on their way out are not in them. */
const BUFFERS_SHARE = 1 / 4;
/** A question that spills more than this fails, so that it leaves the disk to the runs. */
const MAX_SPILLED = "10GB";

/** Throws `config.sql` if the statement is not a question, and what the database says if it cannot answer. */
export async function runQuery(
  { database: path, previous, statement, form, file, maxMemoryMb }: SqlQuery,
  { out, temporaryDirectory }: { readonly out: Writable; readonly temporaryDirectory: string },
): Promise<void> {
  await using database = await openForReading({
    file: path,
    previous: previous && "database" in previous ? previous.database : undefined,
    temporaryDirectory,
    allowedDirectories: [],
    // A question could read what may be written, too.
    allowedPaths: form.format === "parquet" && file !== undefined ? [file] : [],
    memoryLimitMb: Math.ceil(maxMemoryMb * BUFFERS_SHARE),
    maxSpilled: MAX_SPILLED,
    threads: undefined,
  });
  const missing = previous && "missing" in previous ? previous.missing : undefined;
  const question = await prepareQuery(database.connection, statement, missing);
  if (form.format === "parquet") {
    if (file === undefined) throw new TypeError("Parquet goes to a file");
    await copyToParquet(database.connection, question, file);
  } else {
    const texts = await textsOf(question, form);
    await (file === undefined ? writeAll(out, texts) : writeFile(file, texts));
  }
}

async function textsOf(question: UserQuery, form: TextForm): Promise<AsyncIterable<string>> {
  const result = await question.stream();
  const isDrawn = question.isPlan && form.format === "table";
  return withQueryErrors(isDrawn ? planTexts(result) : answerTexts(result, form));
}
