import {
  bigint,
  boolean,
  defineTable,
  double,
  EXTRA,
  instanceId,
  json,
  reference,
  text,
  timestamp,
} from "./declare.ts";

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
    text("slug", {
      from: ["basic:slug", "dynamic:slug"],
      comment:
        "URL-safe name. The specification calls it unique; run_checks counts items that share one. Join by content_id.",
    }),
    text("title", {
      from: ["basic:title", "dynamic:title"],
      comment: "Title; NULL for an item without one.",
    }),
    text("preferred_title", {
      from: ["basic:preferred_title", "dynamic:preferred_title"],
      comment: "Title, or `(no title)` where there is none.",
    }),
    text("preferred_title_sort", {
      from: ["dynamic:preferred_title_sort"],
      comment: "The preferred title in lower case, for sorting.",
    }),
    text("content_type_id", {
      from: ["basic:content_type", "basic:content_type.id", "full:content_type.id", "dynamic:content_type"],
      comment: "Content type; content_types.content_type_id.",
    }),
    text("body_type", {
      from: ["dynamic:body_type"],
      comment: "Kind of body: `html`, `event`, `photo`, `video` and others.",
    }),
    text("state", {
      from: ["basic:state"],
      comment:
        "Workflow state: `production`, `promotion` or `completed`. For how far the work is, use progress_stage.",
    }),
    text("progress_stage", {
      from: ["basic:progress_stage", "dynamic:progress_stage"],
      comment:
        "How far the work is: `planned`, `in_progress` or `complete`. An item may be complete and not published.",
    }),
    boolean("archived", {
      from: ["basic:archived", "dynamic:archived"],
      comment: "Whether the item is archived; leave such items out of figures about current content.",
    }),
    boolean("locked", { from: ["dynamic:locked"], comment: "Whether the item is locked in the studio." }),
    boolean("published", {
      from: ["dynamic:published"],
      comment:
        "Whether the item is published, whatever its state and stage; published_date says when it last was.",
    }),
    json("status", {
      from: ["dynamic:status"],
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
    timestamp("created_at", { from: ["dynamic:created_at"], comment: "When the item was created." }),
    timestamp("updated_at", {
      from: ["basic:updated_at", "dynamic:updated_at"],
      comment: "When a user last updated the item.",
    }),
    timestamp("updated", {
      from: ["dynamic:updated"],
      comment: "When the item was last updated; see also updated_at.",
    }),
    timestamp("deleted_at", {
      from: ["dynamic:deleted_at"],
      comment: "When the item was deleted; NULL if it was not.",
    }),
    timestamp("completed_date", {
      from: ["dynamic:completed_date"],
      comment: "When the item moved to the stage `complete`.",
    }),
    timestamp("assigned_date", {
      from: ["dynamic:assigned_date"],
      comment: "When the item was assigned to its assignee.",
    }),
    timestamp("published_date", {
      from: ["basic:published_date", "dynamic:published_date"],
      comment: "When the item was last published.",
    }),
    timestamp("synced_to_gallery_date", {
      from: ["dynamic:synced_to_gallery_date"],
      comment: "When the item was added to the gallery.",
    }),
    timestamp("tasks_begin_at", {
      from: ["dynamic:tasks_begin_at"],
      comment: "Earliest deadline of a task; NULL unless single_item_read.",
    }),
    timestamp("tasks_end_at", {
      from: ["dynamic:tasks_end_at"],
      comment: "Latest deadline of a task; NULL unless single_item_read.",
    }),
    text("assignee_id", {
      from: ["basic:assignee_id", "dynamic:author"],
      comment: "User the item is assigned to; users.user_id.",
    }),
    text("creator_id", {
      from: ["basic:creator_id", "dynamic:creator"],
      comment: "User who created the item; users.user_id.",
    }),
    text("owner_id", { from: ["full:owner"], comment: "User who owns the item; users.user_id." }),
    text("last_updated_by_id", {
      from: ["full:last_updated_by.id", "full:last_updated_by_details.id"],
      comment: "User who last updated the item; users.user_id.",
    }),
    instanceId(["dynamic:newsroom_id", "dynamic:instance.id"]),
    text("access_summary", {
      from: ["dynamic:acl.access_summary"],
      comment: "Who may view the item: `PUBLIC`, `PRIVATE`, `PRIVATE_INSTANCE` or `PRIVATE_MEMBERS`.",
    }),
    boolean("can_modify", {
      from: ["dynamic:can_modify"],
      comment: "Whether the user of the export's token can update the item.",
    }),
    boolean("can_destroy", {
      from: ["dynamic:can_destroy"],
      comment: "Whether the user of the export's token can delete the item.",
    }),
    text("content", {
      from: ["full:content", "dynamic:content"],
      comment: "Body as HTML; empty for content types without text.",
      emptyDefault: "text",
    }),
    text("body_fragment", { from: ["dynamic:body_fragment"], comment: "Body as sanitized HTML." }),
    text("excerpt", { from: ["dynamic:excerpt"], comment: "Excerpt of the body." }),
    bigint("wordcount", { from: ["dynamic:wordcount"], comment: "Number of words in the body." }),
    bigint("content_number", {
      from: ["dynamic:content_number"],
      comment: "Sequential number of the item; NULL where the instance does not number its items.",
    }),
    text("factory_url", {
      from: ["basic:factory_url"],
      comment: "Canonical URL of the item, as the basic listing has it.",
    }),
    text("service_url", {
      from: ["dynamic:service_url"],
      comment: "Canonical URL of the item within the service.",
    }),
    text("url", { from: ["dynamic:url"], comment: "Canonical URL of the item." }),
    text("discussion_url", {
      from: ["dynamic:discussion_url"],
      comment: "URL of the discussion of the item.",
    }),
    text("published_url", {
      from: ["full:published_url", "dynamic:published_url"],
      comment: "URL where the item is published; NULL where there is none. content_published_urls has all.",
      emptyDefault: "null",
    }),
    text("publish_destination", {
      from: ["dynamic:publish_destination"],
      comment:
        "Name of the destination that the item was published to, one at most; content_published_urls has all.",
    }),
    text("library_tracking_url", {
      from: ["full:library_tracking_url", "dynamic:library_tracking_url"],
      comment: "URL for sharing the published version.",
    }),
    text("marketing_automation_url", {
      from: ["dynamic:marketing_automation_url"],
      comment: "Path of the preview in marketing automation.",
    }),
    text("media_url", {
      from: ["full:media_url", "dynamic:media_url"],
      comment: "URL of the gallery content file.",
    }),
    text("thumbnail_url", { from: ["dynamic:thumbnail_url"], comment: "URL of the thumbnail." }),
    text("content_thumbnail_url", {
      from: ["dynamic:content_thumbnail_url"],
      comment: "URL of the thumbnail for social previews.",
    }),
    text("webinar_playback_url", {
      from: ["dynamic:webinar_playback_url"],
      comment: "URL of the recording of a webinar that has taken place.",
    }),
    text("localized_from_id", {
      from: ["dynamic:localized_from_id"],
      comment: "Item that this one is a localization of; content.content_id.",
    }),
    text("repository_notes", { from: ["dynamic:repository_notes"], comment: "Usage notes for the gallery." }),
    text("social_media_channel", {
      from: ["dynamic:social_media_channel"],
      comment: "Channel, for social media content.",
    }),
    text("viewer_compatibility", {
      from: ["dynamic:viewer_compatibility"],
      comment: "Viewer for the content file: `none`, `pdf`, `doc_provider`, `photo`, `video` or `audio`.",
    }),
    text("content_file_format_name", {
      from: ["dynamic:content_file_format", "dynamic:content_file_format.name"],
      comment:
        "Name of the file format that the content type allows; its extensions are in content_file_extensions.",
    }),
    double("payment", {
      from: ["dynamic:payment"],
      comment: "Payment rate; NULL unless single_item_read.",
    }),
    boolean("favorite", {
      from: ["dynamic:favorite"],
      comment: "Whether the item is a favorite of the user of the export's token.",
    }),
    bigint("favorite_count", {
      from: ["dynamic:favorite_count"],
      comment: "Number of users who have the item as a favorite.",
    }),
    text("next_task_description", {
      from: ["basic:next_task"],
      comment: "Description of the next task, or `Completed` where none is left; see content_next_tasks.",
    }),
    text("next_task_title", { from: ["dynamic:next_task_title"], comment: "Title of the next task." }),
    timestamp("next_task_deadline", {
      from: ["dynamic:next_task_deadline"],
      comment: "Deadline of the next task.",
    }),
    EXTRA,
  ],
});
