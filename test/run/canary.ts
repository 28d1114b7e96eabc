/** The token of the tests, in every form in which it could leak into a file. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { basicCredentials, Secret } from "../../src/common/secret.ts";

/** A token whose shape nothing else has: a test finds it wherever it leaks. */
export const CANARY = "CANARY-TOK-51c07e9b";

/** What a run says of itself: its tables, and the raw files beside the documents. */
const ACCOUNT = /(?:^|\/)(?:run(?:_\w+)?-\d+-\d+|(?:requests|rejects)-\d+-\d+-\d+)\.parquet$/;

const FORMS = [CANARY, basicCredentials(new Secret(CANARY)).slice("Basic ".length, -4)];

/** Reads the files of all tests of this process: to open and close a database takes longer than that. */
let reading: Promise<DuckDBConnection> | undefined;

/** Fails where the token stands in one of the files: in their bytes or, compressed, in what a run says of itself. */
export async function assertNoToken(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const text = (await readFile(join(folder, path))).toString("latin1");
    for (const form of FORMS) assert.ok(!text.includes(form), `the token stands in ${path}`);
  }
  const accounts = paths.filter((path) => ACCOUNT.test(path));
  if (accounts.length === 0) return;
  reading ??= DuckDBInstance.create(":memory:", { threads: "1" }).then((instance) => instance.connect());
  const connection = await reading;
  const textOf = async (files: readonly string[]) => {
    const list = files.map((path) => `'${join(folder, path).replaceAll("'", "''")}'`).join(", ");
    const read = await connection.runAndReadAll(`FROM read_parquet([${list}], union_by_name = true)`);
    return JSON.stringify(read.getRowsJson());
  };
  // A file that a test has damaged holds nothing that anybody could read.
  const text = await textOf(accounts).catch(() =>
    Promise.all(accounts.map((path) => textOf([path]).catch(() => ""))).then((texts) => texts.join()),
  );
  for (const form of FORMS) assert.ok(!text.includes(form), `the token stands in a table of ${folder}`);
}
