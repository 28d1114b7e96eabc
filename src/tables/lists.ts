import {
  at,
  boolean,
  columnsFrom,
  integer,
  itemTable,
  origins,
  REQUIRED,
  type Reference,
  type Rows,
  reference,
  required,
  type Table,
  text,
  timestamp,
} from "./declare.ts";

const ATTACHMENTS = ["full:attachments[]", "dynamic:attachments[]"];
const attachment = columnsFrom(at(ATTACHMENTS, "*"));
const editor = columnsFrom("dynamic:currently_editing[].*", { personal: true });
const seen = columnsFrom("dynamic:currently_editing[].*", { format: "epoch_seconds" });
const ordinal = required.integer("ordinal", "Position in the list, from 0.");

interface ListDeclaration<Name extends string>
  extends Pick<Table<Name>, "name" | "comment" | "columns">,
    Partial<Pick<Table, "references">> {
  /** Where the list is, the first that is there being read; absent: a program of the transform. */
  readonly at?: string;
}

/** A list of an item, keyed by its position in the source: lists keep their order and their duplicates. */
function list<const Name extends string>({ at, columns, ...rest }: ListDeclaration<Name>): Table<Name> {
  const rows: Rows = at === undefined ? { kind: "program" } : { kind: "list", at: origins(at) };
  return itemTable({ ...rest, rows, key: ["ordinal"], columns: [ordinal, ...columns] });
}

/** A list of texts: the column's API fields are the lists themselves. */
function texts<const Name extends string>(
  name: Name,
  column: string,
  at: string,
  comment: string,
  to?: Reference,
): Table<Name> {
  return list({
    name,
    comment,
    at,
    columns: [text(column, at, "Element; NULL where the source has null.")],
    references: to === undefined ? [] : [to],
  });
}

export const LIST_TABLES = [
  texts("content_tags", "tag", "full:tags dynamic:tags", "Tags of an item, one row each."),
  texts(
    "content_categories",
    "category",
    "basic:categories dynamic:categories dynamic:categories_array",
    "Categories of an item, one row each.",
  ),
  texts(
    "content_campaigns",
    "campaign_id",
    "basic:campaign_ids dynamic:campaigns",
    "Campaigns (initiatives) that an item belongs to.",
    reference("campaign_id", "campaigns"),
  ),
  texts(
    "content_personas",
    "persona_id",
    "full:persona_ids dynamic:personas",
    "Personas selected for an item; the service gives their IDs alone.",
  ),
  texts(
    "content_stages",
    "stage_id",
    "full:stage_ids dynamic:stages",
    "Buying stages selected for an item; the service gives their IDs alone.",
  ),
  list({
    name: "content_attachments",
    comment: "Attachments of an item.",
    at: "full:attachments dynamic:attachments",
    columns: [
      text(
        "attachment_id",
        "full:attachments full:attachments[].id dynamic:attachments dynamic:attachments[].id",
        "Attachment ID.",
      ),
      attachment.text("url", "URL of the attachment."),
      attachment.text("filename", "File name."),
      attachment.timestamp("updated_at", "When the attachment was last updated."),
      text("image_caption", at(ATTACHMENTS, "image_attributes.caption"), "Caption, for an image."),
      text("image_alt", at(ATTACHMENTS, "image_attributes.alt"), "Alternative text, for an image."),
      text("image_title", at(ATTACHMENTS, "image_attributes.title"), "Title, for an image."),
    ],
  }),
  list({
    name: "content_published_urls",
    comment: "Sites where an item is published.",
    at: "dynamic:published_urls",
    columns: [
      text("external_site_name", "dynamic:published_urls dynamic:published_urls[].*", "Name of the site."),
      text("published_url", "dynamic:published_urls[].*", "URL on the site; NULL where it is not known."),
    ],
  }),
  list({
    name: "content_task_deadlines",
    comment: "Deadlines of an item's tasks.",
    at: "dynamic:task_deadlines",
    columns: [
      text("description", "dynamic:task_deadlines dynamic:task_deadlines[].*", "Description of the task."),
      timestamp("deadline", "dynamic:task_deadlines[].*", "Deadline of the task."),
      boolean("smart_deadline", "dynamic:task_deadlines[].*", "Whether the deadline moves with other tasks."),
    ],
  }),
  texts(
    "content_next_task_owners",
    "user_id",
    "dynamic:next_task.owner_ids dynamic:next_task_owner",
    "Owners of an item's next task.",
    reference("user_id", "users"),
  ),
  texts(
    "content_available_actions",
    "action",
    "dynamic:available_actions",
    "Changes that the user of the export's token may make to an item.",
  ),
  list({
    name: "content_current_editors",
    comment: "Users who were editing an item at the time of the run.",
    at: "dynamic:currently_editing",
    references: [reference("user_id", "users")],
    columns: [
      text("user_id", "dynamic:currently_editing dynamic:currently_editing[].id", "User; users.user_id."),
      editor.text("name", "Name of the user."),
      editor.text("avatar_url", "URL of the user's picture."),
      seen.timestamp("last_seen", "When the user was last seen editing the item."),
    ],
  }),
  texts(
    "content_crm_shares",
    "crm_id",
    "dynamic:crm_shared_with_ids",
    "CRM contacts, leads and opportunities that an item was shared with.",
  ),
  texts(
    "content_gallery_share_channels",
    "channel",
    "dynamic:gallery_share_settings",
    "Channels that an item can be shared to from the gallery, one row each.",
  ),
  texts(
    "content_file_extensions",
    "extension",
    "dynamic:content_file_format.extensions",
    "File extensions that an item's content file may have, one row each.",
  ),
  list({
    name: "content_favorites",
    comment: "Users who have an item as a favorite, and since when.",
    columns: [
      text("user_id", "dynamic:favorited_by_users", "User; users.user_id."),
      timestamp("favorite_date", "dynamic:favorite_dates", "When the user made the item a favorite."),
    ],
    references: [reference("user_id", "users")],
  }),
  itemTable({
    name: "content_collections",
    comment: "Gallery collections that an item is in.",
    key: ["collection_id"],
    columns: [
      text(
        "collection_id",
        "dynamic:collection_uids dynamic:added_to_collection_dates dynamic:added_to_collection_dates[].* " +
          "dynamic:added_to_collection_date dynamic:pinned_collection_rank",
        "ID of the collection.",
        REQUIRED,
      ),
      required.integer("ordinal", "Position in the item's list of collections, from 0."),
      timestamp(
        "added_date",
        "dynamic:added_to_collection_dates[].* dynamic:added_to_collection_date",
        "When the item was added to the collection.",
      ),
      integer(
        "pinned_rank",
        "dynamic:pinned_collection_rank",
        "Position among the pinned items of the collection.",
      ),
    ],
  }),
  itemTable({
    name: "content_acl_principals",
    comment: "Groups and users who may view an item, one row each.",
    key: ["principal_kind", "principal_id"],
    columns: [
      required.text("principal_kind", "Who it is: `group` or `user`."),
      text(
        "principal_id",
        "dynamic:acl dynamic:acl.group_ids dynamic:acl.user_ids",
        "ID of the group or user.",
        REQUIRED,
      ),
      ordinal,
    ],
  }),
] as const satisfies readonly Table[];
