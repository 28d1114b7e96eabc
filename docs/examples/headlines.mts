/**
 * A table of your own: how long the headlines are.
 *
 *     npx content-warehouse run ./docs/examples/headlines.mts --sample --warehouse ./headlines
 *     npx content-warehouse sql --warehouse ./headlines "SELECT words, count(*) AS items FROM content_headlines GROUP BY words ORDER BY words"
 *
 * It exports everything that the nightly pipeline does, and `content_headlines` besides.
 */
import {
  contentTables,
  customFields,
  customTable,
  definePipeline,
  destinations,
  duckdb,
  history,
  integer,
  listing,
  mappedValues,
  parquet,
  singleItems,
  text,
} from "content-warehouse";

/** Lengths are in characters as a reader sees them: an accent or an emoji made of several code points is one. */
const characters = new Intl.Segmenter("en", { granularity: "grapheme" });
const words = new Intl.Segmenter("en", { granularity: "word" });

const headlines = customTable({
  name: "content_headlines",
  comment: "Titles of content items with their lengths; items without a title have no row.",
  columns: [
    // API fields and comments are what `run_lineage` and `COMMENT ON` have of a column.
    text("title", { from: ["dynamic:title", "full:title"], comment: "Title.", required: true }),
    integer("words", { comment: "Words in the title.", required: true }),
    integer("characters", { comment: "Characters in the title, as a reader counts them.", required: true }),
  ],
  *rows({ dynamic, full }) {
    const title = dynamic?.title ?? full?.title;
    if (typeof title !== "string" || title.trim() === "") return;
    yield {
      title,
      words: [...words.segment(title)].filter(({ isWordLike }) => isWordLike === true).length,
      characters: [...characters.segment(title)].length,
    };
  },
});

export default definePipeline({
  name: "headlines",
  description: "The full export, and how long the headlines are.",
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [contentTables(), mappedValues(), history(), headlines],
  load: [duckdb(), parquet()],
});
