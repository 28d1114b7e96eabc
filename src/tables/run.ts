/** Tables about the run. */
import { bigint, boolean, defineTable, double, integer, json, text, timestamp } from "./declare.ts";

const run = defineTable({
  stage: "run",
  name: "run",
  comment: "The run that made this warehouse: one row.",
  key: ["run"],
  columns: [
    text("run", { comment: "Name of the run: its number and start.", required: true }),
    integer("sequence", { comment: "Number of the run; runs are in this order.", required: true }),
    text("pipeline", { comment: "Pipeline that ran.", required: true }),
    text("instance_url", { comment: "URL of the service that was read.", required: true }),
    timestamp("started_at", { comment: "Start, by this machine's clock.", required: true }),
    timestamp("ended_at", {
      comment:
        "When the tables were built, by this machine's clock; `endedAt` in manifest.json is when the run ended.",
      required: true,
    }),
    text("verdict", {
      comment:
        "`complete` (two passes in a row agree, and no answers contradict each other), `unsettled`, or `limited` (its first items alone were read, `--limit`).",
      required: true,
    }),
    text("reason", { comment: "Why the run is not complete; NULL where it is." }),
    bigint("items_listed", { comment: "Distinct items that the passes listed.", required: true }),
    bigint("items_loaded", {
      comment:
        "Listed items that were loaded. content also has the items that no pass listed but the service still has.",
      required: true,
    }),
    bigint("items_rejected", {
      comment: "Listed items that could not be loaded; see run_rejects.",
      required: true,
    }),
    bigint("items_removed", {
      comment: "Listed items that were removed before they could be read.",
      required: true,
    }),
    bigint("items_unread", {
      comment: "Items that only the last pass listed and that were not read; 0 unless the run is unsettled.",
      required: true,
    }),
    boolean("passthrough", {
      comment:
        "Whether values of fields without value mappings are sent as they are: the pipeline's `passthrough`.",
      required: true,
    }),
    json("ignored_destinations", {
      comment:
        "IDs of the destinations that `ignoreDestinations` names, a JSON array: they receive no values, see destinations.receives.",
      required: true,
    }),
    bigint("requests_refused", {
      comment: "Requests that the service refused because there were too many.",
      required: true,
    }),
    double("rate_per_second", {
      comment:
        "Requests a second that the service was found to allow; NULL where it refused none, or said nothing about it.",
    }),
    text("replay_of", {
      comment: "Run whose raw documents this one was built from; NULL where it is not a replay.",
    }),
    text("personal_data", { comment: "Policy for personal data: `drop`, `hash` or `keep`.", required: true }),
    text("package_version", { comment: "Version of content-warehouse.", required: true }),
    text("duckdb_version", { comment: "Version of DuckDB.", required: true }),
    text("node_version", { comment: "Version of Node.", required: true }),
  ],
});

const passes = defineTable({
  stage: "run",
  name: "run_passes",
  comment: "Passes over the listing: what each saw, and whether it can be trusted.",
  key: ["pass"],
  columns: [
    integer("pass", { comment: "Number of the pass, from 1.", required: true }),
    text("mode", { comment: "Listing mode: `dynamic`, `full` or `basic`.", required: true }),
    integer("pages", { comment: "Pages that were read.", required: true }),
    integer("per_page", {
      from: ["envelope:pagination.per_page"],
      comment: "Page size that the service used.",
    }),
    integer("pages_announced", {
      from: ["envelope:pagination.pages"],
      comment: "Number of pages that the first page announced.",
    }),
    bigint("rows_listed", { from: ["envelope:response"], comment: "Rows on all pages.", required: true }),
    bigint("distinct_items", { comment: "Distinct item IDs on all pages.", required: true }),
    bigint("duplicates", { comment: "Rows that repeated an item of the same pass.", required: true }),
    bigint("count_before", {
      from: ["envelope:pagination", "envelope:pagination.count"],
      comment: "Number of items that the first page announced.",
    }),
    bigint("count_after", {
      from: ["envelope:pagination.count"],
      comment: "Number of items that the last page announced.",
    }),
    text("digest", {
      comment:
        "SHA-256 of the sorted item IDs with their updated_at to the second; equal in passes that agree.",
      required: true,
    }),
    boolean("clean", {
      comment: "Whether the pages fit together without a gap, a repetition or a change of the total.",
      required: true,
    }),
    text("reason", { comment: "Why the pass is not clean." }),
    timestamp("started_at", { comment: "Start, by this machine's clock.", required: true }),
    timestamp("ended_at", { comment: "End, by this machine's clock.", required: true }),
  ],
});

const requests = defineTable({
  stage: "run",
  name: "run_requests",
  comment: "Requests that the service answered. Credentials are never in it.",
  key: ["request"],
  columns: [
    integer("request", { comment: "Number of the request, from 1.", required: true }),
    text("mode", {
      comment:
        "What was asked for: a listing (`dynamic`, `full`, `basic`), an `item`, `destinations` or `custom_fields`.",
      required: true,
    }),
    integer("pass", { comment: "Pass that the request belongs to → run_passes.pass." }),
    integer("page", { from: ["envelope:pagination.current"], comment: "Page of the listing." }),
    integer("position", {
      comment:
        "Position on the page, from 0, of the first item that was asked for: a page that could not be read is asked for in parts. NULL for lookups.",
    }),
    integer("next_page", {
      from: ["envelope:pagination.next"],
      comment: "Next page by the response; NULL on the last.",
    }),
    integer("previous_page", {
      from: ["envelope:pagination.previous"],
      comment: "Previous page by the response; NULL on the first.",
    }),
    text("content_id", { comment: "Item that was asked for by itself." }),
    integer("status", { comment: "HTTP status.", required: true }),
    integer("attempts", { comment: "Attempts that were made.", required: true }),
    bigint("bytes", { comment: "Bytes of the response body as received.", required: true }),
    double("milliseconds", { comment: "Milliseconds to the last byte.", required: true }),
    timestamp("observed_at", {
      comment: "Date header of the response; this machine's clock where there was none.",
      required: true,
    }),
    text("sha256", { comment: "SHA-256 of the response body as received.", required: true }),
  ],
});

const documents = defineTable({
  stage: "run",
  name: "run_documents",
  comment:
    "Documents that count: what the tables of items are made from, and when each was observed. A document of an earlier run may stand in for a request.",
  key: ["content_id", "shape", "observation"],
  columns: [
    text("content_id", { comment: "Item that the document is of.", required: true }),
    text("shape", { comment: "`dynamic` or `full`.", required: true }),
    bigint("observation", {
      comment:
        "Position in the order of observation: where several documents have a field, the largest wins.",
      required: true,
    }),
    integer("request", {
      comment: "Request that it was the answer to → run_requests.request. NULL where an earlier run read it.",
    }),
    timestamp("observed_at", {
      comment: "Date header of the answer; this machine's clock where there was none.",
      required: true,
    }),
    text("sha256", {
      comment: "SHA-256 of the document when it was answered, after the personal-data policy.",
      required: true,
    }),
    text("read_by_run", {
      comment: "Earlier run that read it; NULL where this run did, or the run that it is a replay of.",
    }),
  ],
});

const rejects = defineTable({
  stage: "run",
  name: "run_rejects",
  comment:
    "Documents that could not be loaded, each with the reason. The personal-data policy holds here too.",
  key: ["reject"],
  columns: [
    integer("reject", { comment: "Number of the reject, from 1.", required: true }),
    text("mode", { comment: "Request that had the document, as in run_requests.mode.", required: true }),
    integer("pass", { comment: "Pass → run_passes.pass." }),
    integer("page", { comment: "Page of the listing." }),
    integer("position", { comment: "Position on the page, from 0." }),
    text("content_id", { comment: "Item, where it is known." }),
    text("reason", { comment: "Why the document was rejected.", required: true }),
    json("document", { comment: "The document, after the personal-data policy." }),
    text("sha256", { comment: "SHA-256 of the document in this row." }),
  ],
});

const drift = defineTable({
  stage: "run",
  name: "run_drift",
  comment:
    "API fields and values outside the contract, and values that differ between two documents of an item.",
  key: ["path", "kind"],
  columns: [
    text("path", { comment: "API path, or table or view and column.", required: true }),
    text("kind", {
      comment:
        "What it is: `unknown_field`, `type`, `unreadable`, `rounded`, `instant_form`, `views_differ` (answers of one item contradict each other), `versions_differ` (so do answers of different `updated_at`), `single_for_list`, `personal_dropped`, `personal_hashed`, `token_redacted` or `field_type` (values that do not read as the type of their custom field: NULL in content_wide, text in content_custom_field_values).",
      required: true,
    }),
    bigint("count", { comment: "How often it occurred, in all documents.", required: true }),
    bigint("items", {
      comment:
        "Items that show it, each once; NULL where that is not known: what the personal-data policy took away, and what is no item's.",
    }),
    text("example_content_id", { comment: "First item that shows it." }),
    text("example", {
      comment: "The value in that item, after the personal-data policy, cut to 200 characters.",
    }),
  ],
});

const checks = defineTable({
  stage: "run",
  name: "run_checks",
  comment: "Checks made before the run was published.",
  key: ["check_name"],
  columns: [
    text("check_name", { comment: "Name of the check.", required: true }),
    text("verdict", { comment: "`passed`, `warning` or `failed`.", required: true }),
    bigint("figure", { comment: "Number that was counted.", required: true }),
    bigint("expected", { comment: "Number that was expected; NULL where there is none." }),
    text("detail", { comment: "What the numbers mean." }),
    json("examples", {
      comment:
        "Up to three of the rows that were counted, as a list of objects with long texts cut; NULL where no rows were. The personal-data policy holds here too.",
    }),
  ],
});

const tables = defineTable({
  stage: "run",
  name: "run_tables",
  comment: "Number of rows and Parquet files of each table.",
  key: ["table_name"],
  columns: [
    text("table_name", { comment: "Name of the table.", required: true }),
    bigint("row_count", { comment: "Number of rows.", required: true }),
    bigint("parquet_files", { comment: "Number of Parquet files.", required: true }),
    bigint("parquet_bytes", { comment: "Size of the Parquet files in bytes.", required: true }),
  ],
});

const lineage = defineTable({
  stage: "run",
  name: "run_lineage",
  comment: "Lineage: the API fields that each column comes from.",
  key: ["table_name", "column_name", "resource", "path"],
  columns: [
    text("table_name", { comment: "Name of the table.", required: true }),
    text("column_name", { comment: "Name of the column.", required: true }),
    text("resource", {
      comment:
        "Where the API field is: `basic`, `full`, `dynamic`, `envelope`, `destination` or `custom_field_definition`.",
      required: true,
    }),
    text("path", { comment: "Path of the API field in the JSON document.", required: true }),
  ],
});

/** Tables about the run; every warehouse has them. */
export const tablesOfRun = { run, passes, requests, documents, rejects, drift, checks, tables, lineage };
export const RUN_TABLES = Object.values(tablesOfRun);
