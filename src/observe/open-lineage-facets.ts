/** What OpenLineage is told of a run's data: API resources are the inputs, tables the outputs, with their checks. */
import { join } from "node:path";
import { FOREIGN_KEY } from "../audit/checks/check-words.ts";
import type { Check } from "../audit/checks/checks.ts";
import { VERSION } from "../common/version.ts";
import { DUCKDB_TYPES } from "../storage/ddl.ts";
import type { Table } from "../tables/declare.ts";
import { DATABASE_FILE } from "../warehouse/layout.ts";
import type { PublishedContent, StartedRun } from "./observer.ts";

/** What makes the events, as a URI. */
export const PRODUCER = `https://www.npmjs.com/package/content-warehouse/v/${VERSION}`;

/** Facets of the standard, with the versions of their schemas. */
const VERSIONS = {
  ColumnLineageDatasetFacet: "1-2-0",
  DataQualityAssertionsDatasetFacet: "1-1-0",
  DatasetVersionDatasetFacet: "1-0-1",
  DocumentationDatasetFacet: "1-1-0",
  DocumentationJobFacet: "1-1-0",
  ErrorMessageRunFacet: "1-0-1",
  JobTypeJobFacet: "2-0-4",
  OutputStatisticsOutputDatasetFacet: "1-0-2",
  ProcessingEngineRunFacet: "1-1-1",
  SchemaDatasetFacet: "1-2-0",
  TagsRunFacet: "1-0-0",
  TestRunFacet: "1-0-1",
} as const;

export function facet(name: keyof typeof VERSIONS, content: object) {
  const _schemaURL = `https://openlineage.io/spec/facets/${VERSIONS[name]}/${name}.json#/$defs/${name}`;
  return { _producer: PRODUCER, _schemaURL, ...content };
}

/** Each resource of the service that a column comes from, with the API fields that the columns are made of. */
export function inputsOf({ instance }: StartedRun, { tables }: PublishedContent) {
  const origins = tables.flatMap(({ table }) => table.columns.flatMap((column) => column.origins));
  return [...Map.groupBy(origins, ({ resource }) => resource)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([resource, ofResource]) => {
      const paths = [...new Set(ofResource.map(({ path }) => path))].toSorted();
      const schema = facet("SchemaDatasetFacet", { fields: paths.map((name) => ({ name })) });
      return { namespace: instance, name: resource, facets: { schema } };
    });
}

/** `isCurrent`: readers see the run. */
export function outputsOf(run: StartedRun, { tables, checks }: PublishedContent, isCurrent: boolean) {
  return tables.map(({ table, rows, files, bytes }) => ({
    ...datasetOf(run, table.name, isCurrent),
    facets: facetsOf(run, table, checks),
    outputFacets: {
      outputStatistics: facet("OutputStatisticsOutputDatasetFacet", {
        rowCount: rows,
        ...(files > 0 && { size: bytes, fileCount: files }),
      }),
    },
  }));
}

/**
 * Of a run that its tests ended: the tables that checks are about, where readers see them, with the checks alone, for nothing
 * was published.
 */
export function assertedOutputsOf(run: StartedRun, checks: readonly Check[]) {
  const tables = checks.flatMap((check) => check.reads ?? aboutOf(check)?.table ?? []);
  return [...new Set(tables)].toSorted().map((table) => ({
    ...datasetOf(run, table, true),
    facets: { ...assertionFacet(checks, table) },
  }));
}

/** The same every night, unless an earlier run is pinned. */
function datasetOf({ warehouse, run, publishes }: StartedRun, table: string, isCurrent: boolean) {
  const folder = join(warehouse, ...(isCurrent ? ["current"] : ["runs", run]));
  const place = publishes.includes("parquet") ? join(folder, "parquet") : join(folder, DATABASE_FILE);
  return { namespace: "file", name: join(place, table) };
}

function facetsOf(run: StartedRun, table: Table, checks: readonly Check[]) {
  const columns = table.columns.map(({ name, type, comment }) => {
    return { name, type: DUCKDB_TYPES[type], description: comment };
  });
  const fields = lineageOf(run, table);
  return {
    documentation: facet("DocumentationDatasetFacet", { description: table.comment }),
    version: facet("DatasetVersionDatasetFacet", { datasetVersion: run.run }),
    schema: facet("SchemaDatasetFacet", { fields: columns }),
    ...(Object.keys(fields).length > 0 && {
      columnLineage: facet("ColumnLineageDatasetFacet", { fields }),
    }),
    ...assertionFacet(checks, table.name),
  };
}

function assertionFacet(checks: readonly Check[], table: string) {
  const assertions = assertionsOf(checks, table);
  return (
    assertions.length > 0 && {
      dataQualityAssertions: facet("DataQualityAssertionsDatasetFacet", { assertions }),
    }
  );
}

/** What `run_lineage` has of a table, by column. */
function lineageOf({ instance: namespace, personalData }: StartedRun, { columns }: Table) {
  const traced = columns.filter(({ origins }) => origins.length > 0);
  return Object.fromEntries(
    traced.map(({ name, origins, personal }) => {
      const masking = personal && personalData !== "keep";
      const transformations = [{ type: "DIRECT", subtype: "TRANSFORMATION", masking }];
      const inputFields = origins.map(({ resource, path }) => {
        return { namespace, name: resource, field: path, transformations };
      });
      return [name, { inputFields }];
    }),
  );
}

/** What the names of checks say of a table and its column: they are all that `run_checks` has of it. */
const ABOUT: Readonly<Record<string, RegExp>> = {
  unique: /^unique key of (?<table>\S+)$/,
  relationships: FOREIGN_KEY,
  accepted_type: /^values of (?<table>[^.\s]+)\.(?<column>\S+) that are not of its type$/,
  accepted_values: /^(?<table>[^.\s]+)\.(?<column>\S+) has only values that the specification lists$/,
};

/** Undefined: the check is about the run as a whole. */
function aboutOf({ name }: Check) {
  for (const [assertion, pattern] of Object.entries(ABOUT)) {
    const { table, column } = pattern.exec(name)?.groups ?? {};
    if (table !== undefined) return { assertion, table, column };
  }
  return undefined;
}

/** Rows that fail stay in the warehouse, where an erasure finds them. */
function assertionsOf(checks: readonly Check[], table: string) {
  return checks.flatMap((check) => {
    const success = check.verdict === "passed";
    if (check.reads?.includes(table)) return [{ assertion: "custom_sql", success, ...described(check) }];
    const about = aboutOf(check);
    if (about?.table !== table) return [];
    const { assertion, column } = about;
    // Several columns together are no column of the schema.
    const named = column === undefined || column.includes("+") ? {} : { column };
    return [{ assertion, success, ...named, ...described(check) }];
  });
}

/** Checks of the run as a whole. */
export function testsOf(checks: readonly Check[]) {
  return checks
    .filter((check) => aboutOf(check) === undefined && (check.reads ?? []).length === 0)
    .map((check) => ({
      status: check.verdict === "passed" ? "pass" : "fail",
      type: "custom",
      ...described(check),
    }));
}

function described({ name, verdict, figure, expected, detail }: Check) {
  return {
    name,
    description: detail,
    actual: String(figure),
    ...(expected !== null && { expected: String(expected) }),
    ...(verdict !== "passed" && { severity: verdict === "failed" ? "error" : "warn" }),
  };
}
