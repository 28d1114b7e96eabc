import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";

/** A folder and a connection to a database in memory, from before the tests of a file until after them. */
export class Scratch {
  folder = "";
  #connection: DuckDBConnection | undefined;

  constructor() {
    before(async () => {
      this.folder = await mkdtemp(join(tmpdir(), "parquet-"));
      this.#connection = await (await DuckDBInstance.create(":memory:")).connect();
    });
    after(async () => {
      this.#connection?.closeSync();
      await rm(this.folder, { recursive: true, force: true });
    });
  }

  get connection(): DuckDBConnection {
    if (this.#connection === undefined) throw new Error("the tests have not begun");
    return this.#connection;
  }
}
