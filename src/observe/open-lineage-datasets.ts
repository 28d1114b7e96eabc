/** What a run read and wrote, as OpenLineage has it: API resources are the inputs, tables the outputs. */
import { join } from "node:path";
import { DUCKDB_TYPES } from "../storage/ddl.ts";
import type { Column, Table } from "../tables/declare.ts";
import { DATABASE_FILE } from "../warehouse/layout.ts";
import type { PublishedContent, PublishedTable, StartedRun } from "./observer.ts";
import { assertionsOf } from "./open-lineage-checks.ts";
import { type Facet, facet } from "./open-lineage-facets.ts";

export interface Dataset {
  readonly namespace: string;
  readonly name: string;
  readonly facets: Readonly<Record<string, Facet>>;
  readonly outputFacets?: Readonly<Record<string, Facet>>;
}

/** Each resource of the service that a column comes from, with the API fields that the columns are made of. */
export function inputsOf({ instance }: StartedRun, { tables }: PublishedContent): Dataset[] {
  const origins = tables.flatMap(({ table }) => table.columns.flatMap((column) => column.origins));
  return [...Map.groupBy(origins, ({ resource }) => resource)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([resource, ofResource]) => {
      const paths = [...new Set(ofResource.map(({ path }) => path))].toSorted();
      const schema = facet("SchemaDatasetFacet", { fields: paths.map((name) => ({ name })) });
      return { namespace: instance, name: resource, facets: { schema } };
    });
}

export function outputsOf(run: StartedRun, content: PublishedContent): Dataset[] {
  return content.tables.map((published) => ({
    namespace: "file",
    name: nameOf(run, published.table),
    facets: facetsOf(run, published, content),
    outputFacets: { outputStatistics: statisticsOf(published) },
  }));
}

/** A path that is the same every night. */
function nameOf({ warehouse, publishes }: StartedRun, { name }: Table): string {
  const current = join(warehouse, "current");
  return publishes.includes("parquet") ? join(current, "parquet", name) : join(current, DATABASE_FILE, name);
}

function facetsOf(
  run: StartedRun,
  { table }: PublishedTable,
  { checks }: PublishedContent,
): Record<string, Facet> {
  const fields = lineageOf(run, table);
  const assertions = assertionsOf(checks, table.name);
  return {
    documentation: facet("DocumentationDatasetFacet", { description: table.comment }),
    version: facet("DatasetVersionDatasetFacet", { datasetVersion: run.run }),
    schema: facet("SchemaDatasetFacet", { fields: table.columns.map(fieldOf) }),
    ...(Object.keys(fields).length > 0 && {
      columnLineage: facet("ColumnLineageDatasetFacet", { fields }),
    }),
    ...(assertions.length > 0 && {
      dataQualityAssertions: facet("DataQualityAssertionsDatasetFacet", { assertions }),
    }),
  };
}

function fieldOf({ name, type, comment }: Column) {
  return { name, type: DUCKDB_TYPES[type], description: comment };
}

/** What `run_lineage` has of a table, by column. */
function lineageOf({ instance, personalData }: StartedRun, { columns }: Table): Record<string, object> {
  const traced = columns.filter(({ origins }) => origins.length > 0);
  return Object.fromEntries(
    traced.map(({ name, origins, personal }) => {
      const masking = personal && personalData !== "keep";
      const transformations = [{ type: "DIRECT", subtype: "TRANSFORMATION", masking }];
      const inputFields = origins.map(({ resource, path }) => ({
        namespace: instance,
        name: resource,
        field: path,
        transformations,
      }));
      return [name, { inputFields }];
    }),
  );
}

function statisticsOf({ rows, bytes, files }: PublishedTable): Facet {
  return facet("OutputStatisticsOutputDatasetFacet", {
    rowCount: rows,
    ...(files > 0 && { size: bytes, fileCount: files }),
  });
}
