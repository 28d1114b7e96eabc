import {
  bigint,
  boolean,
  type Column,
  defineTable,
  double,
  integer,
  json,
  type Table,
  text,
  timestamp,
} from "./declare.ts";

interface RunTable {
  readonly name: string;
  readonly comment: string;
  readonly key: readonly string[];
  readonly columns: readonly Column[];
}

function runTable(table: RunTable): Table {
  return defineTable({ ...table, stage: "run", rows: { kind: "program" }, references: [] });
}

const required = { required: true } as const;

export const run: Table = runTable({
  name: "run",
  comment: "The run that made this warehouse: one row.",
  key: ["run"],
  columns: [
    text("run", "", "Run name: sequence number and start.", required),
    integer("sequence", "", "Runs are ordered by this number.", required),
    text("pipeline", "", "Pipeline.", required),
    text("instance_url", "", "Service that was read.", required),
    timestamp("started_at", "", "Start, by this machine's clock.", required),
    timestamp(
      "ended_at",
      "",
      "When the tables were built, by this machine's clock; the manifest's `endedAt` is when the run ended.",
      required,
    ),
    text("verdict", "", "`complete`: two passes in a row agree. `unsettled`: no two did.", required),
    text("reason", "", "Why a run is unsettled."),
    bigint("items_listed", "", "Distinct items that the passes listed.", required),
    bigint("items_loaded", "", "Items in `content`.", required),
    bigint("items_rejected", "", "Listed items that could not be read; see `run_rejects`.", required),
    bigint("items_vanished", "", "Listed items that were gone before they could be read.", required),
    bigint(
      "items_unread",
      "",
      "Items that only the last pass listed, too many to be asked for; only of an unsettled run.",
      required,
    ),
    text("personal_data", "", "Policy for personal data: `drop`, `hash` or `keep`.", required),
    text("package_version", "", "Version of content-warehouse.", required),
    text("duckdb_version", "", "Version of DuckDB.", required),
    text("node_version", "", "Version of Node.", required),
  ],
});

export const passes: Table = runTable({
  name: "run_passes",
  comment: "Each pass over the listing: what it saw, and whether it can be trusted.",
  key: ["pass"],
  columns: [
    integer("pass", "", "Pass, from 1.", required),
    text("mode", "", "`dynamic`, `full` or `basic`.", required),
    integer("pages", "", "Pages that were read.", required),
    integer("per_page", "envelope:pagination.per_page", "Page size that the service answered with."),
    integer(
      "pages_announced",
      "envelope:pagination.pages",
      "Pages that the service announced on the first page.",
    ),
    bigint("rows_listed", "envelope:response", "Rows on all pages.", required),
    bigint("distinct_items", "", "Distinct item IDs on all pages.", required),
    bigint("duplicates", "", "Rows that repeated an item of the same pass.", required),
    bigint("count_before", "envelope:pagination envelope:pagination.count", "Total on the first page."),
    bigint("count_after", "envelope:pagination.count", "Total on the last page."),
    text("digest", "", "SHA-256 of the sorted item IDs with their `updated_at` to the second.", required),
    boolean(
      "clean",
      "",
      "Whether the pages fit together without a gap, a repeat or a change of total.",
      required,
    ),
    text("reason", "", "Why the pass is not clean."),
    timestamp("started_at", "", "Start, by this machine's clock.", required),
    timestamp("ended_at", "", "End, by this machine's clock.", required),
  ],
});

export const requests: Table = runTable({
  name: "run_requests",
  comment: "Each request that was answered; never a credential.",
  key: ["request"],
  columns: [
    integer("request", "", "Number of the request, in the order of the plan, from 1.", required),
    text("mode", "", "`dynamic`, `full`, `basic`, `item`, `destinations` or `custom_fields`.", required),
    integer("pass", "", "Pass that the request belongs to."),
    integer("page", "envelope:pagination.current", "Page of a listing."),
    integer("next_page", "envelope:pagination.next", "Next page that the answer named; NULL on the last."),
    integer("previous_page", "envelope:pagination.previous", "Previous page that the answer named."),
    text("content_id", "", "Item of a single-item request."),
    integer("status", "", "HTTP status.", required),
    integer("attempts", "", "Attempts that were made.", required),
    bigint("bytes", "", "Bytes of the body as it came.", required),
    double("milliseconds", "", "Time to the last byte.", required),
    timestamp("observed_at", "", "The answer's `Date`; this machine's clock where it had none.", required),
    text("sha256", "", "SHA-256 of the body as it came.", required),
  ],
});

export const rejects: Table = runTable({
  name: "run_rejects",
  comment: "Documents that could not be read, with the reason; the personal-data policy holds here too.",
  key: ["reject"],
  columns: [
    integer("reject", "", "Number of the reject, from 1.", required),
    text("mode", "", "Where the document came from.", required),
    integer("pass", "", "Pass."),
    integer("page", "", "Page of the listing."),
    integer("position", "", "Position on the page, from 0."),
    text("content_id", "", "Item, where it is known."),
    text("reason", "", "Why the document was rejected.", required),
    json("document", "", "The document, after the personal-data policy."),
    text("sha256", "", "SHA-256 of the document as it is kept."),
  ],
});

export const drift: Table = runTable({
  name: "run_drift",
  comment: "Where answers departed from the specification, or two documents from each other.",
  key: ["path", "kind"],
  columns: [
    text("path", "", "API path, or table and column.", required),
    text(
      "kind",
      "",
      "`unknown_field`, `type`, `unreadable`, `rounded`, `views_differ`, `single_for_list`, `personal_dropped`, `personal_hashed` or `token_redacted`.",
      required,
    ),
    bigint("count", "", "How often.", required),
    text("example_content_id", "", "First item that shows it."),
    text("example", "", "Its value there, after the personal-data policy, cut to 200 characters."),
  ],
});

export const checks: Table = runTable({
  name: "run_checks",
  comment: "Checks made before the run was published.",
  key: ["check_name"],
  columns: [
    text("check_name", "", "Check.", required),
    text("verdict", "", "`passed`, `warning` or `failed`.", required),
    bigint("figure", "", "What was counted.", required),
    bigint("expected", "", "What it was held against, where there is such a figure."),
    text("detail", "", "What the figures mean."),
  ],
});

export const tablesTable: Table = runTable({
  name: "run_tables",
  comment: "Rows and Parquet bytes of each table.",
  key: ["table_name"],
  columns: [
    text("table_name", "", "Table.", required),
    bigint("row_count", "", "Rows.", required),
    bigint("parquet_files", "", "Parquet files.", required),
    bigint("parquet_bytes", "", "Bytes of its Parquet files.", required),
  ],
});

export const lineage: Table = runTable({
  name: "run_lineage",
  comment: "Which API field each column comes from.",
  key: ["table_name", "column_name", "resource", "path"],
  columns: [
    text("table_name", "", "Table.", required),
    text("column_name", "", "Column.", required),
    text("resource", "", "Resource of the specification.", required),
    text("path", "", "Path of the API field.", required),
  ],
});
