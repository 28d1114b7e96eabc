/** Tables of the package with derived columns besides, as they would be declared in `src/tables`. */
import { definePipeline } from "../../src/define-pipeline.ts";
import { listing } from "../../src/extract/stages.ts";
import { duckdb } from "../../src/load/stages.ts";
import { content } from "../../src/tables/content.ts";
import { boolean, type Column, EXTRA, integer, type Table } from "../../src/tables/declare.ts";
import { LIST_TABLES } from "../../src/tables/lists.ts";
import { contentTables } from "../../src/transform/stages.ts";

export const evergreen = boolean("is_evergreen", {
  from: ["dynamic:tags", "full:archived"],
  comment: "Whether the item is tagged `evergreen` and not archived.",
  make(values) {
    const tags = values["dynamic:tags"];
    if (!Array.isArray(tags)) return null;
    return tags.includes("evergreen") && values["full:archived"] !== true;
  },
});

const letters = integer("letters", {
  from: ["dynamic:published_urls[].external_site_name", "dynamic:published_urls[].published_url"],
  comment: "Letters of both.",
  required: true,
  make: (values) => Object.values(values).join("").length,
});

function withColumn(table: Table, column: Column): Table {
  return { ...table, columns: [...table.columns.filter((each) => each !== EXTRA), column, EXTRA] };
}

const urls = LIST_TABLES.filter(({ name }) => name === "content_published_urls");

const derivedFrom = (tables: readonly Table[]) => ({
  ...definePipeline({
    name: "derived",
    extract: [listing("dynamic"), listing("full")],
    transform: [contentTables({ only: ["content", "content_published_urls"] })],
    load: [duckdb()],
  }),
  tables,
});

export const withEvergreen = (column: Column) => withColumn(content, column);

export default derivedFrom([withEvergreen(evergreen), ...urls.map((table) => withColumn(table, letters))]);
