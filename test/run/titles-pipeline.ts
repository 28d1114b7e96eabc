import { definePipeline } from "../../src/define-pipeline.ts";
import { text } from "../../src/tables/declare.ts";
import { customTable, history } from "../../src/transform/stages.ts";
import { stages } from "./mapping-pipeline.ts";

/** The tables of the pipeline history, and a table that was thought of later. */
export default definePipeline({
  ...stages,
  name: "titles",
  description: "Mapped values and history, and titles in capitals.",
  transform: [
    ...stages.transform,
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
});
