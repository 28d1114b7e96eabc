import { VERSION } from "../common/version.ts";

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

export interface Facet {
  readonly _producer: string;
  readonly _schemaURL: string;
}

export function facet<Content extends object>(
  name: keyof typeof VERSIONS,
  content: Content,
): Facet & Content {
  const _schemaURL = `https://openlineage.io/spec/facets/${VERSIONS[name]}/${name}.json#/$defs/${name}`;
  return { _producer: PRODUCER, _schemaURL, ...content };
}
