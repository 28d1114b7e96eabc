/** The table of content items. */
import { boolean, columnsOf, defineTable, EXTRA, instanceId, json, reference, text } from "./declare.ts";

const basic = columnsOf("basic:");
const dynamic = columnsOf("dynamic:");
const basicAndDynamic = columnsOf("basic:", "dynamic:");
const fullAndDynamic = columnsOf("full:", "dynamic:");
const acl = columnsOf("dynamic:acl");

export const content = defineTable({
  name: "content",
  comment:
    "Content items, one row each: articles, events, photos and everything else that the service manages.",
  stage: "item",
  key: ["content_id"],
  rows: { kind: "item", when: "always" },
  references: [
    reference("content_type_id", "content_types"),
    reference("assignee_id", "users", "user_id"),
    reference("creator_id", "users", "user_id"),
    reference("owner_id", "users", "user_id"),
    reference("last_updated_by_id", "users", "user_id"),
    reference("instance_id", "instances"),
    reference("localized_from_id", "content", "content_id"),
  ],
  columns: [
    text("content_id", { from: ["basic:id", "dynamic:id"], comment: "Item ID.", required: true }),
    basicAndDynamic.text("slug", {
      comment:
        "URL-safe name. The specification calls it unique; run_checks counts items that share one. Join by content_id.",
    }),
    basicAndDynamic.text("title", {
      comment: "Title as the service escapes it, such as `&amp;`; NULL for an item without one.",
    }),
    basicAndDynamic.text("preferred_title", { comment: "Title, escaped as in title, or `(no title)`." }),
    dynamic.text("preferred_title_sort", { comment: "The preferred title in lower case, for sorting." }),
    text("content_type_id", {
      from: ["basic:content_type", "basic:content_type.id", "full:content_type.id", "dynamic:content_type"],
      comment: "Content type → content_types.content_type_id.",
    }),
    dynamic.text("body_type", { comment: "Kind of body: `html`, `event`, `photo`, `video` and others." }),
    basic.text("state", {
      comment:
        "Workflow state: `production`, `promotion` or `completed`. For how far the work is, use progress_stage.",
    }),
    basicAndDynamic.text("progress_stage", {
      comment:
        "How far the work is: `planned`, `in_progress` or `complete`. An item may be complete and not published.",
    }),
    basicAndDynamic.boolean("archived", {
      comment: "Whether the item is archived; leave such items out of figures about current content.",
    }),
    dynamic.boolean("locked", { comment: "Whether the item is locked in the studio." }),
    dynamic.boolean("published", {
      comment:
        "Whether the item is published, whatever its state and stage; published_date says when it last was.",
    }),
    dynamic.json("status", {
      comment:
        "Status as the service sends it, of any JSON type and without a settled meaning; use progress_stage and published.",
    }),
    json("field_locks", {
      from: ["dynamic:field_locks", "dynamic:field_locks.body.locked"],
      comment: "Which fields of the item are locked, as an object by field name.",
    }),
    boolean("single_item_read", {
      comment:
        "Whether the item was read by itself, with the nine fields that only this gives: payment, tasks_begin_at and tasks_end_at here, and those of content_events. Where it was not, they are NULL and say nothing.",
    }),
    dynamic.timestamp("created_at", { comment: "When the item was created." }),
    basicAndDynamic.timestamp("updated_at", { comment: "When a user last updated the item." }),
    dynamic.timestamp("updated", {
      comment:
        "Last update, as the service shows it; updated_at is the raw instant, by which versions are told apart.",
    }),
    dynamic.timestamp("deleted_at", { comment: "When the item was deleted; NULL if it was not." }),
    dynamic.timestamp("completed_date", { comment: "When the item moved to the stage `complete`." }),
    dynamic.timestamp("assigned_date", { comment: "When the item was assigned to its assignee." }),
    basicAndDynamic.timestamp("published_date", { comment: "When the item was last published." }),
    dynamic.timestamp("synced_to_gallery_date", { comment: "When the item was added to the gallery." }),
    dynamic.timestamp("tasks_begin_at", {
      comment: "Earliest deadline of a task; NULL unless single_item_read.",
    }),
    dynamic.timestamp("tasks_end_at", {
      comment: "Latest deadline of a task; NULL unless single_item_read.",
    }),
    text("assignee_id", {
      from: ["basic:assignee_id", "dynamic:author"],
      comment: "User the item is assigned to → users.user_id.",
    }),
    text("creator_id", {
      from: ["basic:creator_id", "dynamic:creator"],
      comment: "User who created the item → users.user_id.",
    }),
    text("owner_id", { from: ["full:owner"], comment: "User who owns the item → users.user_id." }),
    text("last_updated_by_id", {
      from: ["full:last_updated_by.id", "full:last_updated_by_details.id"],
      comment: "User who last updated the item → users.user_id. NULL where the service names nobody.",
    }),
    instanceId(["dynamic:newsroom_id", "dynamic:instance.id"]),
    acl.text("access_summary", {
      comment:
        "Who may view the item: `PUBLIC`, `PRIVATE`, `PRIVATE_INSTANCE` or `PRIVATE_MEMBERS`. NULL where the service does not say, which is not `PUBLIC`.",
    }),
    dynamic.boolean("can_modify", { comment: "Whether the user of the export's token can update the item." }),
    dynamic.boolean("can_destroy", {
      comment: "Whether the user of the export's token can delete the item.",
    }),
    fullAndDynamic.text("content", {
      comment: "Body as HTML; empty for content types without text.",
      emptyDefault: "text",
    }),
    dynamic.text("body_fragment", { comment: "Body as sanitized HTML." }),
    dynamic.text("excerpt", { comment: "Excerpt of the body." }),
    dynamic.bigint("wordcount", {
      comment: "Number of words in the body; NULL where the service counts none, which is not 0.",
    }),
    dynamic.bigint("content_number", {
      comment: "Sequential number of the item; NULL where the instance does not number its items.",
    }),
    basic.text("factory_url", { comment: "Canonical URL of the item, as the basic listing has it." }),
    dynamic.text("service_url", { comment: "Canonical URL of the item within the service." }),
    dynamic.text("url", { comment: "Canonical URL of the item." }),
    dynamic.text("discussion_url", { comment: "URL of the discussion of the item." }),
    fullAndDynamic.text("published_url", {
      comment: "URL where the item is published; NULL where there is none. content_published_urls has all.",
      emptyDefault: "null",
    }),
    dynamic.text("publish_destination", {
      comment:
        "Name of the destination that the item was published to, one at most; content_published_urls has all.",
    }),
    fullAndDynamic.text("library_tracking_url", { comment: "URL for sharing the published version." }),
    dynamic.text("marketing_automation_url", { comment: "Path of the preview in marketing automation." }),
    fullAndDynamic.text("media_url", { comment: "URL of the gallery content file." }),
    dynamic.text("thumbnail_url", { comment: "URL of the thumbnail." }),
    dynamic.text("content_thumbnail_url", { comment: "URL of the thumbnail for social previews." }),
    dynamic.text("webinar_playback_url", {
      comment: "URL of the recording of a webinar that has taken place.",
    }),
    dynamic.text("localized_from_id", {
      comment: "Item that this one is a localization of → content.content_id.",
    }),
    dynamic.text("repository_notes", { comment: "Usage notes for the gallery." }),
    dynamic.text("social_media_channel", { comment: "Channel, for social media content." }),
    dynamic.text("viewer_compatibility", {
      comment: "Viewer for the content file: `none`, `pdf`, `doc_provider`, `photo`, `video` or `audio`.",
    }),
    text("content_file_format_name", {
      from: ["dynamic:content_file_format", "dynamic:content_file_format.name"],
      comment:
        "Name of the file format that the content type allows; its extensions are in content_file_extensions.",
    }),
    dynamic.double("payment", { comment: "Payment rate; NULL unless single_item_read." }),
    dynamic.boolean("favorite", {
      comment: "Whether the item is a favorite of the user of the export's token.",
    }),
    dynamic.bigint("favorite_count", { comment: "Number of users who have the item as a favorite." }),
    text("next_task_description", {
      from: ["basic:next_task"],
      comment: "Description of the next task, or `Completed` where none is left; see content_next_tasks.",
    }),
    dynamic.text("next_task_title", { comment: "Title of the next task." }),
    dynamic.timestamp("next_task_deadline", { comment: "Deadline of the next task." }),
    EXTRA,
  ],
});
