/**
 * The public API of the library.
 *
 * - {@link definePipeline} composes stages, made by factories or by you; {@link runPipeline} runs them.
 * - {@link createService} serves a content set by the read interface.
 */

export {
  type LostValuesOptions,
  lostValues,
  type MappingCoverageOptions,
  mappingCoverage,
  type TestOptions,
  test,
} from "./audit/stages.ts";
export { type ErrorCode, WarehouseError } from "./common/errors.ts";
export type { Log, LogFields } from "./common/log.ts";
export type { OnProgress, Progress, StageName } from "./common/progress.ts";
export { type ConfigSpec, defineConfig } from "./config/config.ts";
export { definePipeline } from "./define-pipeline.ts";
export { customFields, destinations, listing, singleItems } from "./extract/stages.ts";
export { duckdb, parquet } from "./load/stages.ts";
export type { OnFinish, RunFailed, RunOutcome, RunPublished } from "./observe/outcome.ts";
export type { RunSummary } from "./observe/run-summary.ts";
export type {
  CoverageTest,
  DeliveredFile,
  DeliveredRun,
  DynamicDocument,
  Extractor,
  FullDocument,
  InstanceIdentity,
  ItemDocuments,
  LastRun,
  Loader,
  LoadRun,
  LoadTable,
  LossTest,
  Pipeline,
  PipelineSpec,
  QueryTest,
  Row,
  RowOf,
  Severity,
  StagedLoad,
  Target,
  TargetRun,
  Test,
  Transformer,
} from "./pipeline.ts";
export { type RunPipelineOptions, runPipeline } from "./run/run-pipeline.ts";
export { createService, type Service, type ServiceOptions } from "./service/service.ts";
export type { Cell } from "./storage/table-builder.ts";
export { type ContentTableName, TABLES as tables } from "./tables/all.ts";
export { bigint, boolean, date, double, integer, json, text, timestamp } from "./tables/custom-tables.ts";
export type { Column, Table } from "./tables/declare.ts";
export type { Delivery } from "./targets/deliver.ts";
export { type LakeOptions, lake } from "./targets/lake/lake.ts";
export type { PostgresOptions } from "./targets/postgres/connect.ts";
export { postgres } from "./targets/postgres/postgres.ts";
export {
  type ContentTablesOptions,
  type CustomTableOptions,
  contentTables,
  customTable,
  history,
  type MappedValuesOptions,
  mappedValues,
  type SqlTableOptions,
  sqlTable,
} from "./transform/stages.ts";
