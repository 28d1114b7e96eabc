import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../../src/extract/stages.ts";
import { duckdb } from "../../src/load/stages.ts";
import { contentTables, history, mappedValues } from "../../src/transform/stages.ts";

/** The full export, with values of fields without value mappings in the payloads. */
export default definePipeline({
  name: "as-is",
  description: "The full export, with values of fields without value mappings in the payloads.",
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [contentTables(), mappedValues({ passthrough: true }), history()],
  load: [duckdb()],
});
