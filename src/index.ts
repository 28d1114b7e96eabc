/**
 * The library's one door.
 *
 * - {@link definePipeline}, {@link runPipeline}: an export of one's own, and running one.
 * - {@link createClient}: the read interface as typed requests.
 * - {@link createService}: the read interface itself, over a content set.
 * - {@link tables}: the declared tables; the column functions declare more.
 */

export { type ErrorCode, WarehouseError } from "./common/errors.ts";
export { type ClientSpec, type ContentClient, createClient } from "./extract/content-client.ts";
export type { Log, LogFields } from "./common/log.ts";
export { definePipeline, type OwnTable, type Pipeline, type PipelineSpec } from "./pipeline.ts";
export { type ConfigSpec, defineConfig } from "./config/config.ts";
export type { RunSummary } from "./run/summary.ts";
export type { OnProgress, Progress, StageName } from "./common/progress.ts";
export { type RunPipelineOptions, runPipeline } from "./run/run-pipeline.ts";
export { createService, type Service, type ServiceOptions } from "./service/service.ts";
export { DATA_TABLES as tables, TABLES as allTables } from "./tables/all.ts";
export {
  bigint,
  boolean,
  type Column,
  date,
  double,
  integer,
  json,
  type Table,
  text,
  timestamp,
} from "./tables/declare.ts";
export type { Cell } from "./storage/table-builder.ts";
export type { OwnItem, OwnRows } from "./transform/item.ts";
