import type { DuckDBValue } from "@duckdb/node-api";

/** A SELECT with the values of its `$1`, `$2`, ... */
export interface Query {
  readonly text: string;
  readonly params: readonly DuckDBValue[];
}
