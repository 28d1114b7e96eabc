/**
 * Three tables from one listing: what an analyst needs to count items by tag and by author, and nothing else.
 *
 *     npx content-warehouse run ./docs/examples/three-tables.mts --sample --warehouse ./three-tables
 *     npx content-warehouse sql --warehouse ./three-tables "SELECT tag, count(*) AS items FROM content_tags GROUP BY tag ORDER BY items DESC"
 *
 * Only what the tables need is asked for. So there are here
 * - no full listing: a second pass, of IDs and times alone, makes sure that no item is missing. `owner_id` and
 *   `last_updated_by_id` of items are NULL, because only full documents have them;
 * - no single items: `payment`, `tasks_begin_at` and `tasks_end_at` of items are NULL, because no list gives them;
 * - no destinations and no definitions of custom fields, thus no mapped values;
 * - in the listing, 59 of its 108 columns: no custom fields, attachments, categories, campaigns or events.
 */
import { contentTables, definePipeline, duckdb, listing, parquet } from "content-warehouse";

export default definePipeline({
  name: "three-tables",
  description: "Items, their tags and their people.",
  extract: [listing("dynamic")],
  transform: [contentTables({ only: ["content", "content_tags", "users"] })],
  load: [duckdb(), parquet()],
});
