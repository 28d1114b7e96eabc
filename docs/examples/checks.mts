/**
 * Tests of your own: what must hold of the tables before anybody sees them.
 *
 *     npx content-warehouse run ./docs/examples/checks.mts --sample --warehouse ./checks
 *     npx content-warehouse sql --warehouse ./checks "SELECT check_name, verdict, figure, examples FROM run_checks WHERE check_name LIKE 'test:%'"
 *
 * It exports what the nightly pipeline does. A query gives the rows that fail. Where there are more than its `limit`, an
 * error ends the run with 25, with nothing published; a warning is published with the run.
 */
import {
  contentTables,
  customFields,
  definePipeline,
  destinations,
  duckdb,
  history,
  listing,
  lostValues,
  mappedValues,
  mappingCoverage,
  parquet,
  singleItems,
  test,
} from "content-warehouse";

export default definePipeline({
  name: "checks",
  description: "The nightly pipeline, with tests of one's own.",
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [contentTables(), mappedValues(), history()],
  load: [duckdb(), parquet()],
  audit: [
    test({
      name: "items have a title",
      sql: "SELECT content_id, state FROM content WHERE trim(coalesce(title, '')) = ''",
      severity: "error",
      limit: 10,
    }),
    test({
      name: "no item was published before it was created",
      sql: "SELECT content_id, created_at, published_date FROM content WHERE published_date < created_at",
      severity: "warning",
      limit: 5,
    }),
    test({
      // In the first run there is none before: then it is passed over.
      name: "tags do not vanish",
      sql: "SELECT tag FROM previous.content_tags EXCEPT SELECT tag FROM content_tags",
      severity: "warning",
    }),
    lostValues({ max: 20 }),
    mappingCoverage({ failOn: { unmapped: 1000, unknown_value: 20 } }),
  ],
});
