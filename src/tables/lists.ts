import { contentId } from "./content.ts";
import {
  boolean,
  type Column,
  defineTable,
  EXTRA,
  integer,
  origins,
  type Reference,
  type Rows,
  reference,
  type Table,
  text,
  timestamp,
} from "./declare.ts";

const ITEM = reference("content_id", "content");

interface ListDeclaration<Name extends string> {
  readonly name: Name;
  readonly comment: string;
  /** Where the list is, the first that is there being read; absent: a program of the transform. */
  readonly at?: string;
  readonly columns: readonly Column[];
  readonly references?: readonly Reference[];
}

/** A list of an item, keyed by its position in the source: lists keep their order and their duplicates. */
function list<const Name extends string>(declaration: ListDeclaration<Name>): Table<Name> {
  const { at } = declaration;
  const rows: Rows = at === undefined ? { kind: "program" } : { kind: "list", at: origins(at) };
  return defineTable({
    name: declaration.name,
    comment: declaration.comment,
    stage: "item",
    key: ["content_id", "ordinal"],
    rows,
    references: [ITEM, ...(declaration.references ?? [])],
    columns: [
      contentId,
      integer("ordinal", "", "Position in the source list, from 0.", { required: true }),
      ...declaration.columns,
      EXTRA,
    ],
  });
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

export const contentTags = texts("content_tags", "tag", "full:tags dynamic:tags", "Tags of an item.");

export const contentCategories = texts(
  "content_categories",
  "category",
  "basic:categories dynamic:categories dynamic:categories_array",
  "Categories of an item.",
);

export const contentCampaigns = texts(
  "content_campaigns",
  "campaign_id",
  "basic:campaign_ids dynamic:campaigns",
  "Campaigns (initiatives) that an item belongs to.",
  reference("campaign_id", "campaigns"),
);

export const contentPersonas = texts(
  "content_personas",
  "persona_id",
  "full:persona_ids dynamic:personas",
  "Personas selected for an item.",
);

export const contentStages = texts(
  "content_stages",
  "stage_id",
  "full:stage_ids dynamic:stages",
  "Buying stages selected for an item.",
);

export const contentAttachments = list({
  name: "content_attachments",
  comment: "Attachments of an item.",
  at: "full:attachments dynamic:attachments",
  columns: [
    text(
      "attachment_id",
      "full:attachments full:attachments[].id dynamic:attachments dynamic:attachments[].id",
      "Attachment ID.",
    ),
    text("url", "full:attachments[].url dynamic:attachments[].url", "URL."),
    text("filename", "full:attachments[].filename dynamic:attachments[].filename", "File name."),
    timestamp("updated_at", "full:attachments[].updated_at dynamic:attachments[].updated_at", "Last update."),
    text(
      "image_caption",
      "full:attachments[].image_attributes.caption dynamic:attachments[].image_attributes.caption",
      "Caption of an image.",
    ),
    text(
      "image_alt",
      "full:attachments[].image_attributes.alt dynamic:attachments[].image_attributes.alt",
      "Text alternative of an image.",
    ),
    text(
      "image_title",
      "full:attachments[].image_attributes.title dynamic:attachments[].image_attributes.title",
      "Title of an image.",
    ),
  ],
});

export const contentPublishedUrls = list({
  name: "content_published_urls",
  comment: "Where an item is published.",
  at: "dynamic:published_urls",
  columns: [
    text(
      "external_site_name",
      "dynamic:published_urls dynamic:published_urls[].external_site_name",
      "Name of the site.",
    ),
    text("published_url", "dynamic:published_urls[].published_url", "URL there; NULL where none is known."),
  ],
});

export const contentTaskDeadlines = list({
  name: "content_task_deadlines",
  comment: "Deadlines of an item's tasks.",
  at: "dynamic:task_deadlines",
  columns: [
    text("description", "dynamic:task_deadlines dynamic:task_deadlines[].description", "Task."),
    timestamp("deadline", "dynamic:task_deadlines[].deadline", "Deadline."),
    boolean(
      "smart_deadline",
      "dynamic:task_deadlines[].smart_deadline",
      "Whether it moves with other tasks.",
    ),
  ],
});

export const contentNextTaskOwners = texts(
  "content_next_task_owners",
  "user_id",
  "dynamic:next_task.owner_ids dynamic:next_task_owner",
  "Owners of an item's next task.",
  reference("user_id", "users"),
);

export const contentAvailableActions = texts(
  "content_available_actions",
  "action",
  "dynamic:available_actions",
  "Modifications that the token's user may make to an item.",
);

export const contentCurrentEditors = list({
  name: "content_current_editors",
  comment: "Users who were editing an item when it was read.",
  at: "dynamic:currently_editing",
  references: [reference("user_id", "users")],
  columns: [
    text("user_id", "dynamic:currently_editing dynamic:currently_editing[].id", "User; users.user_id."),
    text("name", "dynamic:currently_editing[].name", "Name of the user.", { personal: true }),
    text("avatar_url", "dynamic:currently_editing[].avatar_url", "Picture of the user.", { personal: true }),
    timestamp("last_seen", "dynamic:currently_editing[].last_seen", "When the user was last seen there.", {
      format: "epoch_seconds",
    }),
  ],
});

export const contentCrmShares = texts(
  "content_crm_shares",
  "crm_id",
  "dynamic:crm_shared_with_ids",
  "CRM contacts, leads and opportunities that an item was shared with.",
);

export const contentGalleryShareChannels = texts(
  "content_gallery_share_channels",
  "channel",
  "dynamic:gallery_share_settings",
  "Channels that an item can be shared to from the gallery.",
);

export const contentFileExtensions = texts(
  "content_file_extensions",
  "extension",
  "dynamic:content_file_format.extensions",
  "File extensions that an item's content file may have.",
);

export const contentFavorites = list({
  name: "content_favorites",
  comment: "Users who favor an item, and since when: two lists side by side.",
  columns: [
    text("user_id", "dynamic:favorited_by_users", "User; users.user_id."),
    timestamp("favorite_date", "dynamic:favorite_dates", "When it was favored."),
  ],
  references: [reference("user_id", "users")],
});

export const contentCollections = defineTable({
  name: "content_collections",
  comment: "Gallery collections that an item is in: four wire fields joined.",
  stage: "item",
  key: ["content_id", "collection_id"],
  rows: { kind: "program" },
  references: [ITEM],
  columns: [
    contentId,
    text(
      "collection_id",
      "dynamic:collection_uids dynamic:added_to_collection_dates dynamic:added_to_collection_dates[].collection_id " +
        "dynamic:added_to_collection_date dynamic:pinned_collection_rank",
      "Collection ID.",
      { required: true },
    ),
    integer("ordinal", "", "Position in the order of first mention, from 0.", { required: true }),
    timestamp(
      "added_date",
      "dynamic:added_to_collection_dates[].added_date dynamic:added_to_collection_date",
      "When the item was added.",
    ),
    integer("pinned_rank", "dynamic:pinned_collection_rank", "Position among the pinned items."),
    EXTRA,
  ],
});

export const contentAclPrincipals = defineTable({
  name: "content_acl_principals",
  comment: "Groups and users who may view an item.",
  stage: "item",
  key: ["content_id", "principal_kind", "principal_id"],
  rows: { kind: "program" },
  references: [ITEM],
  columns: [
    contentId,
    text("principal_kind", "", "`group` or `user`.", { required: true }),
    text("principal_id", "dynamic:acl dynamic:acl.group_ids dynamic:acl.user_ids", "Group or user ID.", {
      required: true,
    }),
    integer("ordinal", "", "Position in the source list, from 0.", { required: true }),
    EXTRA,
  ],
});
