/** Loader stages of the package: what is published in the run's own folder. */
import type { Loader } from "../pipeline.ts";

/** `warehouse.duckdb`: all tables, with keys, comments and views. */
export function duckdb(): Loader {
  return { name: "duckdb", publishes: "duckdb" };
}

/** `parquet/<table>/*.parquet`: all tables, sorted by key. */
export function parquet(): Loader {
  return { name: "parquet", publishes: "parquet" };
}
