import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../../src/extract/stages.ts";
import { duckdb } from "../../src/load/stages.ts";
import type { Loader, LoadRun } from "../../src/pipeline.ts";
import { bigint, boolean, date, double, integer, json, text, timestamp } from "../../src/tables/declare.ts";
import { contentTables, customTable, sqlTable } from "../../src/transform/stages.ts";
import { hooks, valuesOf } from "./loading.ts";

/** A loader of a class, as users write them, that does what the test says. */
class Told implements Loader {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  async stage(run: LoadRun) {
    return hooks().stage(this.name, run);
  }
}

/** A table of every type, empty ones, and two loaders. */
export default definePipeline({
  name: "loading",
  description: "Items, and values of every type.",
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [
    contentTables({ only: ["content", "content_tags", "content_files"] }),
    customTable({
      name: "every_type",
      comment: "A column of every type.",
      key: ["place"],
      columns: [
        integer("place", { comment: "Place in the item.", required: true }),
        text("t", { comment: "Text." }),
        json("j", { comment: "JSON." }),
        boolean("b", { comment: "Boolean." }),
        integer("i", { comment: "Integer." }),
        bigint("l", { comment: "Bigint." }),
        double("d", { comment: "Double." }),
        timestamp("at", { comment: "Instant." }),
        date("day", { comment: "Day." }),
      ],
      *rows({ contentId }) {
        for (let place = 0; place < 500; place++) yield { place, ...valuesOf(contentId, place) };
      },
    }),
    sqlTable({
      name: "nothing",
      comment: "No row at all.",
      key: ["content_id"],
      columns: [
        text("content_id", { comment: "Item.", required: true }),
        timestamp("at", { comment: "Instant." }),
      ],
      reads: ["content"],
      sql: "SELECT content_id, NULL AS at FROM content WHERE false",
    }),
  ],
  load: [new Told("first"), duckdb(), new Told("second")],
});
