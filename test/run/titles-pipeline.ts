import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import { text } from "../../src/tables/declare.ts";
import { contentTables, customTable, history, mappedValues } from "../../src/transform/stages.ts";
import { OF_VALUES } from "./history-pipeline.ts";

/** The tables of the pipeline history, and a table that was thought of later. */
export default definePipeline({
  name: "titles",
  description: "Mapped values and history, and titles in capitals.",
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [
    contentTables({ only: OF_VALUES }),
    mappedValues(),
    history(),
    customTable({
      name: "content_titles",
      comment: "Titles in capitals.",
      columns: [text("title", { from: ["dynamic:title"], comment: "Title.", required: true })],
      *rows({ dynamic }) {
        if (typeof dynamic?.title === "string") yield { title: dynamic.title.toUpperCase() };
      },
    }),
  ],
  load: [duckdb(), parquet()],
});
