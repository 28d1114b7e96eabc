/**
 * A table by SQL: how long the items of each campaign take to read, at 200 words a minute.
 *
 *     npx content-warehouse run ./docs/examples/campaign-reading-time.mts --sample --warehouse ./campaign-reading-time
 *     npx content-warehouse sql --warehouse ./campaign-reading-time "SELECT name, items, minutes FROM campaign_reading_time ORDER BY minutes DESC"
 *
 * The query reads tables of the same run. What it gives is checked against the columns that are declared, and is
 * published like any other table.
 */
import {
  bigint,
  contentTables,
  definePipeline,
  double,
  duckdb,
  listing,
  parquet,
  sqlTable,
  text,
} from "content-warehouse";

const readingTime = sqlTable({
  name: "campaign_reading_time",
  comment: "Words of the items of each campaign, and the minutes that it takes to read them.",
  key: ["campaign_id"],
  columns: [
    text("campaign_id", { comment: "Campaign; campaigns.campaign_id.", required: true }),
    text("name", { comment: "Name of the campaign; NULL where no item describes it." }),
    bigint("items", { comment: "Items of the campaign.", required: true }),
    bigint("words", { comment: "Words of the items; items without a word count have none.", required: true }),
    double("minutes", { comment: "Minutes to read all of them, at 200 words a minute.", required: true }),
  ],
  reads: ["content", "content_campaigns", "campaigns"],
  sql: `
    WITH members AS (SELECT DISTINCT content_id, campaign_id FROM content_campaigns WHERE campaign_id IS NOT NULL)
    SELECT campaign_id, name, count(*) AS items, coalesce(sum(wordcount), 0) AS words, words / 200 AS minutes
    FROM members JOIN content USING (content_id) LEFT JOIN campaigns USING (campaign_id)
    GROUP BY campaign_id, name`,
});

export default definePipeline({
  name: "campaign-reading-time",
  description: "Campaigns with their items, and the time that it takes to read them.",
  extract: [listing("dynamic")],
  transform: [contentTables({ only: ["content", "content_campaigns", "campaigns"] }), readingTime],
  load: [duckdb(), parquet()],
});
