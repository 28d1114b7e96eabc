/** What the tables of a run are built from, whether its documents have just landed or are read again. */
import type { BuildRequest } from "../load/build-warehouse.ts";
import { memoryLimitMb } from "../load/range-bounds.ts";
import { publishes } from "../pipeline.ts";
import type { Drift } from "../raw/drift.ts";
import type { ExtractRecord } from "../raw/extract-record.ts";
import type { RawLookups } from "../raw/raw-lookups.ts";
import { entityRows } from "../transform/definitions.ts";
import { databaseOf } from "../warehouse/layout.ts";
import { type HistoryPlace, historyOf } from "./previous-history.ts";
import type { RunTransformed } from "./run-transform.ts";

export interface Building extends HistoryPlace {
  readonly transformed: RunTransformed;
  readonly lookups: RawLookups;
  readonly record: ExtractRecord;
  /** Notes what is found in the definitions. */
  readonly drift: Drift;
  readonly signal: AbortSignal;
  readonly onTable: BuildRequest["onTable"];
}

export function buildRequest(building: Building): BuildRequest {
  const { pipeline, staging, transformed, lookups, record, drift, signal, onTable } = building;
  const { parts, stagedBytes, bounds, vectorBytes, store } = transformed;
  return {
    tables: pipeline.tables,
    parts,
    stagedBytes,
    entityRows: entityRows({ store, lookups, drift }),
    bounds,
    passthrough: pipeline.passthrough,
    queries: pipeline.queries,
    sequence: staging.sequence,
    directory: staging.root,
    temporaryDirectory: staging.temporary,
    database: databaseOf(staging, publishes(pipeline, "duckdb")),
    finalDirectory: publishes(pipeline, "parquet") ? staging.result : staging.root,
    memoryLimitMb: memoryLimitMb(vectorBytes),
    signal,
    history: historyOf(building, record),
    onTable,
  };
}
