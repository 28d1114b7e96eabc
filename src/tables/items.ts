/** Tables with rows of an item, beside `content` and its lists. */
import { columnsOf, itemTable, origins, type Table, text } from "./declare.ts";

const REVISIONS = ["dynamic:content_file", "dynamic:gallery_preview_revision"] as const;

const dynamic = columnsOf("dynamic:");
const revision = columnsOf(...REVISIONS);
const contentFile = columnsOf("dynamic:content_file");
const task = columnsOf("dynamic:next_task");

/** Tables beside `content` with one row or a few per item. */
export const ITEM_TABLES = [
  itemTable({
    name: "content_gallery",
    comment: "Gallery settings of an item; no row where the service gives none.",
    key: [],
    rows: { kind: "item", when: "given" },
    columns: [
      dynamic.boolean("pinned", { comment: "Whether the item is pinned in a gallery collection." }),
      dynamic.text("download_url", { comment: "URL to download the content file." }),
      dynamic.boolean("gallery_can_download", {
        comment: "Whether the item may be downloaded from the gallery.",
      }),
      dynamic.boolean("gallery_can_share", { comment: "Whether the item may be shared from the gallery." }),
      dynamic.boolean("gallery_can_bundle", { comment: "Whether the item may be put into a bundle." }),
      dynamic.boolean("gallery_bundle_can_download", {
        comment: "Whether the item's bundle may be downloaded.",
      }),
      dynamic.boolean("gallery_bundle_can_share", { comment: "Whether the item's bundle may be shared." }),
      dynamic.boolean("gallery_bundle_settings_overridden", {
        comment: "Whether the item overrides the default bundle settings.",
      }),
      dynamic.text("gallery_preview_revision_id", {
        comment: "ID of the file revision that the gallery shows as preview; see content_files.",
      }),
      dynamic.text("gallery_viewer_compatibility", {
        comment:
          "Viewer for the gallery revision: `none`, `pdf`, `doc_provider`, `photo`, `video` or `audio`.",
      }),
      dynamic.text("doc_provider_file_id", { comment: "ID of the file in an external document service." }),
      dynamic.text("doc_provider_preview_url", { comment: "URL of the preview of that document." }),
    ],
  }),
  itemTable({
    name: "content_events",
    comment:
      "Dates and place of an item that is an event; NULL, whatever the event has, unless content.single_item_read.",
    key: [],
    rows: { kind: "item", when: "event" },
    columns: [
      dynamic.date("event_start_date", {
        comment:
          "Start date of the event; two-digit years are read as 20YY; NULL unless content.single_item_read.",
        format: "us_date",
      }),
      text("event_start_date_text", {
        from: ["dynamic:event_start_date"],
        comment: "Start date of the event as the service sends it; NULL unless content.single_item_read.",
      }),
      dynamic.date("event_end_date", {
        comment:
          "End date of the event; two-digit years are read as 20YY; NULL unless content.single_item_read.",
        format: "us_date",
      }),
      text("event_end_date_text", {
        from: ["dynamic:event_end_date"],
        comment: "End date of the event as the service sends it; NULL unless content.single_item_read.",
      }),
      dynamic.double("latitude", {
        comment: "Latitude of the place, degrees north; NULL unless content.single_item_read.",
      }),
      dynamic.double("longitude", {
        comment: "Longitude of the place, degrees east; NULL unless content.single_item_read.",
      }),
      dynamic.text("place_id", {
        comment: "ID of the place on the map; NULL unless content.single_item_read.",
      }),
      dynamic.text("timezone_name", {
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
      text("file_id", { from: revision.fields("id"), comment: "ID of the file revision." }),
      revision.text("filename", { comment: "File name." }),
      revision.text("extension", { comment: "File extension." }),
      revision.bigint("size", { comment: "Size in bytes." }),
      revision.text("url", { comment: "URL of this revision of the file." }),
      contentFile.text("permanent_url", { comment: "URL that stays the same for later revisions." }),
      contentFile.boolean("public", { comment: "Whether anyone may read the file." }),
      contentFile.text("subdomain", { comment: "Subdomain that serves the file." }),
      contentFile.timestamp("updated_at", { comment: "When the revision was made." }),
    ],
  }),
  itemTable({
    name: "content_next_tasks",
    comment: "The next task of an item, where it has one.",
    key: [],
    rows: { kind: "object", at: origins(["dynamic:next_task"]) },
    columns: [
      text("task_id", { from: ["dynamic:next_task", "dynamic:next_task.id"], comment: "Task ID." }),
      task.text("description", { comment: "What is to be done." }),
      task.boolean("completed", { comment: "Whether the task is done." }),
      task.text("completion_action", { comment: "What completes the task." }),
      task.timestamp("deadline", { comment: "Deadline." }),
      task.bigint("deadline_offset", { comment: "Offset of a relative deadline, in deadline_offset_unit." }),
      task.text("deadline_offset_unit", { comment: "Unit of deadline_offset." }),
      task.text("deadline_offset_task_id", { comment: "ID of the task that deadline_offset counts from." }),
      task.text("deadline_offset_task_action", {
        comment: "Action on that task that deadline_offset counts from.",
      }),
      task.bigint("position", { comment: "Position among the item's tasks." }),
      task.bigint("state", {
        comment: "State as a number that the service does not explain; see completed.",
      }),
    ],
  }),
] as const satisfies readonly Table[];
