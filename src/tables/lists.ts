/** Tables of an item's lists. */
import type { ApiField } from "../api/fields.ts";
import { columnsOf, integer, itemTable, origins, reference, type Table, text, timestamp } from "./declare.ts";

const attachment = columnsOf("full:attachments[]", "dynamic:attachments[]");
const publishedUrl = columnsOf("dynamic:published_urls[]");
const deadline = columnsOf("dynamic:task_deadlines[]");
const editor = columnsOf("dynamic:currently_editing[]");

const ordinal = integer("ordinal", { comment: "Position in the list, from 0.", required: true });

type ListDeclaration<Name extends string> = Pick<Table<Name>, "name" | "comment"> &
  Partial<Pick<Table, "references">>;

/**
 * A list of an item, keyed by position, so that lists keep their order and duplicates. `at`: API fields with the list; the
 * first that exists is read. Without it, a function of the transform makes the rows.
 */
function list<const Name extends string>({
  at,
  columns,
  ...rest
}: ListDeclaration<Name> & Pick<Table, "columns"> & { readonly at?: readonly ApiField[] }): Table<Name> {
  const rows: Table["rows"] = at === undefined ? { kind: "program" } : { kind: "list", at: origins(at) };
  return itemTable({ ...rest, rows, key: ["ordinal"], columns: [ordinal, ...columns] });
}

/** A list of texts in one column. */
function texts<const Name extends string>({
  column,
  at,
  ...rest
}: ListDeclaration<Name> & { readonly column: string; readonly at: readonly ApiField[] }): Table<Name> {
  const [parent] = rest.references ?? [];
  const of = parent === undefined ? "" : ` → ${parent.table}.${parent.to}`;
  const comment = `Element${of}. It may repeat; NULL where the source has null.`;
  return list({ ...rest, at, columns: [text(column, { from: at, comment })] });
}

export const LIST_TABLES = [
  texts({
    name: "content_tags",
    column: "tag",
    at: ["full:tags", "dynamic:tags"],
    comment: "Tags of an item, one row each.",
  }),
  texts({
    name: "content_categories",
    column: "category",
    at: ["basic:categories", "dynamic:categories", "dynamic:categories_array"],
    comment: "Categories of an item, one row each.",
  }),
  texts({
    name: "content_campaigns",
    column: "campaign_id",
    at: ["basic:campaign_ids", "dynamic:campaigns"],
    comment: "Campaigns (initiatives) that an item belongs to.",
    references: [reference("campaign_id", "campaigns")],
  }),
  texts({
    name: "content_personas",
    column: "persona_id",
    at: ["full:persona_ids", "dynamic:personas"],
    comment: "Personas selected for an item; the service gives their IDs alone.",
  }),
  texts({
    name: "content_stages",
    column: "stage_id",
    at: ["full:stage_ids", "dynamic:stages"],
    comment: "Buying stages selected for an item; the service gives their IDs alone.",
  }),
  list({
    name: "content_attachments",
    comment: "Attachments of an item.",
    at: ["full:attachments", "dynamic:attachments"],
    columns: [
      text("attachment_id", {
        from: [
          "full:attachments",
          "full:attachments[].id",
          "dynamic:attachments",
          "dynamic:attachments[].id",
        ],
        comment: "Attachment ID.",
      }),
      attachment.text("url", { comment: "URL of the attachment." }),
      attachment.text("filename", { comment: "File name." }),
      attachment.timestamp("updated_at", { comment: "When the attachment was last updated." }),
      text("image_caption", {
        from: attachment.fields("image_attributes.caption"),
        comment: "Caption, for an image.",
      }),
      text("image_alt", {
        from: attachment.fields("image_attributes.alt"),
        comment: "Alternative text, for an image.",
      }),
      text("image_title", {
        from: attachment.fields("image_attributes.title"),
        comment: "Title, for an image.",
      }),
    ],
  }),
  list({
    name: "content_published_urls",
    comment: "Sites where an item is published; an item may have several rows, or none.",
    at: ["dynamic:published_urls"],
    columns: [
      text("external_site_name", {
        from: ["dynamic:published_urls", "dynamic:published_urls[].external_site_name"],
        comment:
          "Name of the site, as in content.publish_destination; destinations.identification where that destination is known.",
      }),
      publishedUrl.text("published_url", {
        comment: "URL on the site; NULL where there is none.",
        emptyDefault: "null",
      }),
    ],
  }),
  list({
    name: "content_task_deadlines",
    comment: "Deadlines of an item's tasks.",
    at: ["dynamic:task_deadlines"],
    columns: [
      text("description", {
        from: ["dynamic:task_deadlines", "dynamic:task_deadlines[].description"],
        comment: "Description of the task.",
      }),
      deadline.timestamp("deadline", { comment: "Deadline of the task." }),
      deadline.boolean("smart_deadline", { comment: "Whether the deadline moves with other tasks." }),
    ],
  }),
  texts({
    name: "content_next_task_owners",
    column: "user_id",
    at: ["dynamic:next_task.owner_ids", "dynamic:next_task_owner"],
    comment: "Owners of an item's next task.",
    references: [reference("user_id", "users")],
  }),
  texts({
    name: "content_available_actions",
    column: "action",
    at: ["dynamic:available_actions"],
    comment: "Changes that the user of the export's token may make to an item.",
  }),
  list({
    name: "content_current_editors",
    comment: "Users who were editing an item at the time of the run.",
    at: ["dynamic:currently_editing"],
    references: [reference("user_id", "users")],
    columns: [
      text("user_id", {
        from: ["dynamic:currently_editing", "dynamic:currently_editing[].id"],
        comment: "User → users.user_id.",
      }),
      editor.text("name", { comment: "Name of the user.", personal: true }),
      editor.text("avatar_url", { comment: "URL of the user's picture.", personal: true }),
      editor.timestamp("last_seen", {
        comment: "When the user was last seen editing the item.",
        format: "epoch_seconds",
      }),
    ],
  }),
  texts({
    name: "content_crm_shares",
    column: "crm_id",
    at: ["dynamic:crm_shared_with_ids"],
    comment: "CRM contacts, leads and opportunities that an item was shared with.",
  }),
  texts({
    name: "content_gallery_share_channels",
    column: "channel",
    at: ["dynamic:gallery_share_settings"],
    comment: "Channels that an item can be shared to from the gallery, one row each.",
  }),
  texts({
    name: "content_file_extensions",
    column: "extension",
    at: ["dynamic:content_file_format.extensions"],
    comment: "File extensions that an item's content file may have, one row each.",
  }),
  list({
    name: "content_favorites",
    comment: "Users who have an item as a favorite, and since when.",
    columns: [
      text("user_id", { from: ["dynamic:favorited_by_users"], comment: "User → users.user_id." }),
      timestamp("favorite_date", {
        from: ["dynamic:favorite_dates"],
        comment: "When the user made the item a favorite.",
      }),
    ],
    references: [reference("user_id", "users")],
  }),
  itemTable({
    name: "content_collections",
    comment: "Gallery collections that an item is in.",
    key: ["collection_id"],
    columns: [
      text("collection_id", {
        from: [
          "dynamic:collection_uids",
          "dynamic:added_to_collection_dates",
          "dynamic:added_to_collection_dates[].collection_id",
          "dynamic:added_to_collection_date",
          "dynamic:pinned_collection_rank",
        ],
        comment: "ID of the collection.",
        required: true,
      }),
      integer("ordinal", { comment: "Position in the item's list of collections, from 0.", required: true }),
      timestamp("added_date", {
        from: ["dynamic:added_to_collection_dates[].added_date", "dynamic:added_to_collection_date"],
        comment: "When the item was added to the collection.",
      }),
      integer("pinned_rank", {
        from: ["dynamic:pinned_collection_rank"],
        comment: "Position among the pinned items of the collection.",
      }),
    ],
  }),
  itemTable({
    name: "content_acl_principals",
    comment: "Groups and users who may view an item, one row each.",
    key: ["principal_kind", "principal_id"],
    columns: [
      text("principal_kind", { comment: "Who it is: `group` or `user`.", required: true }),
      text("principal_id", {
        from: ["dynamic:acl", "dynamic:acl.group_ids", "dynamic:acl.user_ids"],
        comment: "ID of the group or user.",
        required: true,
      }),
      ordinal,
    ],
  }),
] as const satisfies readonly Table[];
