import {
  below,
  bigint,
  boolean,
  date,
  double,
  itemTable,
  origins,
  type Table,
  text,
  timestamp,
} from "./declare.ts";

const REVISIONS = ["dynamic:content_file", "dynamic:gallery_preview_revision"] as const;

/** Besides `content`, one row or a few per item. */
export const ITEM_TABLES = [
  itemTable({
    name: "content_gallery",
    comment: "Gallery settings of an item; no row where the service gives none.",
    key: [],
    rows: { kind: "item", when: "given" },
    columns: [
      boolean("pinned", {
        from: ["dynamic:pinned"],
        comment: "Whether the item is pinned in a gallery collection.",
      }),
      text("download_url", { from: ["dynamic:download_url"], comment: "URL to download the content file." }),
      boolean("gallery_can_download", {
        from: ["dynamic:gallery_can_download"],
        comment: "Whether the item may be downloaded from the gallery.",
      }),
      boolean("gallery_can_share", {
        from: ["dynamic:gallery_can_share"],
        comment: "Whether the item may be shared from the gallery.",
      }),
      boolean("gallery_can_bundle", {
        from: ["dynamic:gallery_can_bundle"],
        comment: "Whether the item may be put into a bundle.",
      }),
      boolean("gallery_bundle_can_download", {
        from: ["dynamic:gallery_bundle_can_download"],
        comment: "Whether the item's bundle may be downloaded.",
      }),
      boolean("gallery_bundle_can_share", {
        from: ["dynamic:gallery_bundle_can_share"],
        comment: "Whether the item's bundle may be shared.",
      }),
      boolean("gallery_bundle_settings_overridden", {
        from: ["dynamic:gallery_bundle_settings_overridden"],
        comment: "Whether the item overrides the default bundle settings.",
      }),
      text("gallery_preview_revision_id", {
        from: ["dynamic:gallery_preview_revision_id"],
        comment: "ID of the file revision that the gallery shows as preview; see content_files.",
      }),
      text("gallery_viewer_compatibility", {
        from: ["dynamic:gallery_viewer_compatibility"],
        comment:
          "Viewer for the gallery revision: `none`, `pdf`, `doc_provider`, `photo`, `video` or `audio`.",
      }),
      text("doc_provider_file_id", {
        from: ["dynamic:doc_provider_file_id"],
        comment: "ID of the file in an external document service.",
      }),
      text("doc_provider_preview_url", {
        from: ["dynamic:doc_provider_preview_url"],
        comment: "URL of the preview of that document.",
      }),
    ],
  }),
  itemTable({
    name: "content_events",
    comment:
      "Dates and place of an item that is an event; NULL, whatever the event has, unless content.single_item_read.",
    key: [],
    rows: { kind: "item", when: "event" },
    columns: [
      date("event_start_date", {
        from: ["dynamic:event_start_date"],
        comment:
          "Start date of the event; two-digit years are read as 20YY; NULL unless content.single_item_read.",
        format: "us_date",
      }),
      text("event_start_date_text", {
        from: ["dynamic:event_start_date"],
        comment: "Start date of the event as the service sends it; NULL unless content.single_item_read.",
      }),
      date("event_end_date", {
        from: ["dynamic:event_end_date"],
        comment:
          "End date of the event; two-digit years are read as 20YY; NULL unless content.single_item_read.",
        format: "us_date",
      }),
      text("event_end_date_text", {
        from: ["dynamic:event_end_date"],
        comment: "End date of the event as the service sends it; NULL unless content.single_item_read.",
      }),
      double("latitude", {
        from: ["dynamic:latitude"],
        comment: "Latitude of the place, degrees north; NULL unless content.single_item_read.",
      }),
      double("longitude", {
        from: ["dynamic:longitude"],
        comment: "Longitude of the place, degrees east; NULL unless content.single_item_read.",
      }),
      text("place_id", {
        from: ["dynamic:place_id"],
        comment: "ID of the place on the map; NULL unless content.single_item_read.",
      }),
      text("timezone_name", {
        from: ["dynamic:timezone_name"],
        comment: "Time zone of the event; NULL unless content.single_item_read.",
      }),
    ],
  }),
  itemTable({
    name: "content_files",
    comment: "Current files of an item: its content file and its gallery preview.",
    key: ["role"],
    columns: [
      text("role", {
        from: REVISIONS,
        comment: "What the file is for: `content_file` or `gallery_preview`.",
        required: true,
      }),
      text("file_id", { from: below(REVISIONS, "id"), comment: "ID of the file revision." }),
      text("filename", { from: below(REVISIONS, "filename"), comment: "File name." }),
      text("extension", { from: below(REVISIONS, "extension"), comment: "File extension." }),
      bigint("size", { from: below(REVISIONS, "size"), comment: "Size in bytes." }),
      text("url", { from: below(REVISIONS, "url"), comment: "URL of this revision of the file." }),
      text("permanent_url", {
        from: ["dynamic:content_file.permanent_url"],
        comment: "URL that stays the same for later revisions.",
      }),
      boolean("public", {
        from: ["dynamic:content_file.public"],
        comment: "Whether anyone may read the file.",
      }),
      text("subdomain", {
        from: ["dynamic:content_file.subdomain"],
        comment: "Subdomain that serves the file.",
      }),
      timestamp("updated_at", {
        from: ["dynamic:content_file.updated_at"],
        comment: "When the revision was made.",
      }),
    ],
  }),
  itemTable({
    name: "content_next_tasks",
    comment: "The next task of an item, where it has one.",
    key: [],
    rows: { kind: "object", at: origins(["dynamic:next_task"]) },
    columns: [
      text("task_id", { from: ["dynamic:next_task", "dynamic:next_task.id"], comment: "Task ID." }),
      text("description", { from: ["dynamic:next_task.description"], comment: "What is to be done." }),
      boolean("completed", { from: ["dynamic:next_task.completed"], comment: "Whether the task is done." }),
      text("completion_action", {
        from: ["dynamic:next_task.completion_action"],
        comment: "What completes the task.",
      }),
      timestamp("deadline", { from: ["dynamic:next_task.deadline"], comment: "Deadline." }),
      bigint("deadline_offset", {
        from: ["dynamic:next_task.deadline_offset"],
        comment: "Offset of a relative deadline, in deadline_offset_unit.",
      }),
      text("deadline_offset_unit", {
        from: ["dynamic:next_task.deadline_offset_unit"],
        comment: "Unit of deadline_offset.",
      }),
      text("deadline_offset_task_id", {
        from: ["dynamic:next_task.deadline_offset_task_id"],
        comment: "ID of the task that deadline_offset counts from.",
      }),
      text("deadline_offset_task_action", {
        from: ["dynamic:next_task.deadline_offset_task_action"],
        comment: "Action on that task that deadline_offset counts from.",
      }),
      bigint("position", {
        from: ["dynamic:next_task.position"],
        comment: "Position among the item's tasks.",
      }),
      bigint("state", {
        from: ["dynamic:next_task.state"],
        comment: "State as a number that the service does not explain; see completed.",
      }),
    ],
  }),
] as const satisfies readonly Table[];
