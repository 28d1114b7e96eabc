/**
 * What a good engineer writes in an hour, in a process of its own: a fetch loop to NDJSON files, DuckDB's `read_json`
 * with inference, and a copy to Parquet. Nothing is flattened, checked or retried. Prints what it took.
 */

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import PQueue from "p-queue";
import { measured } from "./measured.ts";
import { CONCURRENCY, LISTINGS, type Listing, Reader } from "./reading.ts";

const [, , settings = "", out = ""] = process.argv;
const began = performance.now();
await mkdir(out, { recursive: true });
const reader = new Reader(JSON.parse(settings), CONCURRENCY);
let items = 0;
for (const mode of LISTINGS) items += await readToFile(mode);
await reader.close();
const instance = await DuckDBInstance.create(join(out, "content.duckdb"));
const connection = await instance.connect();
for (const mode of LISTINGS) {
  const file = join(out, mode);
  // Documents of 500 KB are larger than what is read at once by default.
  const source = `read_json('${file}.ndjson', format = 'newline_delimited', maximum_object_size = 67108864)`;
  await connection.run(`CREATE TABLE "${mode}" AS SELECT * FROM ${source}`);
  await connection.run(`COPY "${mode}" TO '${file}.parquet' (FORMAT parquet)`);
}
connection.closeSync();
instance.closeSync();
const seconds = (performance.now() - began) / 1000;
process.stdout.write(`${JSON.stringify({ items: items / LISTINGS.length, seconds, ...measured() })}\n`);

async function readToFile(mode: Listing): Promise<number> {
  const file = createWriteStream(join(out, `${mode}.ndjson`));
  const queue = new PQueue({ concurrency: CONCURRENCY });
  let rows = 0;
  const write = async (page: number): Promise<number> => {
    const { response, pagination } = await reader.page(mode, page);
    rows += response.length;
    const lines = response.map((item) => `${JSON.stringify(item)}\n`).join("");
    if (!file.write(lines)) await once(file, "drain");
    return pagination.pages;
  };
  const pages = await write(1);
  for (let page = 2; page <= pages; page++) {
    await queue.onSizeLessThan(CONCURRENCY);
    queue.add(() => write(page));
  }
  await queue.onIdle();
  file.end();
  await finished(file);
  return rows;
}
