/**
 * A configuration that posts an OpenLineage event when a run has ended: COMPLETE with the tables and their rows, from the
 * manifest of the run, or FAIL with the message.
 *
 *     $ OPENLINEAGE_URL=http://marquez.example.com:5000 content-warehouse run nightly --config ./open-lineage.mts
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineConfig, type RunOutcome } from "content-warehouse";

const PRODUCER = "https://www.npmjs.com/package/content-warehouse";

/** A facet of the standard, by the version of its schema and its name. */
function facet(schema: string, content: object) {
  const [, name] = schema.split("/");
  const _schemaURL = `https://openlineage.io/spec/facets/${schema}.json#/$defs/${name}`;
  return { _producer: PRODUCER, _schemaURL, ...content };
}

async function eventOf(outcome: RunOutcome) {
  const event = {
    eventTime: new Date().toISOString(),
    job: { namespace: "content-warehouse", name: outcome.pipeline ?? "unknown" },
    producer: PRODUCER,
    schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
  };
  const runId = randomUUID();
  if (!outcome.ok) {
    const failure = { message: outcome.message, programmingLanguage: "TypeScript" };
    const errorMessage = facet("1-0-1/ErrorMessageRunFacet", failure);
    return { ...event, eventType: "FAIL", run: { runId, facets: { errorMessage } }, inputs: [], outputs: [] };
  }
  const manifest = JSON.parse(await readFile(join(outcome.directory, "manifest.json"), "utf8"));
  const tags = [{ key: "run", value: manifest.run, source: "content-warehouse" }];
  const outputs = Object.entries(manifest.rows).map(([table, rowCount]) => ({
    namespace: "file",
    name: join(outcome.warehouse, "current/parquet", table),
    outputFacets: { outputStatistics: facet("1-0-2/OutputStatisticsOutputDatasetFacet", { rowCount }) },
  }));
  const inputs = [{ namespace: manifest.instance.origin, name: "content" }];
  const facets = { tags: facet("1-0-0/TagsRunFacet", { tags }) };
  return { ...event, eventType: "COMPLETE", run: { runId, facets }, inputs, outputs };
}

export default defineConfig({
  onFinish: async (outcome, signal) => {
    const response = await fetch(`${process.env.OPENLINEAGE_URL}/api/v1/lineage`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(await eventOf(outcome)),
      signal,
    });
    if (!response.ok) throw new Error(`OpenLineage answered with ${response.status}`);
  },
});
