import { bigint, boolean, defineTable, double, integer, json, REQUIRED, text, timestamp } from "./declare.ts";

export const run = defineTable({
  stage: "run",
  name: "run",
  comment: "The run that made this warehouse: one row.",
  key: ["run"],
  columns: [
    text("run", "", "Name of the run: its number and start.", REQUIRED),
    integer("sequence", "", "Number of the run; runs are in this order.", REQUIRED),
    text("pipeline", "", "Pipeline that ran.", REQUIRED),
    text("instance_url", "", "URL of the service that was read.", REQUIRED),
    timestamp("started_at", "", "Start, by this machine's clock.", REQUIRED),
    timestamp(
      "ended_at",
      "",
      "When the tables were built, by this machine's clock; `endedAt` in manifest.json is when the run ended.",
      REQUIRED,
    ),
    text("verdict", "", "`complete` (two passes in a row agree) or `unsettled` (no two did).", REQUIRED),
    text("reason", "", "Why the run is unsettled; NULL where it is complete."),
    bigint("items_listed", "", "Distinct items that the passes listed.", REQUIRED),
    bigint("items_loaded", "", "Rows of content.", REQUIRED),
    bigint("items_rejected", "", "Listed items that could not be loaded; see run_rejects.", REQUIRED),
    bigint("items_removed", "", "Listed items that were removed before they could be read.", REQUIRED),
    bigint(
      "items_unread",
      "",
      "Items that only the last pass listed and that were not read; 0 unless the run is unsettled.",
      REQUIRED,
    ),
    boolean(
      "passthrough",
      "",
      "Whether values of fields without value mappings are sent as they are: the pipeline's `passthrough`.",
      REQUIRED,
    ),
    bigint(
      "requests_refused",
      "",
      "Requests that the service refused because there were too many.",
      REQUIRED,
    ),
    double(
      "rate_per_second",
      "",
      "Requests a second that the service was found to allow; NULL where it refused none, or said nothing about it.",
    ),
    text("personal_data", "", "Policy for personal data: `drop`, `hash` or `keep`.", REQUIRED),
    text("package_version", "", "Version of content-warehouse.", REQUIRED),
    text("duckdb_version", "", "Version of DuckDB.", REQUIRED),
    text("node_version", "", "Version of Node.", REQUIRED),
  ],
});

export const passes = defineTable({
  stage: "run",
  name: "run_passes",
  comment: "Passes over the listing: what each saw, and whether it can be trusted.",
  key: ["pass"],
  columns: [
    integer("pass", "", "Number of the pass, from 1.", REQUIRED),
    text("mode", "", "Listing mode: `dynamic`, `full` or `basic`.", REQUIRED),
    integer("pages", "", "Pages that were read.", REQUIRED),
    integer("per_page", "envelope:pagination.*", "Page size that the service used."),
    integer("pages_announced", "envelope:pagination.pages", "Number of pages that the first page announced."),
    bigint("rows_listed", "envelope:response", "Rows on all pages.", REQUIRED),
    bigint("distinct_items", "", "Distinct item IDs on all pages.", REQUIRED),
    bigint("duplicates", "", "Rows that repeated an item of the same pass.", REQUIRED),
    bigint(
      "count_before",
      "envelope:pagination envelope:pagination.count",
      "Number of items that the first page announced.",
    ),
    bigint("count_after", "envelope:pagination.count", "Number of items that the last page announced."),
    text(
      "digest",
      "",
      "SHA-256 of the sorted item IDs with their updated_at to the second; equal in passes that agree.",
      REQUIRED,
    ),
    boolean(
      "clean",
      "",
      "Whether the pages fit together without a gap, a repetition or a change of the total.",
      REQUIRED,
    ),
    text("reason", "", "Why the pass is not clean."),
    timestamp("started_at", "", "Start, by this machine's clock.", REQUIRED),
    timestamp("ended_at", "", "End, by this machine's clock.", REQUIRED),
  ],
});

export const requests = defineTable({
  stage: "run",
  name: "run_requests",
  comment: "Requests that the service answered. Credentials are never in it.",
  key: ["request"],
  columns: [
    integer("request", "", "Number of the request, from 1.", REQUIRED),
    text(
      "mode",
      "",
      "What was asked for: a listing (`dynamic`, `full`, `basic`), an `item`, `destinations` or `custom_fields`.",
      REQUIRED,
    ),
    integer("pass", "", "Pass that the request belongs to; run_passes.pass."),
    integer("page", "envelope:pagination.current", "Page of the listing."),
    integer("next_page", "envelope:pagination.next", "Next page by the response; NULL on the last."),
    integer(
      "previous_page",
      "envelope:pagination.previous",
      "Previous page by the response; NULL on the first.",
    ),
    text("content_id", "", "Item that was asked for by itself."),
    integer("status", "", "HTTP status.", REQUIRED),
    integer("attempts", "", "Attempts that were made.", REQUIRED),
    bigint("bytes", "", "Bytes of the response body as received.", REQUIRED),
    double("milliseconds", "", "Milliseconds to the last byte.", REQUIRED),
    timestamp(
      "observed_at",
      "",
      "Date header of the response; this machine's clock where there was none.",
      REQUIRED,
    ),
    text("sha256", "", "SHA-256 of the response body as received.", REQUIRED),
  ],
});

export const rejects = defineTable({
  stage: "run",
  name: "run_rejects",
  comment:
    "Documents that could not be loaded, each with the reason. The personal-data policy holds here too.",
  key: ["reject"],
  columns: [
    integer("reject", "", "Number of the reject, from 1.", REQUIRED),
    text("mode", "", "Request that had the document, as in run_requests.mode.", REQUIRED),
    integer("pass", "", "Pass; run_passes.pass."),
    integer("page", "", "Page of the listing."),
    integer("position", "", "Position on the page, from 0."),
    text("content_id", "", "Item, where it is known."),
    text("reason", "", "Why the document was rejected.", REQUIRED),
    json("document", "", "The document, after the personal-data policy."),
    text("sha256", "", "SHA-256 of the document in this row."),
  ],
});

export const drift = defineTable({
  stage: "run",
  name: "run_drift",
  comment:
    "API fields and values outside the contract, and values that differ between two documents of an item.",
  key: ["path", "kind"],
  columns: [
    text("path", "", "API path, or table and column.", REQUIRED),
    text(
      "kind",
      "",
      "What it is: `unknown_field`, `type`, `unreadable`, `rounded`, `views_differ`, `single_for_list`, `personal_dropped`, `personal_hashed` or `token_redacted`.",
      REQUIRED,
    ),
    bigint("count", "", "How often it occurred.", REQUIRED),
    text("example_content_id", "", "First item that shows it."),
    text("example", "", "The value in that item, after the personal-data policy, cut to 200 characters."),
  ],
});

export const checks = defineTable({
  stage: "run",
  name: "run_checks",
  comment: "Checks made before the run was published.",
  key: ["check_name"],
  columns: [
    text("check_name", "", "Name of the check.", REQUIRED),
    text("verdict", "", "`passed`, `warning` or `failed`.", REQUIRED),
    bigint("figure", "", "Number that was counted.", REQUIRED),
    bigint("expected", "", "Number that was expected; NULL where there is none."),
    text("detail", "", "What the numbers mean."),
  ],
});

export const tablesTable = defineTable({
  stage: "run",
  name: "run_tables",
  comment: "Number of rows and Parquet files of each table.",
  key: ["table_name"],
  columns: [
    text("table_name", "", "Name of the table.", REQUIRED),
    bigint("row_count", "", "Number of rows.", REQUIRED),
    bigint("parquet_files", "", "Number of Parquet files.", REQUIRED),
    bigint("parquet_bytes", "", "Size of the Parquet files in bytes.", REQUIRED),
  ],
});

export const lineage = defineTable({
  stage: "run",
  name: "run_lineage",
  comment: "Lineage: the API fields that each column comes from.",
  key: ["table_name", "column_name", "resource", "path"],
  columns: [
    text("table_name", "", "Name of the table.", REQUIRED),
    text("column_name", "", "Name of the column.", REQUIRED),
    text(
      "resource",
      "",
      "Where the API field is: `basic`, `full`, `dynamic`, `envelope`, `destination` or `custom_field_definition`.",
      REQUIRED,
    ),
    text("path", "", "Path of the API field in the JSON document.", REQUIRED),
  ],
});
