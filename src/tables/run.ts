import { bigint, boolean, defineTable, double, integer, json, REQUIRED, text, timestamp } from "./declare.ts";

export const run = defineTable({
  stage: "run",
  name: "run",
  comment: "The run that made this warehouse: one row.",
  key: ["run"],
  columns: [
    text("run", "", "Run name: sequence number and start.", REQUIRED),
    integer("sequence", "", "Runs are ordered by this number.", REQUIRED),
    text("pipeline", "", "Pipeline.", REQUIRED),
    text("instance_url", "", "Service that was read.", REQUIRED),
    timestamp("started_at", "", "Start, by this machine's clock.", REQUIRED),
    timestamp(
      "ended_at",
      "",
      "When the tables were built, by this machine's clock; the manifest's `endedAt` is when the run ended.",
      REQUIRED,
    ),
    text("verdict", "", "`complete`: two passes in a row agree. `unsettled`: no two did.", REQUIRED),
    text("reason", "", "Why a run is unsettled."),
    bigint("items_listed", "", "Distinct items that the passes listed.", REQUIRED),
    bigint("items_loaded", "", "Items in `content`.", REQUIRED),
    bigint("items_rejected", "", "Listed items that could not be read; see `run_rejects`.", REQUIRED),
    bigint("items_vanished", "", "Listed items that were gone before they could be read.", REQUIRED),
    bigint(
      "items_unread",
      "",
      "Items that only the last pass listed, too many to be asked for; only of an unsettled run.",
      REQUIRED,
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
  comment: "Each pass over the listing: what it saw, and whether it can be trusted.",
  key: ["pass"],
  columns: [
    integer("pass", "", "Pass, from 1.", REQUIRED),
    text("mode", "", "`dynamic`, `full` or `basic`.", REQUIRED),
    integer("pages", "", "Pages that were read.", REQUIRED),
    integer("per_page", "envelope:pagination.*", "Page size that the service answered with."),
    integer(
      "pages_announced",
      "envelope:pagination.pages",
      "Pages that the service announced on the first page.",
    ),
    bigint("rows_listed", "envelope:response", "Rows on all pages.", REQUIRED),
    bigint("distinct_items", "", "Distinct item IDs on all pages.", REQUIRED),
    bigint("duplicates", "", "Rows that repeated an item of the same pass.", REQUIRED),
    bigint("count_before", "envelope:pagination envelope:pagination.count", "Total on the first page."),
    bigint("count_after", "envelope:pagination.count", "Total on the last page."),
    text("digest", "", "SHA-256 of the sorted item IDs with their `updated_at` to the second.", REQUIRED),
    boolean(
      "clean",
      "",
      "Whether the pages fit together without a gap, a repeat or a change of total.",
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
  comment: "Each request that was answered; never a credential.",
  key: ["request"],
  columns: [
    integer("request", "", "Number of the request, in the order of the plan, from 1.", REQUIRED),
    text("mode", "", "`dynamic`, `full`, `basic`, `item`, `destinations` or `custom_fields`.", REQUIRED),
    integer("pass", "", "Pass that the request belongs to."),
    integer("page", "envelope:pagination.current", "Page of a listing."),
    integer("next_page", "envelope:pagination.next", "Next page that the answer named; NULL on the last."),
    integer("previous_page", "envelope:pagination.previous", "Previous page that the answer named."),
    text("content_id", "", "Item of a single-item request."),
    integer("status", "", "HTTP status.", REQUIRED),
    integer("attempts", "", "Attempts that were made.", REQUIRED),
    bigint("bytes", "", "Bytes of the body as it came.", REQUIRED),
    double("milliseconds", "", "Time to the last byte.", REQUIRED),
    timestamp("observed_at", "", "The answer's `Date`; this machine's clock where it had none.", REQUIRED),
    text("sha256", "", "SHA-256 of the body as it came.", REQUIRED),
  ],
});

export const rejects = defineTable({
  stage: "run",
  name: "run_rejects",
  comment: "Documents that could not be read, with the reason; the personal-data policy holds here too.",
  key: ["reject"],
  columns: [
    integer("reject", "", "Number of the reject, from 1.", REQUIRED),
    text("mode", "", "Where the document came from.", REQUIRED),
    integer("pass", "", "Pass."),
    integer("page", "", "Page of the listing."),
    integer("position", "", "Position on the page, from 0."),
    text("content_id", "", "Item, where it is known."),
    text("reason", "", "Why the document was rejected.", REQUIRED),
    json("document", "", "The document, after the personal-data policy."),
    text("sha256", "", "SHA-256 of the document as it is kept."),
  ],
});

export const drift = defineTable({
  stage: "run",
  name: "run_drift",
  comment: "Where answers departed from the specification, or two documents from each other.",
  key: ["path", "kind"],
  columns: [
    text("path", "", "API path, or table and column.", REQUIRED),
    text(
      "kind",
      "",
      "`unknown_field`, `type`, `unreadable`, `rounded`, `views_differ`, `single_for_list`, `personal_dropped`, `personal_hashed` or `token_redacted`.",
      REQUIRED,
    ),
    bigint("count", "", "How often.", REQUIRED),
    text("example_content_id", "", "First item that shows it."),
    text("example", "", "Its value there, after the personal-data policy, cut to 200 characters."),
  ],
});

export const checks = defineTable({
  stage: "run",
  name: "run_checks",
  comment: "Checks made before the run was published.",
  key: ["check_name"],
  columns: [
    text("check_name", "", "Check.", REQUIRED),
    text("verdict", "", "`passed`, `warning` or `failed`.", REQUIRED),
    bigint("figure", "", "What was counted.", REQUIRED),
    bigint("expected", "", "What it was held against, where there is such a figure."),
    text("detail", "", "What the figures mean."),
  ],
});

export const tablesTable = defineTable({
  stage: "run",
  name: "run_tables",
  comment: "Rows and Parquet bytes of each table.",
  key: ["table_name"],
  columns: [
    text("table_name", "", "Table.", REQUIRED),
    bigint("row_count", "", "Rows.", REQUIRED),
    bigint("parquet_files", "", "Parquet files.", REQUIRED),
    bigint("parquet_bytes", "", "Bytes of its Parquet files.", REQUIRED),
  ],
});

export const lineage = defineTable({
  stage: "run",
  name: "run_lineage",
  comment: "Which API field each column comes from.",
  key: ["table_name", "column_name", "resource", "path"],
  columns: [
    text("table_name", "", "Table.", REQUIRED),
    text("column_name", "", "Column.", REQUIRED),
    text("resource", "", "Resource of the specification.", REQUIRED),
    text("path", "", "Path of the API field.", REQUIRED),
  ],
});
