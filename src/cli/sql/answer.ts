/** The answer to a question in SQL, in the process that has the database open. */
import { writeFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import { copyToParquet, type Question, questionOf, refusals } from "../../audit/sql-question.ts";
import { writeAll } from "../../show/terminal.ts";
import { openForReading } from "../../storage/duckdb.ts";
import type { AskedDatabases } from "./asked-databases.ts";
import { type AnswerForm, answerTexts, planTexts } from "./formats.ts";

export interface SqlQuestion extends AskedDatabases {
  readonly statement: string;
  readonly form: AnswerForm | { readonly format: "parquet" };
  /** New file in the temporary folder that gets the answer; undefined: it goes to standard output. */
  readonly file: string | undefined;
  /** Of the database's buffers; what does not fit is spilled. */
  readonly bufferMb: number;
}

/**
 * Of the memory that the process may take, one part of so many is for the database's buffers: vectors, constants and rows
 * on their way out are not in them.
 */
const BUFFERS_SHARE = 4;

export function bufferMbOf(maxMemoryMb: number): number {
  return Math.ceil(maxMemoryMb / BUFFERS_SHARE);
}

/** Throws `config.sql` for what is no question, and what the database says of one that it cannot answer. */
export async function answerSql(
  { database: path, previous, statement, form, file, bufferMb }: SqlQuestion,
  { out, temporaryDirectory }: { readonly out: Writable; readonly temporaryDirectory: string },
): Promise<void> {
  await using database = await openForReading({
    file: path,
    previous: previous && "database" in previous ? previous.database : undefined,
    temporaryDirectory,
    // What may be written a question could read, too.
    allowedDirectories: form.format === "parquet" ? [temporaryDirectory] : [],
    memoryLimitMb: bufferMb,
    threads: undefined,
  });
  const missing = previous && "missing" in previous ? previous.missing : undefined;
  const question = await questionOf(database.connection, statement, missing);
  if (form.format === "parquet") {
    if (file === undefined) throw new TypeError("Parquet goes to a file");
    await copyToParquet(database.connection, question, file);
  } else {
    const texts = await textsOf(question, form);
    await (file === undefined ? writeAll(out, texts) : writeFile(file, texts));
  }
}

async function textsOf(question: Question, form: AnswerForm): Promise<AsyncIterable<string>> {
  const result = await question.stream();
  const isDrawn = question.isPlan && form.format === "table";
  return refusals(isDrawn ? planTexts(result) : answerTexts(result, form));
}
