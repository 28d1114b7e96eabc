import { bigint, defineTable, integer, optional, REQUIRED, required } from "./declare.ts";

export const run = defineTable({
  stage: "run",
  name: "run",
  comment: "The run that made this warehouse: one row.",
  key: ["run"],
  columns: [
    required.text("run", "Name of the run: its number and start."),
    required.integer("sequence", "Number of the run; runs are in this order."),
    required.text("pipeline", "Pipeline that ran."),
    required.text("instance_url", "URL of the service that was read."),
    required.timestamp("started_at", "Start, by this machine's clock."),
    required.timestamp(
      "ended_at",
      "When the tables were built, by this machine's clock; `endedAt` in manifest.json is when the run ended.",
    ),
    required.text(
      "verdict",
      "`complete` (two passes in a row agree, and no answers contradict each other) or `unsettled`.",
    ),
    optional.text("reason", "Why the run is unsettled; NULL where it is complete."),
    required.bigint("items_listed", "Distinct items that the passes listed."),
    required.bigint("items_loaded", "Rows of content."),
    required.bigint("items_rejected", "Listed items that could not be loaded; see run_rejects."),
    required.bigint("items_removed", "Listed items that were removed before they could be read."),
    required.bigint(
      "items_unread",
      "Items that only the last pass listed and that were not read; 0 unless the run is unsettled.",
    ),
    required.boolean(
      "passthrough",
      "Whether values of fields without value mappings are sent as they are: the pipeline's `passthrough`.",
    ),
    required.bigint("requests_refused", "Requests that the service refused because there were too many."),
    optional.double(
      "rate_per_second",
      "Requests a second that the service was found to allow; NULL where it refused none, or said nothing about it.",
    ),
    required.text("personal_data", "Policy for personal data: `drop`, `hash` or `keep`."),
    required.text("package_version", "Version of content-warehouse."),
    required.text("duckdb_version", "Version of DuckDB."),
    required.text("node_version", "Version of Node."),
  ],
});

export const passes = defineTable({
  stage: "run",
  name: "run_passes",
  comment: "Passes over the listing: what each saw, and whether it can be trusted.",
  key: ["pass"],
  columns: [
    required.integer("pass", "Number of the pass, from 1."),
    required.text("mode", "Listing mode: `dynamic`, `full` or `basic`."),
    required.integer("pages", "Pages that were read."),
    integer("per_page", "envelope:pagination.*", "Page size that the service used."),
    integer("pages_announced", "envelope:pagination.pages", "Number of pages that the first page announced."),
    bigint("rows_listed", "envelope:response", "Rows on all pages.", REQUIRED),
    required.bigint("distinct_items", "Distinct item IDs on all pages."),
    required.bigint("duplicates", "Rows that repeated an item of the same pass."),
    bigint(
      "count_before",
      "envelope:pagination envelope:pagination.count",
      "Number of items that the first page announced.",
    ),
    bigint("count_after", "envelope:pagination.count", "Number of items that the last page announced."),
    required.text(
      "digest",
      "SHA-256 of the sorted item IDs with their updated_at to the second; equal in passes that agree.",
    ),
    required.boolean(
      "clean",
      "Whether the pages fit together without a gap, a repetition or a change of the total.",
    ),
    optional.text("reason", "Why the pass is not clean."),
    required.timestamp("started_at", "Start, by this machine's clock."),
    required.timestamp("ended_at", "End, by this machine's clock."),
  ],
});

export const requests = defineTable({
  stage: "run",
  name: "run_requests",
  comment: "Requests that the service answered. Credentials are never in it.",
  key: ["request"],
  columns: [
    required.integer("request", "Number of the request, from 1."),
    required.text(
      "mode",
      "What was asked for: a listing (`dynamic`, `full`, `basic`), an `item`, `destinations` or `custom_fields`.",
    ),
    optional.integer("pass", "Pass that the request belongs to; run_passes.pass."),
    integer("page", "envelope:pagination.current", "Page of the listing."),
    integer("next_page", "envelope:pagination.next", "Next page by the response; NULL on the last."),
    integer(
      "previous_page",
      "envelope:pagination.previous",
      "Previous page by the response; NULL on the first.",
    ),
    optional.text("content_id", "Item that was asked for by itself."),
    required.integer("status", "HTTP status."),
    required.integer("attempts", "Attempts that were made."),
    required.bigint("bytes", "Bytes of the response body as received."),
    required.double("milliseconds", "Milliseconds to the last byte."),
    required.timestamp(
      "observed_at",
      "Date header of the response; this machine's clock where there was none.",
    ),
    required.text("sha256", "SHA-256 of the response body as received."),
  ],
});

export const rejects = defineTable({
  stage: "run",
  name: "run_rejects",
  comment:
    "Documents that could not be loaded, each with the reason. The personal-data policy holds here too.",
  key: ["reject"],
  columns: [
    required.integer("reject", "Number of the reject, from 1."),
    required.text("mode", "Request that had the document, as in run_requests.mode."),
    optional.integer("pass", "Pass; run_passes.pass."),
    optional.integer("page", "Page of the listing."),
    optional.integer("position", "Position on the page, from 0."),
    optional.text("content_id", "Item, where it is known."),
    required.text("reason", "Why the document was rejected."),
    optional.json("document", "The document, after the personal-data policy."),
    optional.text("sha256", "SHA-256 of the document in this row."),
  ],
});

export const drift = defineTable({
  stage: "run",
  name: "run_drift",
  comment:
    "API fields and values outside the contract, and values that differ between two documents of an item.",
  key: ["path", "kind"],
  columns: [
    required.text("path", "API path, or table and column."),
    required.text(
      "kind",
      "What it is: `unknown_field`, `type`, `unreadable`, `rounded`, `instant_form`, `views_differ` (answers of one item contradict each other), `versions_differ` (so do answers of different `updated_at`), `single_for_list`, `personal_dropped`, `personal_hashed` or `token_redacted`.",
    ),
    required.bigint("count", "How often it occurred."),
    optional.text("example_content_id", "First item that shows it."),
    optional.text(
      "example",
      "The value in that item, after the personal-data policy, cut to 200 characters.",
    ),
  ],
});

export const checks = defineTable({
  stage: "run",
  name: "run_checks",
  comment: "Checks made before the run was published.",
  key: ["check_name"],
  columns: [
    required.text("check_name", "Name of the check."),
    required.text("verdict", "`passed`, `warning` or `failed`."),
    required.bigint("figure", "Number that was counted."),
    optional.bigint("expected", "Number that was expected; NULL where there is none."),
    optional.text("detail", "What the numbers mean."),
  ],
});

export const tablesTable = defineTable({
  stage: "run",
  name: "run_tables",
  comment: "Number of rows and Parquet files of each table.",
  key: ["table_name"],
  columns: [
    required.text("table_name", "Name of the table."),
    required.bigint("row_count", "Number of rows."),
    required.bigint("parquet_files", "Number of Parquet files."),
    required.bigint("parquet_bytes", "Size of the Parquet files in bytes."),
  ],
});

export const lineage = defineTable({
  stage: "run",
  name: "run_lineage",
  comment: "Lineage: the API fields that each column comes from.",
  key: ["table_name", "column_name", "resource", "path"],
  columns: [
    required.text("table_name", "Name of the table."),
    required.text("column_name", "Name of the column."),
    required.text(
      "resource",
      "Where the API field is: `basic`, `full`, `dynamic`, `envelope`, `destination` or `custom_field_definition`.",
    ),
    required.text("path", "Path of the API field in the JSON document."),
  ],
});

/** What a run says about itself; in every warehouse, whatever the pipeline. */
export const RUN_TABLES = [run, passes, requests, rejects, drift, checks, tablesTable, lineage];
